//! Bit shuffle and Zstandard, by Blosc2.

use crate::Goal;
use blosc2::{CLevel, Codec, Filter};

/// Blosc2 with bit shuffle and Zstandard at level 5, lossless.
pub struct Bitshuffle;

peer!(Bitshuffle, "bitshuffle + zstd, lossless", axes: 1..=3);

fn compress<T: 'static>(values: &[T], _: &[usize], _: Goal) -> Vec<u8> {
    let (level, filter) = (Some(CLevel::Five), Some(Filter::BitShuffle));
    blosc2::compress(values, None, level, filter, Some(Codec::ZSTD)).expect("Blosc2 compresses")
}

fn decompress<T: Copy>(bytes: &[u8], _: &[usize], _: Goal, out: &mut [T]) {
    let values = blosc2::decompress(bytes).expect("Blosc2 decompresses");
    out.copy_from_slice(&values);
}
