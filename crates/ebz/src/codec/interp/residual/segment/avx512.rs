//! One segment per vector, lane sets as masks.

use super::Thresholds;
use crate::bits::{BitReader, BitWriter};
use crate::stage::rans::LANES;
use bytemuck::Pod;
use std::arch::x86_64::*;

/// Loads a segment of 16-bit numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(in crate::codec::interp::residual) fn load<W: Pod>(segment: &[W; LANES]) -> __m512i {
    const { assert!(size_of::<W>() == 2) };
    // SAFETY: the reference is to 64 readable bytes.
    unsafe { _mm512_loadu_si512(segment.as_ptr().cast()) }
}

/// Stores a segment of 16-bit numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(in crate::codec::interp::residual) fn store<W: Pod>(segment: &mut [W; LANES], value: __m512i) {
    const { assert!(size_of::<W>() == 2) };
    // SAFETY: the reference is to 64 writable bytes.
    unsafe { _mm512_storeu_si512(segment.as_mut_ptr().cast(), value) }
}

/// For each low bit, the lanes that store it; the number w of low bits of each lane; and 2ʷ / 2.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl")]
fn lanes_with_bits(sums: __m256i, thresholds: &Thresholds) -> ([u32; 6], __m512i, __m512i) {
    let mut masks = [0; 6];
    let mut widths = _mm256_setzero_si256();
    let one = _mm256_set1_epi8(1);
    for (mask, &threshold) in masks.iter_mut().zip(thresholds) {
        *mask = _mm256_cmpge_epu8_mask(sums, _mm256_set1_epi8(threshold as i8));
        widths = _mm256_mask_add_epi8(widths, *mask, widths, one);
    }
    let widths = _mm512_cvtepu8_epi16(widths);
    let powers = _mm512_sllv_epi16(_mm512_set1_epi16(1), widths);
    (masks, widths, _mm512_srli_epi16::<1>(powers))
}

/// See [`super::split`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(super) fn split(
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    out: &mut BitWriter,
) {
    // SAFETY: the reference is to 32 readable bytes.
    let sums = unsafe { _mm256_loadu_si256(sums.as_ptr().cast()) };
    let quotients = split_off(load(residuals), sums, thresholds, out);
    store(residuals, quotients);
}

/// The same with vectors.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(in crate::codec::interp::residual) fn split_off(
    residuals: __m512i,
    sums: __m256i,
    thresholds: &Thresholds,
    out: &mut BitWriter,
) -> __m512i {
    let (masks, widths, halves) = lanes_with_bits(sums, thresholds);
    let shifted = _mm512_add_epi16(residuals, halves);
    let low = _mm512_cvtepi16_epi8(shifted);
    for (bit, mask) in masks.into_iter().enumerate() {
        if mask == 0 {
            break;
        }
        let number = _mm256_test_epi8_mask(low, _mm256_set1_epi8(1 << bit));
        out.put(_pext_u32(number, mask), mask.count_ones());
    }
    _mm512_srav_epi16(shifted, widths)
}

/// See [`super::merge`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(super) fn merge(
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    bits: &mut BitReader<'_>,
) {
    // SAFETY: the reference is to 32 readable bytes.
    let sums = unsafe { _mm256_loadu_si256(sums.as_ptr().cast()) };
    store(residuals, merged(load(residuals), sums, thresholds, bits));
}

/// The same with vectors.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(in crate::codec::interp::residual) fn merged(
    residuals: __m512i,
    sums: __m256i,
    thresholds: &Thresholds,
    bits: &mut BitReader<'_>,
) -> __m512i {
    let (masks, widths, halves) = lanes_with_bits(sums, thresholds);
    let mut low = _mm256_setzero_si256();
    for (bit, mask) in masks.into_iter().enumerate() {
        if mask == 0 {
            break;
        }
        let number = _pdep_u32(bits.get(mask.count_ones()), mask);
        low = _mm256_mask_add_epi8(low, number, low, _mm256_set1_epi8(1 << bit));
    }
    let quotients = _mm512_sllv_epi16(residuals, widths);
    let remainders = _mm512_sub_epi16(_mm512_cvtepu8_epi16(low), halves);
    _mm512_add_epi16(quotients, remainders)
}

/// See [`super::lanes_above`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(super) fn lanes_above(residuals: &[i16; LANES], most: i16) -> u32 {
    _mm512_cmpgt_epi16_mask(_mm512_abs_epi16(load(residuals)), _mm512_set1_epi16(most))
}
