//! Other compressors, measured on the same buffers with the same bounds.

use super::{Buffers, Row, least};
use crate::peers::{self, Coding};
use anyhow::Result;
use ebz::{Bound, Element, Tolerance};
use ebz_peers::Peer;

/// Rows of every peer that supports this bound, resolved to an absolute one.
pub fn rows<T: Element>(
    buffers: &mut Buffers<T>,
    bound: Bound,
    resolved: Bound,
) -> Result<Vec<Row>> {
    let Bound::Abs(e) = resolved else {
        return Ok(Vec::new());
    };
    let peers = peers::all(&buffers.values, buffers.shape.len());
    let rows = peers
        .iter()
        .map(|peer| buffers.measure_peer(peer.as_ref(), bound, e));
    rows.collect()
}

impl<T: Element> Buffers<T> {
    fn measure_peer(&mut self, peer: &dyn Peer, bound: Bound, e: f64) -> Result<Row> {
        let coding = Coding::new(peer, &self.shape, e);
        let (values, coded) = (&self.values[..], &mut self.coded);
        let compress = least(self.repeats, true, || {
            *coded = coding.compress(values);
            Ok(())
        })?;
        let decoded = &mut self.decoded[..];
        let decompress = least(self.repeats, true, || {
            coding.decompress(coded, decoded);
            Ok(())
        })?;
        let metrics = self.compare(Tolerance::Abs(e))?;
        Ok(Row {
            compressor: peer.name().into(),
            bound: bound.to_string(),
            ratio: size_of_val(&self.values[..]) as f64 / self.coded.len() as f64,
            compress,
            decompress,
            error_over_bound: Some(metrics.max_error / e),
            psnr: metrics.psnr,
            overall: Vec::new(),
        })
    }
}
