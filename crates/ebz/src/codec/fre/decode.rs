//! Bytes to patterns.

use super::grid::Pattern;
use super::kernels::tile::{self, Memory};
use super::lanes::{self, Layout};
use super::word::{self, LONGEST};
use crate::codec::Context;
use crate::error::{Error, Result};
use crate::simd::Level;

/// A lane while it is decoded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor<P> {
    /// Its next bit, from the start of all lanes.
    pub at: usize,
    /// The last value.
    pub previous: P,
}

impl<P: Pattern> Cursor<P> {
    /// The next value. Behind the end of `streams` all bits are zero.
    #[inline(always)]
    pub fn next(&mut self, streams: &[u8], kept: u32) -> P {
        let rest = streams.get(self.at / 8..).unwrap_or_default();
        let window = match rest.first_chunk() {
            Some(bytes) => u128::from_be_bytes(*bytes),
            None => {
                let mut bytes = [0; 16];
                bytes[..rest.len()].copy_from_slice(rest);
                u128::from_be_bytes(bytes)
            }
        };
        let (pattern, length) = word::decode(window << (self.at % 8), self.previous, kept);
        self.at += length as usize;
        self.previous = pattern;
        pattern
    }
}

/// A window holds any word behind up to 7 other bits.
const _: () = assert!(LONGEST + 7 <= 128);

/// Fills `out` from a coded chunk.
pub(super) fn decode<P: Pattern>(bytes: &[u8], context: &Context, out: &mut [P]) -> Result<()>
where
    Level: Memory<P>,
{
    let layout = Layout::read_from(bytes, out.len(), P::MANTISSA)?;
    let ends = layout.stream_starts()?;
    let starts = lanes::starts(out.len());
    let cursor = |start: &usize| Cursor {
        at: start * 8,
        previous: P::default(),
    };
    let mut cursors: Vec<Cursor<P>> = ends[..layout.sizes.len()].iter().map(cursor).collect();

    // 1. All lanes together, as far as all of them go.
    let done = tile::decode(context.simd(), &layout, &mut cursors, &starts, out);

    // 2. What is left of each.
    for (lane, cursor) in cursors.iter_mut().enumerate() {
        for value in &mut out[starts[lane] + done..starts[lane + 1]] {
            *value = cursor.next(layout.streams, layout.kept);
        }
        if cursor.at.div_ceil(8) != ends[lane + 1] {
            return Err(Error::corrupt("words do not end where their lane does"));
        }
    }
    Ok(())
}
