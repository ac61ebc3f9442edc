//! AVX2 kernels: 32 bytes at a time.

use super::{Bytes, PLANE};
use crate::simd::Avx2;
use std::arch::x86_64::*;

/// One bit of each byte.
#[inline(always)]
pub(super) fn plane(_: Avx2, bytes: &Bytes, bit: u32) -> [u8; PLANE] {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn plane(bytes: &Bytes, bit: u32) -> [u8; PLANE] {
        let mut plane = [0; PLANE];
        // Shift the bit to the top of its byte; bits from the byte below are ignored.
        let shift = _mm_cvtsi32_si128(7 - bit as i32);
        let words = plane.as_chunks_mut::<4>().0;
        for (to, bytes) in words.iter_mut().zip(bytes.0.as_chunks::<32>().0) {
            // SAFETY: the reference is to 32 bytes.
            let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            let top = _mm256_sll_epi16(bytes, shift);
            *to = _mm256_movemask_epi8(top).to_le_bytes();
        }
        plane
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { plane(bytes, bit) }
}

/// Sets one bit of each byte whose bit in the plane is set.
#[inline(always)]
pub(super) fn add_plane(_: Avx2, plane: &[u8; PLANE], bit: u32, bytes: &mut Bytes) {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_plane(plane: &[u8; PLANE], bit: u32, bytes: &mut Bytes) {
        // Repeat every byte of a word eight times, and test another bit of each copy.
        let ones = 0x0101_0101_0101_0101;
        let spread = _mm256_setr_epi64x(0, ones, 2 * ones, 3 * ones);
        let own = _mm256_set1_epi64x(0x8040_2010_0804_0201u64.cast_signed());
        let value = _mm256_set1_epi8((1u8 << bit).cast_signed());
        let words = plane.as_chunks::<4>().0;
        for (from, bytes) in words.iter().zip(bytes.0.as_chunks_mut::<32>().0) {
            let word = _mm256_set1_epi32(i32::from_le_bytes(*from));
            let bits = _mm256_and_si256(_mm256_shuffle_epi8(word, spread), own);
            let set = _mm256_and_si256(_mm256_cmpeq_epi8(bits, own), value);
            // SAFETY: the reference is to 32 bytes.
            unsafe {
                let to = bytes.as_mut_ptr().cast();
                _mm256_storeu_si256(to, _mm256_or_si256(_mm256_loadu_si256(to), set));
            }
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { add_plane(plane, bit, bytes) }
}
