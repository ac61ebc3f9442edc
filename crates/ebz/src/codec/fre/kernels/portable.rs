//! Loads from many places and transposition, in plain Rust.

use super::tile::{DEPTH, Tile};
use crate::codec::fre::grid::Pattern;
use crate::codec::fre::lanes::LANES;

/// Loads the patterns at 32 places, given in bits; nothing from outside of `bytes`.
#[inline(always)]
pub(super) fn gather<P: Pattern>(bytes: &[u8], bits: &[P; LANES], words: &mut [P; LANES]) {
    for (word, &bit) in words.iter_mut().zip(bits) {
        let at = (bit.into() / 8) as usize;
        if let Some(place) = bytes.get(at..at + size_of::<P>()) {
            *word = bytemuck::pod_read_unaligned(place);
        }
    }
}

/// Writes a tile to the lanes of `out`, which are `length` apart, from `at` on.
#[inline(always)]
pub(super) fn scatter<P: Pattern>(tile: &Tile<P>, out: &mut [P], length: usize, at: usize) {
    for (lane, values) in out.chunks_mut(length).enumerate().take(LANES) {
        for (value, step) in values[at..at + DEPTH].iter_mut().zip(&tile.0) {
            *value = step[lane];
        }
    }
}
