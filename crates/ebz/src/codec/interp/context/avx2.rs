//! Contexts, one segment per vector.
//!
//! The compiler vectorizes neither the saturating sums nor the table lookup: plain loops take five
//! times as long.

use super::{Activity, Around, BIN_THRESHOLDS, BINS, CONTEXTS, Contexts, low_bit_thresholds};
use crate::stage::rans::LANES;
use std::arch::x86_64::*;

/// Bins of sums below 16.
const LOW: [u8; 16] = bins(1);
/// Bins of sums by their high four bits; 0 for sums below 16.
const HIGH: [u8; 16] = bins(16);

const fn bins(scale: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        let mut bin = 0;
        while bin < BIN_THRESHOLDS.len() && i * scale >= BIN_THRESHOLDS[bin] as usize {
            bin += 1;
        }
        table[i] = bin as u8;
        i += 1;
    }
    table
}

// The high table is correct for sums of 16 and more only if their thresholds are multiples of 16.
const _: () = {
    let mut bin = 0;
    while bin < BIN_THRESHOLDS.len() {
        assert!(BIN_THRESHOLDS[bin] <= 16 || BIN_THRESHOLDS[bin].is_multiple_of(16));
        bin += 1;
    }
};

#[target_feature(enable = "avx2")]
fn table(entries: &[u8; 16]) -> __m256i {
    // SAFETY: the reference is to 16 readable bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(entries.as_ptr().cast()) })
}

/// Loads the magnitudes of a segment.
///
/// # Safety
/// `from` must point to 32 readable bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const u8) -> __m256i {
    // SAFETY: guaranteed by the caller.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(segment: &mut [u8; LANES], value: __m256i) {
    // SAFETY: the reference is to 32 writable bytes.
    unsafe { _mm256_storeu_si256(segment.as_mut_ptr().cast(), value) }
}

/// See [`super::classify`]; the number of sides is a constant.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn classify<const SIDES: usize>(
    magnitudes: &[u8],
    around: &Around,
    count: usize,
    out: &mut Contexts,
) {
    let lanes = out.activity.len() * LANES;
    let mut last = around.up.max(around.back).max(around.beyond);
    for &side in &around.sides[..SIDES] {
        last = last.max(side);
    }
    // Rows are read from one lane before them to one after them.
    assert!(around.up > 0 && last < magnitudes.len() && lanes < magnitudes.len() - last);
    let row = |start: usize| magnitudes.as_ptr().wrapping_add(start);
    let [up, back, beyond] = [around.up, around.back, around.beyond].map(row);
    let sides = around.sides.map(row);
    let base = _mm256_set1_epi8((out.kind * BINS) as i8);
    let large = _mm256_set1_epi8(low_bit_thresholds(out.kind)[0] as i8);
    let (low, high) = (table(&LOW), table(&HIGH));
    let sums = out.sums.as_chunks_mut::<LANES>().0.iter_mut();
    let indices = out.indices.as_chunks_mut::<LANES>().0.iter_mut();
    let segments = out.activity.iter_mut().zip(sums.zip(indices));
    for (segment, (activity, (sums, indices))) in segments.enumerate() {
        let at = segment * LANES;
        // SAFETY: by the assertion, all rows have `lanes` readable bytes and one more at both ends.
        let (mut sum, mut near) = unsafe {
            let mut sum = _mm256_adds_epu8(load(up.add(at)), load(back.add(at)));
            sum = _mm256_adds_epu8(sum, sum);
            let beside = _mm256_adds_epu8(load(up.add(at).sub(1)), load(up.add(at + 1)));
            sum = _mm256_adds_epu8(sum, beside);
            let behind = _mm256_adds_epu8(load(back.add(at + 1)), load(beyond.add(at)));
            sum = _mm256_adds_epu8(sum, behind);
            let mut near = _mm256_setzero_si256();
            for side in &sides[..SIDES] {
                near = _mm256_adds_epu8(near, load(side.add(at)));
            }
            (sum, near)
        };
        if around.double {
            near = _mm256_adds_epu8(near, near);
        }
        sum = _mm256_adds_epu8(sum, near);
        let fifteen = _mm256_set1_epi8(15);
        let below = _mm256_shuffle_epi8(low, _mm256_min_epu8(sum, fifteen));
        let above = _mm256_and_si256(_mm256_srli_epi16::<4>(sum), fifteen);
        let bin = _mm256_max_epu8(below, _mm256_shuffle_epi8(high, above));
        let mut index = _mm256_add_epi8(base, bin);
        if at + LANES > count {
            let lane = _mm256_setr_epi8(
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23, 24, 25, 26, 27, 28, 29, 30, 31,
            );
            let idle =
                _mm256_cmpgt_epi8(lane, _mm256_set1_epi8(count.saturating_sub(at) as i8 - 1));
            sum = _mm256_andnot_si256(idle, sum);
            index = _mm256_blendv_epi8(index, _mm256_set1_epi8(CONTEXTS as i8), idle);
        }
        let some_large = _mm256_cmpeq_epi8(_mm256_max_epu8(sum, large), sum);
        *activity = if _mm256_testz_si256(sum, sum) == 1 {
            Activity::Quiet
        } else if _mm256_testz_si256(some_large, some_large) == 1 {
            Activity::Small
        } else {
            Activity::Large
        };
        store(sums, sum);
        store(indices, index);
    }
}
