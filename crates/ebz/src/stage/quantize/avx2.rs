//! Single precision to 16-bit coordinates and back with AVX2.

use super::{Plain, Unit};
use crate::simd::{Avx2, memory};
use crate::stage::UNIT;
use std::arch::x86_64::*;

/// See [`Plain::unit`].
#[inline(always)]
pub(super) fn unit(_: Avx2, plain: &Plain<f32>, values: &[f32; UNIT], q: &mut [u16; UNIT]) -> Unit {
    #[target_feature(enable = "avx2")]
    fn with_avx2(plain: &Plain<f32>, values: &[f32; UNIT], q: &mut [u16; UNIT]) -> Unit {
        let (inverse, step) = (_mm256_set1_ps(plain.inverse), _mm256_set1_ps(plain.step));
        let rounder = _mm256_set1_ps(Plain::<f32>::ROUNDER);
        let (no_sign, low) = (_mm256_set1_epi32(i32::MAX), _mm256_set1_epi32(0xffff));
        let (mut min, mut max) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
        let mut error = _mm256_setzero_si256();
        let lines = values.as_chunks::<16>().0.iter();
        for (line, q) in lines.zip(q.as_chunks_mut::<16>().0) {
            // One line at a time: many prefetches at once delay the loads.
            memory::prefetch_line(line, super::PREFETCH_BYTES);
            let mut coordinates = [_mm256_setzero_si256(); 2];
            for (half, coordinates) in line.as_chunks::<8>().0.iter().zip(&mut coordinates) {
                // SAFETY: the reference is to 32 bytes.
                let x = unsafe { _mm256_loadu_ps(half.as_ptr()) };
                let rounded = _mm256_add_ps(_mm256_mul_ps(x, inverse), rounder);
                let decoded = _mm256_mul_ps(_mm256_sub_ps(rounded, rounder), step);
                let distance = _mm256_castps_si256(_mm256_sub_ps(decoded, x));
                error = _mm256_max_epu32(error, _mm256_and_si256(distance, no_sign));
                let bits = _mm256_castps_si256(rounded);
                min = _mm256_min_epu32(min, bits);
                max = _mm256_max_epu32(max, bits);
                *coordinates = _mm256_and_si256(bits, low);
            }
            let packed = _mm256_packus_epi32(coordinates[0], coordinates[1]);
            let in_order = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
            // SAFETY: the reference is to 32 bytes.
            unsafe { _mm256_storeu_si256(q.as_mut_ptr().cast(), in_order) };
        }
        Unit {
            min: lanes(min).into_iter().fold(u32::MAX, u32::min),
            max: lanes(max).into_iter().fold(0, u32::max),
            error: lanes(error).into_iter().fold(0, u32::max),
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx2(plain, values, q) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lanes(vector: __m256i) -> [u32; 8] {
    let mut lanes = [0; 8];
    // SAFETY: there are 32 bytes.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) };
    lanes
}

/// Reconstructs a unit from its coordinates, with non-temporal stores if `streaming` and the target is
/// aligned.
#[inline(always)]
pub(super) fn values(
    _: Avx2,
    (step, base): (f32, f32),
    q: &[u16; UNIT],
    values: &mut [f32; UNIT],
    streaming: bool,
) {
    #[target_feature(enable = "avx2")]
    fn with_avx2<const BASE: bool, const STREAM: usize>(
        (step, base): (f32, f32),
        q: &[u16; UNIT],
        values: &mut [f32; UNIT],
    ) {
        let (step, base) = (_mm256_set1_ps(step), _mm256_set1_ps(base));
        let eights = q.as_chunks::<8>().0.iter();
        for (q, values) in eights.zip(values.as_chunks_mut::<8>().0) {
            // SAFETY: the reference is to 16 bytes.
            let q = unsafe { _mm_loadu_si128(q.as_ptr().cast()) };
            let mut point = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(q));
            if BASE {
                point = _mm256_add_ps(point, base);
            }
            let value = _mm256_mul_ps(point, step);
            let to = values.as_mut_ptr();
            // SAFETY: there are 32 bytes, and the caller has checked their alignment to `STREAM`.
            unsafe {
                match STREAM {
                    32 => _mm256_stream_ps(to, value),
                    16 => {
                        _mm_stream_ps(to, _mm256_castps256_ps128(value));
                        _mm_stream_ps(to.add(4), _mm256_extractf128_ps::<1>(value));
                    }
                    _ => _mm256_storeu_ps(to, value),
                }
            }
        }
    }
    let aligned = |size: usize| streaming && values.as_ptr().addr().is_multiple_of(size);
    let run = match (base != 0.0, aligned(32), aligned(16)) {
        (false, true, _) => with_avx2::<false, 32>,
        (false, _, true) => with_avx2::<false, 16>,
        (false, ..) => with_avx2::<false, 0>,
        (true, true, _) => with_avx2::<true, 32>,
        (true, _, true) => with_avx2::<true, 16>,
        (true, ..) => with_avx2::<true, 0>,
    };
    // SAFETY: the token exists only where the machine has these features.
    unsafe { run((step, base), q, values) }
}
