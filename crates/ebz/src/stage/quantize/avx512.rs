//! Single precision to 16-bit coordinates with AVX-512.

use super::{Plain, Unit};
use crate::simd::{Avx512, memory};
use crate::stage::UNIT;
use std::arch::x86_64::*;

/// See [`Plain::unit`].
#[inline(always)]
pub(super) fn unit(
    _: Avx512,
    plain: &Plain<f32>,
    values: &[f32; UNIT],
    q: &mut [u16; UNIT],
) -> Unit {
    #[target_feature(enable = "avx512f")]
    fn with_avx512(plain: &Plain<f32>, values: &[f32; UNIT], q: &mut [u16; UNIT]) -> Unit {
        let (inverse, step) = (_mm512_set1_ps(plain.inverse), _mm512_set1_ps(plain.step));
        let rounder = _mm512_set1_ps(Plain::<f32>::ROUNDER);
        let no_sign = _mm512_set1_epi32(i32::MAX);
        let (mut min, mut max) = (_mm512_set1_epi32(-1), _mm512_setzero_si512());
        let mut error = _mm512_setzero_si512();
        let lines = values.as_chunks::<16>().0.iter();
        for (line, q) in lines.zip(q.as_chunks_mut::<16>().0) {
            // One line at a time: many prefetches at once delay the loads.
            memory::prefetch_line(line, super::PREFETCH_BYTES);
            // SAFETY: the reference is to 64 bytes.
            let x = unsafe { _mm512_loadu_ps(line.as_ptr()) };
            let rounded = _mm512_add_ps(_mm512_mul_ps(x, inverse), rounder);
            let decoded = _mm512_mul_ps(_mm512_sub_ps(rounded, rounder), step);
            let distance = _mm512_castps_si512(_mm512_sub_ps(decoded, x));
            error = _mm512_max_epu32(error, _mm512_and_si512(distance, no_sign));
            let bits = _mm512_castps_si512(rounded);
            min = _mm512_min_epu32(min, bits);
            max = _mm512_max_epu32(max, bits);
            // SAFETY: the reference is to 32 bytes.
            unsafe { _mm256_storeu_si256(q.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(bits)) };
        }
        Unit {
            min: _mm512_reduce_min_epu32(min),
            max: _mm512_reduce_max_epu32(max),
            error: _mm512_reduce_max_epu32(error),
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx512(plain, values, q) }
}
