//! Prefix sums, which the compiler does not vectorise by itself.

use super::UNIT;
use crate::simd::Avx2;
use std::arch::x86_64::*;

/// Sums up a unit of 32-bit numbers from `last` on.
#[inline(always)]
pub(super) fn prefix_sum_u32(_: Avx2, last: u32, unit: &[u32; UNIT], sums: &mut [u32; UNIT]) {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { prefix_sum_u32_avx2(last, unit, sums) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn prefix_sum_u32_avx2(last: u32, unit: &[u32; UNIT], sums: &mut [u32; UNIT]) {
    let mut carry = _mm256_set1_epi32(last.cast_signed());
    let last_of_all = _mm256_set1_epi32(7);
    let parts = unit.as_chunks::<8>().0.iter();
    for (part, sums) in parts.zip(sums.as_chunks_mut::<8>().0) {
        // SAFETY: the reference is to 32 bytes.
        let mut sum = unsafe { _mm256_loadu_si256(part.as_ptr().cast()) };
        sum = _mm256_add_epi32(sum, _mm256_slli_si256::<4>(sum));
        sum = _mm256_add_epi32(sum, _mm256_slli_si256::<8>(sum));
        // The high lane also gets what the low lane adds up to.
        let totals = _mm256_shuffle_epi32::<0xff>(sum);
        sum = _mm256_add_epi32(sum, _mm256_permute2x128_si256::<0x08>(totals, totals));
        let all = _mm256_permutevar8x32_epi32(sum, last_of_all);
        sum = _mm256_add_epi32(sum, carry);
        carry = _mm256_add_epi32(carry, all);
        // SAFETY: the reference is to 32 bytes.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) };
    }
}

/// Sums up a unit from `last` on.
#[inline(always)]
pub(super) fn prefix_sum(_: Avx2, last: u16, unit: &[u16; UNIT], sums: &mut [u16; UNIT]) {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { prefix_sum_avx2(last, unit, sums) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn prefix_sum_avx2(last: u16, unit: &[u16; UNIT], sums: &mut [u16; UNIT]) {
    let mut carry = _mm256_set1_epi16(last.cast_signed());
    // The last element of each 128-bit lane to all elements of the lane.
    let spread = _mm256_set1_epi16(0x0f0e);
    let parts = unit.as_chunks::<16>().0.iter();
    for (part, sums) in parts.zip(sums.as_chunks_mut::<16>().0) {
        // SAFETY: the reference is to 32 bytes.
        let mut sum = unsafe { _mm256_loadu_si256(part.as_ptr().cast()) };
        sum = _mm256_add_epi16(sum, _mm256_slli_si256::<2>(sum));
        sum = _mm256_add_epi16(sum, _mm256_slli_si256::<4>(sum));
        sum = _mm256_add_epi16(sum, _mm256_slli_si256::<8>(sum));
        let totals = _mm256_shuffle_epi8(sum, spread);
        // The high lane also gets what the low lane adds up to.
        let low = _mm256_permute2x128_si256::<0x08>(totals, totals);
        let all = _mm256_add_epi16(totals, _mm256_permute2x128_si256::<0x01>(totals, totals));
        sum = _mm256_add_epi16(_mm256_add_epi16(sum, low), carry);
        carry = _mm256_add_epi16(carry, all);
        // SAFETY: the reference is to 32 bytes.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) };
    }
}
