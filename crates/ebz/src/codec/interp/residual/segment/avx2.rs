//! One segment per vector; bits of lanes are collected with movemask and PEXT.

use super::Thresholds;
use crate::bits::{BitReader, BitWriter};
use crate::stage::rans::LANES;
use std::arch::x86_64::*;

/// 2ʷ / 2 and 2ʷ by width w.
const HALVES: [u8; 16] = [0, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const POWERS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[target_feature(enable = "avx2")]
fn load(lanes: &[u8; LANES]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn load_halves(residuals: &[i16; LANES]) -> [__m256i; 2] {
    // SAFETY: the reference is to 64 readable bytes.
    unsafe {
        let at = residuals.as_ptr().cast::<__m256i>();
        [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))]
    }
}

#[target_feature(enable = "avx2")]
fn store_halves(residuals: &mut [i16; LANES], halves: [__m256i; 2]) {
    // SAFETY: the reference is to 64 writable bytes.
    unsafe {
        let at = residuals.as_mut_ptr().cast::<__m256i>();
        _mm256_storeu_si256(at, halves[0]);
        _mm256_storeu_si256(at.add(1), halves[1]);
    }
}

/// Looks up a table entry per lane; indices are below 16.
#[target_feature(enable = "avx2")]
fn look_up(table: &[u8; 16], indices: __m256i) -> __m256i {
    // SAFETY: the reference is to 16 readable bytes.
    let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), indices)
}

/// Widens bytes to 16 bits, in order.
#[target_feature(enable = "avx2")]
fn widen(bytes: __m256i) -> [__m256i; 2] {
    [
        _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes)),
        _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(bytes)),
    ]
}

/// The low bytes of 16-bit lanes, in order.
#[target_feature(enable = "avx2")]
fn low_bytes(halves: [__m256i; 2]) -> __m256i {
    let byte = _mm256_set1_epi16(0xff);
    let [a, b] = halves.map(|half| _mm256_and_si256(half, byte));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(a, b))
}

/// For each low bit, the lanes that store it; and the number of low bits of each lane.
#[target_feature(enable = "avx2")]
fn lanes_with_bits(sums: &[u8; LANES], thresholds: &Thresholds) -> ([u32; 6], __m256i) {
    let sums = load(sums);
    let mut masks = [0; 6];
    let mut widths = _mm256_setzero_si256();
    for (mask, &threshold) in masks.iter_mut().zip(thresholds) {
        let threshold = _mm256_set1_epi8(threshold as i8);
        let reached = _mm256_cmpeq_epi8(_mm256_max_epu8(sums, threshold), sums);
        *mask = _mm256_movemask_epi8(reached) as u32;
        widths = _mm256_sub_epi8(widths, reached);
    }
    (masks, widths)
}

/// See [`super::split`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn split(
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    out: &mut BitWriter,
) {
    let (masks, widths) = lanes_with_bits(sums, thresholds);
    let wide = widen(widths);
    let [a, b] = load_halves(residuals);
    let [half_a, half_b] = widen(look_up(&HALVES, widths));
    let mut shifted = [_mm256_add_epi16(a, half_a), _mm256_add_epi16(b, half_b)];
    let low = low_bytes(shifted);
    for (bit, mask) in masks.into_iter().enumerate() {
        if mask == 0 {
            break;
        }
        // Move the bit to the top of each byte.
        let up = _mm256_sll_epi16(low, _mm_cvtsi32_si128(7 - bit as i32));
        let number = _mm256_movemask_epi8(up) as u32;
        out.put(_pext_u32(number, mask), mask.count_ones());
        let least = _mm256_set1_epi16(bit as i16);
        for (shifted, &wide) in shifted.iter_mut().zip(&wide) {
            let more = _mm256_cmpgt_epi16(wide, least);
            *shifted = _mm256_blendv_epi8(*shifted, _mm256_srai_epi16::<1>(*shifted), more);
        }
    }
    store_halves(residuals, shifted);
}

/// See [`super::merge`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn merge(
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    bits: &mut BitReader<'_>,
) {
    let (masks, widths) = lanes_with_bits(sums, thresholds);
    // Byte i of a mask's four bytes to the eight lanes of group i, and the bit of each lane.
    let groups = _mm256_setr_epi64x(
        0,
        0x0101_0101_0101_0101,
        0x0202_0202_0202_0202,
        0x0303_0303_0303_0303,
    );
    let bit_of_lane = _mm256_set1_epi64x(0x8040_2010_0804_0201u64 as i64);
    let mut low = _mm256_setzero_si256();
    for (bit, mask) in masks.into_iter().enumerate() {
        if mask == 0 {
            break;
        }
        let number = _pdep_u32(bits.get(mask.count_ones()), mask);
        let spread = _mm256_shuffle_epi8(_mm256_set1_epi32(number as i32), groups);
        let set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit_of_lane), bit_of_lane);
        let value = _mm256_set1_epi8(1 << bit);
        low = _mm256_or_si256(low, _mm256_and_si256(set, value));
    }
    let halves = load_halves(residuals);
    let powers = widen(look_up(&POWERS, widths));
    let half_steps = widen(look_up(&HALVES, widths));
    let low = widen(low);
    store_halves(
        residuals,
        std::array::from_fn(|i| {
            let quotient = _mm256_mullo_epi16(halves[i], powers[i]);
            _mm256_add_epi16(quotient, _mm256_sub_epi16(low[i], half_steps[i]))
        }),
    );
}

/// See [`super::lanes_above`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn lanes_above(residuals: &[i16; LANES], most: i16) -> u32 {
    let most = _mm256_set1_epi16(most);
    let above = |half| _mm256_cmpgt_epi16(_mm256_abs_epi16(half), most);
    let [a, b] = load_halves(residuals);
    let flags = _mm256_packs_epi16(above(a), above(b));
    _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(flags)) as u32
}
