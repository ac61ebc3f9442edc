//! Other compressors, measured on the same buffers with the same bounds.

use super::{Buffers, Row, least};
use anyhow::Result;
use ebz::{Bound, Element, ElementType, Tolerance};
use ebz_peers::{Goal, Peer};

/// Rows of every peer that supports this bound, resolved to an absolute one.
pub fn rows<T: Element>(
    buffers: &mut Buffers<T>,
    bound: Bound,
    resolved: Bound,
) -> Result<Vec<Row>> {
    let Bound::Abs(e) = resolved else {
        return Ok(Vec::new());
    };
    if T::SIZE < 4 {
        // No peer supports 16-bit values.
        return Ok(Vec::new());
    }
    let peers = ebz_peers::all();
    let rows = peers
        .iter()
        .map(|peer| buffers.measure_peer(peer.as_ref(), bound, e));
    rows.collect()
}

impl<T: Element> Buffers<T> {
    fn measure_peer(&mut self, peer: &dyn Peer, bound: Bound, e: f64) -> Result<Row> {
        // Peers support up to three axes: merge the slow ones, as our codecs do.
        let (slow, fast) = self.shape.split_at(self.shape.len().saturating_sub(2));
        let mut shape: Vec<usize> = Vec::from(fast);
        if !slow.is_empty() {
            shape.insert(0, slow.iter().product());
        }
        let goal = Goal::Abs(e);
        let (values, coded) = (&self.values[..], &mut self.coded);
        let compress = least(self.repeats, true, || {
            *coded = match T::TYPE {
                ElementType::F64 => peer.compress_f64(bytemuck::cast_slice(values), &shape, goal),
                _ => peer.compress_f32(bytemuck::cast_slice(values), &shape, goal),
            };
            Ok(())
        })?;
        let decoded = &mut self.decoded[..];
        let decompress = least(self.repeats, true, || {
            match T::TYPE {
                ElementType::F64 => {
                    let out = bytemuck::cast_slice_mut(decoded);
                    peer.decompress_f64(coded, &shape, goal, out);
                }
                _ => {
                    let out = bytemuck::cast_slice_mut(decoded);
                    peer.decompress_f32(coded, &shape, goal, out);
                }
            }
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
