//! Prefix sums with AVX-512.

use super::UNIT;
use crate::simd::Avx512;
use std::arch::x86_64::*;

/// Sums up a unit from `last` on.
#[inline(always)]
pub(super) fn prefix_sum(_: Avx512, last: u16, unit: &[u16; UNIT], sums: &mut [u16; UNIT]) {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { prefix_sum_avx512(last, unit, sums) }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn prefix_sum_avx512(last: u16, unit: &[u16; UNIT], sums: &mut [u16; UNIT]) {
    let mut carry = _mm512_set1_epi16(last.cast_signed());
    // The last element of each 128-bit lane to all elements of the lane.
    let spread = _mm512_set1_epi16(0x0f0e);
    let parts = unit.as_chunks::<32>().0.iter();
    for (part, sums) in parts.zip(sums.as_chunks_mut::<32>().0) {
        // SAFETY: the reference is to 64 bytes.
        let mut sum = unsafe { _mm512_loadu_si512(part.as_ptr().cast()) };
        sum = _mm512_add_epi16(sum, _mm512_bslli_epi128::<2>(sum));
        sum = _mm512_add_epi16(sum, _mm512_bslli_epi128::<4>(sum));
        sum = _mm512_add_epi16(sum, _mm512_bslli_epi128::<8>(sum));
        // Each lane also gets what the lanes below it add up to.
        let totals = _mm512_shuffle_epi8(sum, spread);
        let one = _mm512_maskz_shuffle_i64x2::<0b10_01_00_00>(0b1111_1100, totals, totals);
        let two = _mm512_add_epi16(totals, one);
        let below = _mm512_maskz_shuffle_i64x2::<0b01_00_00_00>(0b1111_0000, two, two);
        let all = _mm512_add_epi16(two, below);
        let lower = _mm512_add_epi16(one, below);
        sum = _mm512_add_epi16(_mm512_add_epi16(sum, lower), carry);
        carry = _mm512_add_epi16(carry, _mm512_shuffle_i64x2::<0b11_11_11_11>(all, all));
        // SAFETY: the reference is to 64 bytes.
        unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), sum) };
    }
}
