//! Gather and transposition in portable Rust.

use super::{TILE_VALUES, Tile};
use crate::codec::fre::grid::Pattern;
use crate::codec::fre::lanes::LANES;

/// Gathers patterns at bit offsets, rounded down to bytes; skips those outside of `bytes`.
#[inline(always)]
pub(super) fn gather<P: Pattern>(bytes: &[u8], bits: &[P; LANES], words: &mut [P; LANES]) {
    for (word, &bit) in words.iter_mut().zip(bits) {
        let at = (bit.into() / 8) as usize;
        if let Some(place) = bytes.get(at..at + size_of::<P>()) {
            *word = bytemuck::pod_read_unaligned(place);
        }
    }
}

/// Writes a tile to the lanes of `out` that begin at `starts`, from value `at` of each.
#[inline(always)]
pub(super) fn scatter<P: Pattern>(
    tile: &Tile<P>,
    out: &mut [P],
    starts: &[usize; LANES],
    at: usize,
) {
    for (lane, start) in starts.iter().enumerate() {
        let values = &mut out[start + at..][..TILE_VALUES];
        for (value, step) in values.iter_mut().zip(&tile.0) {
            *value = step[lane];
        }
    }
}
