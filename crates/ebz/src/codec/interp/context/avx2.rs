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

/// The magnitudes around a row; the number of sides is a constant.
pub(in crate::codec::interp) struct Neighbours<const SIDES: usize> {
    up: *const u8,
    back: *const u8,
    beyond: *const u8,
    sides: [*const u8; 6],
    double: bool,
}

impl<const SIDES: usize> Neighbours<SIDES> {
    /// Checks that `lanes` values of each row, and one more at both ends, are among the `size` ones at
    /// `magnitudes`.
    #[inline(always)]
    pub(in crate::codec::interp) fn new(
        (magnitudes, size): (*const u8, usize),
        around: &Around,
        lanes: usize,
    ) -> Self {
        let mut last = around.up.max(around.back).max(around.beyond);
        for &side in &around.sides[..SIDES] {
            last = last.max(side);
        }
        assert!(around.up > 0 && last < size && lanes < size - last);
        let row = |start: usize| magnitudes.wrapping_add(start);
        Self {
            up: row(around.up),
            back: row(around.back),
            beyond: row(around.beyond),
            sides: around.sides.map(row),
            double: around.double,
        }
    }

    /// The sums of the segment at `at`.
    ///
    /// # Safety
    /// The magnitudes must be readable, and `at + LANES` at most the number of lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::codec::interp) unsafe fn sums(&self, at: usize) -> __m256i {
        // SAFETY: guaranteed by the caller, and checked by `new`.
        let (sum, mut near) = unsafe {
            let (up, back) = (self.up.add(at), self.back.add(at));
            let mut sum = _mm256_adds_epu8(load(up), load(back));
            sum = _mm256_adds_epu8(sum, sum);
            let beside = _mm256_adds_epu8(load(up.sub(1)), load(up.add(1)));
            sum = _mm256_adds_epu8(sum, beside);
            let behind = _mm256_adds_epu8(load(back.add(1)), load(self.beyond.add(at)));
            sum = _mm256_adds_epu8(sum, behind);
            let mut near = _mm256_setzero_si256();
            for side in &self.sides[..SIDES] {
                near = _mm256_adds_epu8(near, load(side.add(at)));
            }
            (sum, near)
        };
        if self.double {
            near = _mm256_adds_epu8(near, near);
        }
        _mm256_adds_epu8(sum, near)
    }
}

/// Sums and context indices of a segment in which the lanes from `count` on are idle; `base` is the
/// first context of its kind.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::codec::interp) fn contexts(
    sums: __m256i,
    base: u8,
    count: usize,
) -> (__m256i, __m256i) {
    let fifteen = _mm256_set1_epi8(15);
    let below = _mm256_shuffle_epi8(table(&LOW), _mm256_min_epu8(sums, fifteen));
    let above = _mm256_and_si256(_mm256_srli_epi16::<4>(sums), fifteen);
    let bin = _mm256_max_epu8(below, _mm256_shuffle_epi8(table(&HIGH), above));
    let indices = _mm256_add_epi8(_mm256_set1_epi8(base as i8), bin);
    if count >= LANES {
        return (sums, indices);
    }
    let lane = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31,
    );
    let idle = _mm256_cmpgt_epi8(lane, _mm256_set1_epi8(count as i8 - 1));
    (
        _mm256_andnot_si256(idle, sums),
        _mm256_blendv_epi8(indices, _mm256_set1_epi8(CONTEXTS as i8), idle),
    )
}

/// Whether a segment has sums of at least `large`, or none but zeros.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::codec::interp) fn activity(sums: __m256i, large: u8) -> Activity {
    let large = _mm256_set1_epi8(large as i8);
    let some_large = _mm256_cmpeq_epi8(_mm256_max_epu8(sums, large), sums);
    if _mm256_testz_si256(sums, sums) == 1 {
        Activity::Quiet
    } else if _mm256_testz_si256(some_large, some_large) == 1 {
        Activity::Small
    } else {
        Activity::Large
    }
}

/// See [`super::classify`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn classify<const SIDES: usize>(
    magnitudes: &[u8],
    around: &Around,
    count: usize,
    out: &mut Contexts,
) {
    let lanes = out.activity.len() * LANES;
    let row = (magnitudes.as_ptr(), magnitudes.len());
    let neighbours = Neighbours::<SIDES>::new(row, around, lanes);
    let base = (out.kind * BINS) as u8;
    let large = low_bit_thresholds(out.kind)[0];
    let sums = out.sums.as_chunks_mut::<LANES>().0.iter_mut();
    let indices = out.indices.as_chunks_mut::<LANES>().0.iter_mut();
    let segments = out.activity.iter_mut().zip(sums.zip(indices));
    for (segment, (out, (sums, indices))) in segments.enumerate() {
        let at = segment * LANES;
        // SAFETY: the magnitudes are a slice, and at + LANES ≤ lanes.
        let sum = unsafe { neighbours.sums(at) };
        let (sum, index) = contexts(sum, base, count.saturating_sub(at));
        *out = activity(sum, large);
        store(sums, sum);
        store(indices, index);
    }
}
