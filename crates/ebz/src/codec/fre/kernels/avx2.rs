//! Gather and transposition with AVX2.

use super::{TILE_VALUES, Tile};
use crate::codec::fre::lanes::LANES;
use std::arch::x86_64::*;

/// Gathers patterns at bit offsets, rounded down to bytes.
///
/// # Safety
/// Every offset lies within `bytes` and is followed by 4 bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn gather_u32(bytes: &[u8], bits: &[u32; LANES], words: &mut [u32; LANES]) {
    let places = bits.as_chunks::<8>().0.iter();
    for (bits, words) in places.zip(words.as_chunks_mut::<8>().0) {
        // SAFETY: the references are to 32 bytes; the caller guarantees the offsets.
        unsafe {
            let at = _mm256_srli_epi32::<3>(_mm256_loadu_si256(bits.as_ptr().cast()));
            let loaded = _mm256_i32gather_epi32::<1>(bytes.as_ptr().cast(), at);
            _mm256_storeu_si256(words.as_mut_ptr().cast(), loaded);
        }
    }
}

/// Gathers patterns at bit offsets, rounded down to bytes.
///
/// # Safety
/// Every offset lies within `bytes` and is followed by 8 bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn gather_u64(bytes: &[u8], bits: &[u64; LANES], words: &mut [u64; LANES]) {
    let places = bits.as_chunks::<4>().0.iter();
    for (bits, words) in places.zip(words.as_chunks_mut::<4>().0) {
        // SAFETY: the references are to 32 bytes; the caller guarantees the offsets.
        unsafe {
            let at = _mm256_srli_epi64::<3>(_mm256_loadu_si256(bits.as_ptr().cast()));
            let loaded = _mm256_i64gather_epi64::<1>(bytes.as_ptr().cast(), at);
            _mm256_storeu_si256(words.as_mut_ptr().cast(), loaded);
        }
    }
}

/// Writes a tile to the lanes of `out` that begin at `starts`, from value `at` of each.
///
/// # Safety
/// `out` has 16 values after each start plus `at`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn scatter_u32(
    tile: &Tile<u32>,
    out: &mut [u32],
    starts: &[usize; LANES],
    at: usize,
) {
    for first in (0..LANES).step_by(8) {
        for step in (0..TILE_VALUES).step_by(8) {
            // SAFETY: reads 8 patterns of a step and writes 8 of the 16 values of a lane.
            unsafe {
                let row =
                    |i: usize| _mm256_loadu_ps(tile.0[step + i].as_ptr().add(first).cast::<f32>());
                let rows: [__m256; 8] = std::array::from_fn(row);
                let columns = transpose(rows);
                for (lane, column) in columns.into_iter().enumerate() {
                    let place = out.as_mut_ptr().add(starts[first + lane] + at + step);
                    _mm256_storeu_ps(place.cast(), column);
                }
            }
        }
    }
}

/// Writes a tile to the lanes of `out` that begin at `starts`, from value `at` of each.
///
/// # Safety
/// `out` has 16 values after each start plus `at`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn scatter_u64(
    tile: &Tile<u64>,
    out: &mut [u64],
    starts: &[usize; LANES],
    at: usize,
) {
    for first in (0..LANES).step_by(4) {
        for step in (0..TILE_VALUES).step_by(4) {
            // SAFETY: reads 4 patterns of a step and writes 4 of the 16 values of a lane.
            unsafe {
                let row =
                    |i: usize| _mm256_loadu_pd(tile.0[step + i].as_ptr().add(first).cast::<f64>());
                let [a, b, c, d]: [__m256d; 4] = std::array::from_fn(row);
                let [ab, cd] = [_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d)];
                let [ba, dc] = [_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d)];
                let columns = [
                    _mm256_permute2f128_pd::<0x20>(ab, cd),
                    _mm256_permute2f128_pd::<0x20>(ba, dc),
                    _mm256_permute2f128_pd::<0x31>(ab, cd),
                    _mm256_permute2f128_pd::<0x31>(ba, dc),
                ];
                for (lane, column) in columns.into_iter().enumerate() {
                    let place = out.as_mut_ptr().add(starts[first + lane] + at + step);
                    _mm256_storeu_pd(place.cast(), column);
                }
            }
        }
    }
}

/// Transposes an 8 × 8 matrix.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose(rows: [__m256; 8]) -> [__m256; 8] {
    let pairs: [__m256; 8] = std::array::from_fn(|i| {
        let (even, odd) = (rows[i / 2 * 2], rows[i / 2 * 2 + 1]);
        if i % 2 == 0 {
            _mm256_unpacklo_ps(even, odd)
        } else {
            _mm256_unpackhi_ps(even, odd)
        }
    });
    // Columns 0 to 3 of four rows in the lower halves, 4 to 7 in the upper ones.
    let fours: [__m256; 8] = std::array::from_fn(|i| {
        let (upper, lower) = (i / 4 * 4 + i % 4 / 2, i / 4 * 4 + i % 4 / 2 + 2);
        if i % 2 == 0 {
            _mm256_shuffle_ps::<0x44>(pairs[upper], pairs[lower])
        } else {
            _mm256_shuffle_ps::<0xee>(pairs[upper], pairs[lower])
        }
    });
    std::array::from_fn(|i| {
        let (upper, lower) = (fours[i % 4], fours[i % 4 + 4]);
        if i < 4 {
            _mm256_permute2f128_ps::<0x20>(upper, lower)
        } else {
            _mm256_permute2f128_ps::<0x31>(upper, lower)
        }
    })
}
