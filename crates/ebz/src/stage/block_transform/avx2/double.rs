//! Eight `f64` or `i64` in two registers.

use super::super::grid::{LANES, Lanes};
use super::super::planes::{self as portable, Planes};
use super::super::vectors::Vectors;
use super::single::avx2;
use std::arch::x86_64::*;

/// Vectors of double precision.
#[derive(Debug, Clone, Copy)]
pub struct Double;

type Ints = [__m256i; 2];
type Reals = [__m256d; 2];

#[inline(always)]
fn both<A: Copy, B: Copy, R>(a: [A; 2], b: [B; 2], f: impl Fn(A, B) -> R) -> [R; 2] {
    [f(a[0], b[0]), f(a[1], b[1])]
}

impl Vectors<f64> for Double {
    type Int = Ints;
    type Real = Reals;

    #[inline(always)]
    fn load_int(from: &Lanes<i64>) -> Ints {
        avx2!([0, 4].map(|i| _mm256_loadu_si256(from[i..i + 4].as_ptr().cast())))
    }
    #[inline(always)]
    fn store_int(vector: Ints, to: &mut Lanes<i64>) {
        for (half, vector) in to.chunks_exact_mut(4).zip(vector) {
            avx2!(_mm256_storeu_si256(half.as_mut_ptr().cast(), vector));
        }
    }
    #[inline(always)]
    fn load(from: &Lanes<f64>) -> Reals {
        avx2!([0, 4].map(|i| _mm256_loadu_pd(from[i..i + 4].as_ptr())))
    }
    #[inline(always)]
    fn store(vector: Reals, to: &mut Lanes<f64>) {
        for (half, vector) in to.chunks_exact_mut(4).zip(vector) {
            avx2!(_mm256_storeu_pd(half.as_mut_ptr(), vector));
        }
    }

    #[inline(always)]
    fn plus(a: Ints, b: Ints) -> Ints {
        both(a, b, |a, b| avx2!(_mm256_add_epi64(a, b)))
    }
    #[inline(always)]
    fn minus(a: Ints, b: Ints) -> Ints {
        both(a, b, |a, b| avx2!(_mm256_sub_epi64(a, b)))
    }
    #[inline(always)]
    fn half(a: Ints) -> Ints {
        // There is no arithmetic shift of 64 bits: shift, and keep the sign.
        a.map(|a| {
            avx2!({
                let sign = _mm256_and_si256(a, _mm256_set1_epi64x(i64::MIN));
                _mm256_or_si256(_mm256_srli_epi64::<1>(a), sign)
            })
        })
    }
    #[inline(always)]
    fn and(a: Ints, b: Ints) -> Ints {
        both(a, b, |a, b| avx2!(_mm256_and_si256(a, b)))
    }
    #[inline(always)]
    fn xor(a: Ints, b: Ints) -> Ints {
        both(a, b, |a, b| avx2!(_mm256_xor_si256(a, b)))
    }
    #[inline(always)]
    fn larger_int(a: Ints, b: Ints) -> Ints {
        both(a, b, |a, b| {
            avx2!(_mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)))
        })
    }

    #[inline(always)]
    fn magnitude(a: Reals) -> Ints {
        a.map(|a| {
            avx2!(_mm256_and_si256(
                _mm256_castpd_si256(a),
                _mm256_set1_epi64x(i64::MAX)
            ))
        })
    }
    #[inline(always)]
    fn quantize(a: Reals, exponents: Ints) -> Ints {
        // The steps of the portable function.
        both(a, exponents, |a, exponent| {
            avx2!({
                let bits = _mm256_castpd_si256(a);
                let size = _mm256_and_si256(bits, _mm256_set1_epi64x(i64::MAX));
                let own = _mm256_srli_epi64::<52>(size);
                let top = _mm256_set1_epi64x(1 << 52);
                let field = _mm256_set1_epi64x((1 << 52) - 1);
                let mantissa = _mm256_or_si256(_mm256_and_si256(bits, field), top);
                // A shift by more than 63 gives 0, as it should.
                let shift = _mm256_sub_epi64(exponent, own);
                let size = _mm256_srlv_epi64(_mm256_slli_epi64::<9>(mantissa), shift);
                let sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits);
                _mm256_sub_epi64(_mm256_xor_si256(size, sign), sign)
            })
        })
    }
    #[inline(always)]
    fn dequantize(a: Ints, units: Reals) -> Reals {
        // The high half biased by 3 · 2^67, the low half by 2^52; one rounding, in the last sum.
        both(a, units, |a, unit| {
            avx2!({
                let high_bias = _mm256_set1_pd(442_721_857_769_029_238_784.0);
                let both_biases = _mm256_set1_pd(442_726_361_368_656_609_280.0);
                let low_bias = _mm256_castpd_si256(_mm256_set1_pd(4_503_599_627_370_496.0));
                let high = _mm256_srai_epi32::<16>(a);
                let high = _mm256_blend_epi16::<0x33>(high, _mm256_setzero_si256());
                let high = _mm256_add_epi64(high, _mm256_castpd_si256(high_bias));
                let low = _mm256_blend_epi16::<0x88>(a, low_bias);
                let high = _mm256_sub_pd(_mm256_castsi256_pd(high), both_biases);
                _mm256_mul_pd(_mm256_add_pd(high, _mm256_castsi256_pd(low)), unit)
            })
        })
    }
    #[inline(always)]
    fn distance(a: Reals, b: Reals) -> Reals {
        both(a, b, |a, b| {
            avx2!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(a, b)))
        })
    }
    #[inline(always)]
    fn larger(a: Reals, b: Reals) -> Reals {
        both(a, b, |a, b| avx2!(_mm256_max_pd(a, b)))
    }

    #[inline(always)]
    fn load_quads(from: &[f64; 4 * LANES], to: &mut [Lanes<f64>; 4]) {
        for half in 0..2 {
            avx2!({
                let quads: [_; 4] = std::array::from_fn(|i| {
                    _mm256_loadu_pd(from[16 * half + 4 * i..][..4].as_ptr())
                });
                for (lanes, vector) in to.iter_mut().zip(transpose(quads)) {
                    _mm256_storeu_pd(lanes[4 * half..][..4].as_mut_ptr(), vector);
                }
            });
        }
    }
    #[inline(always)]
    fn store_quads(from: &[Lanes<f64>; 4], to: &mut [f64; 4 * LANES]) {
        for half in 0..2 {
            avx2!({
                let rows: [_; 4] =
                    std::array::from_fn(|i| _mm256_loadu_pd(from[i][4 * half..][..4].as_ptr()));
                for (i, vector) in transpose(rows).into_iter().enumerate() {
                    _mm256_storeu_pd(to[16 * half + 4 * i..][..4].as_mut_ptr(), vector);
                }
            });
        }
    }

    #[inline(always)]
    fn split<const N: usize>(bits: &[Lanes<i64>; N], needed: u32, planes: &mut [Planes; LANES]) {
        if N < 64 {
            return portable::split(bits, needed, planes);
        }
        // The halves of 32 bits have planes of their own.
        let high = |position: usize| halves(Self::load_int(&bits[position])).1;
        avx2!(super::planes::split(high, needed.min(32), 0, planes));
        if needed > 32 {
            let low = |position: usize| halves(Self::load_int(&bits[position])).0;
            avx2!(super::planes::split(low, needed - 32, 32, planes));
        }
    }
    #[inline(always)]
    fn join<const N: usize>(
        planes: &mut [Planes; LANES],
        given: &Lanes<u32>,
        bits: &mut [Lanes<i64>; N],
    ) {
        if N < 64 {
            return portable::join(planes, given, bits);
        }
        portable::clear_rest(planes, given);
        let high = given.map(|n| n.min(32));
        let put = |position: usize, column| {
            avx2!(Self::store_int(
                whole(_mm256_setzero_si256(), column),
                &mut bits[position]
            ));
        };
        avx2!(super::planes::join(planes, &high, 0, put));
        let low = given.map(|n| n.saturating_sub(32));
        if low != [0; LANES] {
            let put = |position: usize, column| {
                let high = halves(Self::load_int(&bits[position])).1;
                Self::store_int(whole(column, high), &mut bits[position]);
            };
            avx2!(super::planes::join(planes, &low, 32, put));
        }
    }
}

/// The low and the high 32 bits of each lane.
#[inline(always)]
fn halves([a, b]: Ints) -> (__m256i, __m256i) {
    avx2!({
        let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        let in_order = |v| _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(v));
        (
            in_order(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)),
            in_order(_mm256_shuffle_ps::<0b11_01_11_01>(a, b)),
        )
    })
}

/// The reverse of [`halves`].
#[inline(always)]
fn whole(low: __m256i, high: __m256i) -> Ints {
    avx2!({
        let apart = |v| _mm256_permute4x64_epi64::<0b11_01_10_00>(v);
        let (low, high) = (apart(low), apart(high));
        [
            _mm256_unpacklo_epi32(low, high),
            _mm256_unpackhi_epi32(low, high),
        ]
    })
}

/// Transposes 4 × 4 values.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    let (ab0, ab1) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
    let (cd0, cd1) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
    [
        _mm256_permute2f128_pd::<0x20>(ab0, cd0),
        _mm256_permute2f128_pd::<0x20>(ab1, cd1),
        _mm256_permute2f128_pd::<0x31>(ab0, cd0),
        _mm256_permute2f128_pd::<0x31>(ab1, cd1),
    ]
}
