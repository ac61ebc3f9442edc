//! Decoding of a chunk.

use super::cursor::Cursor;
use super::grid::Pattern;
use super::kernels::Tiles;
use super::kernels::dispatch::Kernels;
use super::lanes::{self, Layout};
use super::order::Paper;
use crate::bits::fills_flit;
use crate::codec::Context;
use crate::error::{Error, Result};
use crate::simd::Level;

/// Decodes a chunk into `out`.
pub(super) fn decode<P: Pattern>(bytes: &[u8], context: &Context, out: &mut [P]) -> Result<()>
where
    Level: Kernels<P>,
{
    let layout = Layout::read_from(bytes, out.len(), P::MANTISSA)?;
    let ends = layout.stream_starts()?;
    let starts = lanes::starts(out.len(), layout.one_lane);
    let cursor = |start: &usize| Cursor {
        at: start * 8,
        previous: P::default(),
    };
    let mut cursors: Vec<Cursor<P>> = ends[..layout.sizes.len()].iter().map(cursor).collect();

    // 1. All lanes in parallel, up to the length of the shortest.
    let mut done = 0;
    if layout.order.is_none()
        && let Some(mut tiles) = Tiles::new(&layout, &cursors, &starts, context.streaming, out)
    {
        context.simd().decode(&mut tiles, context.fused);
        done = tiles.finish(&mut cursors);
    }

    // 2. The rest of each lane.
    for (lane, cursor) in cursors.iter_mut().enumerate() {
        let (streams, kept) = (layout.streams, layout.kept);
        let out = &mut out[starts[lane] + done..starts[lane + 1]];
        match layout.order {
            None => cursor.read(streams, kept, Paper, out),
            Some(order) => cursor.read(streams, kept, order, out),
        }
        let rest = layout.streams.get(cursor.at.div_ceil(8)..ends[lane + 1]);
        let ended = |rest: &[u8]| rest.is_empty() || layout.one_lane && fills_flit(rest);
        if !rest.is_some_and(ended) {
            return Err(Error::corrupt(
                "the words of a fre lane do not match its length",
            ));
        }
    }
    Ok(())
}
