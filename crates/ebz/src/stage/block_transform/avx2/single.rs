//! Eight `f32` or `i32` in one register.

use super::super::block_float::FRACTION_BITS;
use super::super::lanes::{LANES, Lanes};
use super::super::planes::{self as portable, Planes};
use super::super::vectors::Vectors;
use std::arch::x86_64::*;

/// Vectors of single precision.
#[derive(Debug, Clone, Copy)]
pub struct Single;

/// An `unsafe` block of one or a few instructions.
///
/// All of them are sound for the same reason: only `dispatch` uses these vectors, with the token of
/// AVX2, and loads and stores access arrays of exactly 32 bytes or checked parts.
macro_rules! avx2 {
    ($body:expr) => {{
        // SAFETY: runs only with AVX2, on whole arrays; see above.
        unsafe { $body }
    }};
}
pub(super) use avx2;

impl Vectors<f32> for Single {
    type Int = __m256i;
    type Real = __m256;

    #[inline(always)]
    fn load_int(from: &Lanes<i32>) -> __m256i {
        avx2!(_mm256_loadu_si256(from.as_ptr().cast()))
    }
    #[inline(always)]
    fn store_int(vector: __m256i, to: &mut Lanes<i32>) {
        avx2!(_mm256_storeu_si256(to.as_mut_ptr().cast(), vector));
    }
    #[inline(always)]
    fn load(from: &Lanes<f32>) -> __m256 {
        avx2!(_mm256_loadu_ps(from.as_ptr()))
    }
    #[inline(always)]
    fn store(vector: __m256, to: &mut Lanes<f32>) {
        avx2!(_mm256_storeu_ps(to.as_mut_ptr(), vector));
    }

    #[inline(always)]
    fn plus(a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_add_epi32(a, b))
    }
    #[inline(always)]
    fn minus(a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_sub_epi32(a, b))
    }
    #[inline(always)]
    fn half(a: __m256i) -> __m256i {
        avx2!(_mm256_srai_epi32::<1>(a))
    }
    #[inline(always)]
    fn and(a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_and_si256(a, b))
    }
    #[inline(always)]
    fn xor(a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_xor_si256(a, b))
    }
    #[inline(always)]
    fn larger_int(a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_max_epi32(a, b))
    }

    #[inline(always)]
    fn magnitude(a: __m256) -> __m256i {
        avx2!(_mm256_and_si256(
            _mm256_castps_si256(a),
            _mm256_set1_epi32(i32::MAX)
        ))
    }
    #[inline(always)]
    fn quantize(a: __m256, exponents: __m256i) -> __m256i {
        // 2^(30 − emax) is a normal number for every block exponent, the product is exact, and the
        // cast truncates: the same result as the portable shifts.
        avx2!({
            let scale = _mm256_sub_epi32(_mm256_set1_epi32(127 + 126 + 30), exponents);
            let scale = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(scale));
            _mm256_cvttps_epi32(_mm256_mul_ps(a, scale))
        })
    }
    #[inline(always)]
    fn dequantize(a: __m256i, units: __m256) -> __m256 {
        avx2!(_mm256_mul_ps(_mm256_cvtepi32_ps(a), units))
    }
    #[inline(always)]
    fn distance(a: __m256, b: __m256) -> __m256 {
        avx2!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), _mm256_sub_ps(a, b)))
    }
    #[inline(always)]
    fn larger(a: __m256, b: __m256) -> __m256 {
        avx2!(_mm256_max_ps(a, b))
    }

    #[inline(always)]
    fn fixed(a: __m256, scale: __m256) -> __m256i {
        avx2!(_mm256_cvttps_epi32(_mm256_mul_ps(a, scale)))
    }
    #[inline(always)]
    fn lower(a: __m256i, to: &mut Lanes<i32>) {
        avx2!({
            let half = _mm256_set1_epi32(1 << (FRACTION_BITS - 1));
            let sum = _mm256_add_epi32(a, half);
            Self::store_int(_mm256_srai_epi32::<{ FRACTION_BITS as i32 }>(sum), to);
        });
    }
    #[inline(always)]
    fn raise(from: &Lanes<i32>) -> __m256i {
        avx2!(_mm256_slli_epi32::<{ FRACTION_BITS as i32 }>(
            Self::load_int(from)
        ))
    }

    #[inline(always)]
    fn load_quads(from: &[f32; 4 * LANES], to: &mut [Lanes<f32>; 4]) {
        avx2!({
            let a = _mm256_loadu_ps(from[..8].as_ptr());
            let b = _mm256_loadu_ps(from[8..16].as_ptr());
            let c = _mm256_loadu_ps(from[16..24].as_ptr());
            let d = _mm256_loadu_ps(from[24..].as_ptr());
            let [p, q, r, s] = transpose([
                _mm256_permute2f128_ps::<0x20>(a, c),
                _mm256_permute2f128_ps::<0x31>(a, c),
                _mm256_permute2f128_ps::<0x20>(b, d),
                _mm256_permute2f128_ps::<0x31>(b, d),
            ]);
            Self::store(p, &mut to[0]);
            Self::store(q, &mut to[1]);
            Self::store(r, &mut to[2]);
            Self::store(s, &mut to[3]);
        });
    }
    #[inline(always)]
    fn store_quads(from: &[Lanes<f32>; 4], to: &mut [f32; 4 * LANES]) {
        avx2!({
            let [a, b, c, d] = transpose([
                Self::load(&from[0]),
                Self::load(&from[1]),
                Self::load(&from[2]),
                Self::load(&from[3]),
            ]);
            let to = to.as_mut_ptr();
            _mm256_storeu_ps(to, _mm256_permute2f128_ps::<0x20>(a, b));
            _mm256_storeu_ps(to.add(8), _mm256_permute2f128_ps::<0x20>(c, d));
            _mm256_storeu_ps(to.add(16), _mm256_permute2f128_ps::<0x31>(a, b));
            _mm256_storeu_ps(to.add(24), _mm256_permute2f128_ps::<0x31>(c, d));
        });
    }

    #[inline(always)]
    fn split<const N: usize>(bits: &[Lanes<i32>; N], needed: u32, planes: &mut [Planes; LANES]) {
        match bits.first_chunk() {
            Some(columns) => avx2!(super::planes::split(columns, needed, 0, planes)),
            None => portable::split(bits, needed, planes),
        }
    }
    #[inline(always)]
    fn join<const N: usize>(
        planes: &mut [Planes; LANES],
        given: &Lanes<u32>,
        bits: &mut [Lanes<i32>; N],
    ) {
        if let Some(columns) = bits.first_chunk_mut() {
            portable::clear_rest(planes, given);
            avx2!(super::planes::join(planes, given, 0, columns));
        } else {
            portable::join(planes, given, bits);
        }
    }
}

/// Transposes 4 × 4 values in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    let (ab0, ab1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    let (cd0, cd1) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    [
        _mm256_shuffle_ps::<0b01_00_01_00>(ab0, cd0),
        _mm256_shuffle_ps::<0b11_10_11_10>(ab0, cd0),
        _mm256_shuffle_ps::<0b01_00_01_00>(ab1, cd1),
        _mm256_shuffle_ps::<0b11_10_11_10>(ab1, cd1),
    ]
}
