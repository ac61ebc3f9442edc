//! Eight `f64` or `i64` in two registers.

use super::super::lanes::{LANES, Lanes};
use super::super::planes::{self as portable, Planes};
use super::super::vectors::Vectors;
use super::single::avx2;
use std::arch::x86_64::*;

/// Vectors of double precision.
#[derive(Debug, Clone, Copy)]
pub struct Double;

type Ints = [__m256i; 2];
type Reals = [__m256d; 2];

/// Applies an instruction to both registers.
macro_rules! twice {
    ($f:ident, $a:ident, $b:ident) => {
        avx2!([$f($a[0], $b[0]), $f($a[1], $b[1])])
    };
    ($f:ident, $a:ident) => {
        avx2!([$f($a[0]), $f($a[1])])
    };
}

impl Vectors<f64> for Double {
    type Int = Ints;
    type Real = Reals;

    #[inline(always)]
    fn load_int(from: &Lanes<i64>) -> Ints {
        let from = from.as_ptr();
        avx2!([
            _mm256_loadu_si256(from.cast()),
            _mm256_loadu_si256(from.add(4).cast())
        ])
    }
    #[inline(always)]
    fn store_int(vector: Ints, to: &mut Lanes<i64>) {
        let to = to.as_mut_ptr();
        avx2!(_mm256_storeu_si256(to.cast(), vector[0]));
        avx2!(_mm256_storeu_si256(to.add(4).cast(), vector[1]));
    }
    #[inline(always)]
    fn load(from: &Lanes<f64>) -> Reals {
        let from = from.as_ptr();
        avx2!([_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))])
    }
    #[inline(always)]
    fn store(vector: Reals, to: &mut Lanes<f64>) {
        let to = to.as_mut_ptr();
        avx2!(_mm256_storeu_pd(to, vector[0]));
        avx2!(_mm256_storeu_pd(to.add(4), vector[1]));
    }

    #[inline(always)]
    fn plus(a: Ints, b: Ints) -> Ints {
        twice!(_mm256_add_epi64, a, b)
    }
    #[inline(always)]
    fn minus(a: Ints, b: Ints) -> Ints {
        twice!(_mm256_sub_epi64, a, b)
    }
    #[inline(always)]
    fn half(a: Ints) -> Ints {
        twice!(half, a)
    }
    #[inline(always)]
    fn and(a: Ints, b: Ints) -> Ints {
        twice!(_mm256_and_si256, a, b)
    }
    #[inline(always)]
    fn xor(a: Ints, b: Ints) -> Ints {
        twice!(_mm256_xor_si256, a, b)
    }
    #[inline(always)]
    fn larger_int(a: Ints, b: Ints) -> Ints {
        twice!(larger_int, a, b)
    }

    #[inline(always)]
    fn magnitude(a: Reals) -> Ints {
        twice!(magnitude, a)
    }
    #[inline(always)]
    fn quantize(a: Reals, exponents: Ints) -> Ints {
        twice!(quantize, a, exponents)
    }
    #[inline(always)]
    fn dequantize(a: Ints, units: Reals) -> Reals {
        twice!(dequantize, a, units)
    }
    #[inline(always)]
    fn distance(a: Reals, b: Reals) -> Reals {
        twice!(distance, a, b)
    }
    #[inline(always)]
    fn larger(a: Reals, b: Reals) -> Reals {
        twice!(_mm256_max_pd, a, b)
    }

    #[inline(always)]
    fn load_quads(from: &[f64; 4 * LANES], to: &mut [Lanes<f64>; 4]) {
        for half in 0..2 {
            let from = from[16 * half..16 * half + 16].as_ptr();
            avx2!({
                let rows = transpose([
                    _mm256_loadu_pd(from),
                    _mm256_loadu_pd(from.add(4)),
                    _mm256_loadu_pd(from.add(8)),
                    _mm256_loadu_pd(from.add(12)),
                ]);
                for (lanes, row) in to.iter_mut().zip(rows) {
                    _mm256_storeu_pd(lanes[4 * half..4 * half + 4].as_mut_ptr(), row);
                }
            });
        }
    }
    #[inline(always)]
    fn store_quads(from: &[Lanes<f64>; 4], to: &mut [f64; 4 * LANES]) {
        for half in 0..2 {
            let to = to[16 * half..16 * half + 16].as_mut_ptr();
            avx2!({
                let quads = transpose([
                    _mm256_loadu_pd(from[0][4 * half..4 * half + 4].as_ptr()),
                    _mm256_loadu_pd(from[1][4 * half..4 * half + 4].as_ptr()),
                    _mm256_loadu_pd(from[2][4 * half..4 * half + 4].as_ptr()),
                    _mm256_loadu_pd(from[3][4 * half..4 * half + 4].as_ptr()),
                ]);
                for (i, quad) in quads.into_iter().enumerate() {
                    _mm256_storeu_pd(to.add(4 * i), quad);
                }
            });
        }
    }

    #[inline(always)]
    fn split<const N: usize>(bits: &[Lanes<i64>; N], needed: u32, planes: &mut [Planes; LANES]) {
        let Some(bits) = bits.first_chunk::<64>() else {
            return portable::split(bits, needed, planes);
        };
        // Split the 32-bit halves separately.
        let mut low = [[0; LANES]; 64];
        let mut high = [[0; LANES]; 64];
        for ((low, high), lanes) in low.iter_mut().zip(&mut high).zip(bits) {
            avx2!({
                let [l, h] = halves(Self::load_int(lanes));
                _mm256_storeu_si256(low.as_mut_ptr().cast(), l);
                _mm256_storeu_si256(high.as_mut_ptr().cast(), h);
            });
        }
        avx2!(super::planes::split(&high, needed.min(32), 0, planes));
        if needed > 32 {
            avx2!(super::planes::split(&low, needed - 32, 32, planes));
        }
    }
    #[inline(always)]
    fn join<const N: usize>(
        planes: &mut [Planes; LANES],
        given: &Lanes<u32>,
        bits: &mut [Lanes<i64>; N],
    ) {
        let Some(bits) = bits.first_chunk_mut::<64>() else {
            return portable::join(planes, given, bits);
        };
        portable::clear_rest(planes, given);
        let mut low = [[0; LANES]; 64];
        let mut high = [[0; LANES]; 64];
        let (mut given_high, mut given_low) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            given_high[lane] = given[lane].min(32);
            given_low[lane] = given[lane] - given_high[lane];
        }
        avx2!(super::planes::join(planes, &given_high, 0, &mut high));
        if given_low != [0; LANES] {
            avx2!(super::planes::join(planes, &given_low, 32, &mut low));
        }
        for ((low, high), lanes) in low.iter().zip(&high).zip(bits) {
            avx2!({
                let low = _mm256_loadu_si256(low.as_ptr().cast());
                let high = _mm256_loadu_si256(high.as_ptr().cast());
                Self::store_int(whole(low, high), lanes);
            });
        }
    }
}

/// AVX2 has no 64-bit arithmetic shift: shift, and restore the sign.
#[inline]
#[target_feature(enable = "avx2")]
fn half(a: __m256i) -> __m256i {
    let sign = _mm256_and_si256(a, _mm256_set1_epi64x(i64::MIN));
    _mm256_or_si256(_mm256_srli_epi64::<1>(a), sign)
}

#[inline]
#[target_feature(enable = "avx2")]
fn larger_int(a: __m256i, b: __m256i) -> __m256i {
    _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
fn magnitude(a: __m256d) -> __m256i {
    _mm256_and_si256(_mm256_castpd_si256(a), _mm256_set1_epi64x(i64::MAX))
}

/// The steps of the portable function; shifts by more than 63 give 0, as required.
#[inline]
#[target_feature(enable = "avx2")]
fn quantize(a: __m256d, exponent: __m256i) -> __m256i {
    let bits = _mm256_castpd_si256(a);
    let own = _mm256_srli_epi64::<52>(magnitude(a));
    let field = _mm256_set1_epi64x((1 << 52) - 1);
    let mantissa = _mm256_or_si256(_mm256_and_si256(bits, field), _mm256_set1_epi64x(1 << 52));
    let shift = _mm256_sub_epi64(exponent, own);
    let size = _mm256_srlv_epi64(_mm256_slli_epi64::<9>(mantissa), shift);
    let sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits);
    _mm256_sub_epi64(_mm256_xor_si256(size, sign), sign)
}

/// Biases the high half by 3 · 2^67 and the low half by 2^52; only the last sum is rounded.
#[inline]
#[target_feature(enable = "avx2")]
fn dequantize(a: __m256i, unit: __m256d) -> __m256d {
    let high_bias = _mm256_set1_pd(442_721_857_769_029_238_784.0);
    let both_biases = _mm256_set1_pd(442_726_361_368_656_609_280.0);
    let low_bias = _mm256_castpd_si256(_mm256_set1_pd(4_503_599_627_370_496.0));
    let high = _mm256_blend_epi16::<0x33>(_mm256_srai_epi32::<16>(a), _mm256_setzero_si256());
    let high = _mm256_add_epi64(high, _mm256_castpd_si256(high_bias));
    let low = _mm256_blend_epi16::<0x88>(a, low_bias);
    let high = _mm256_sub_pd(_mm256_castsi256_pd(high), both_biases);
    _mm256_mul_pd(_mm256_add_pd(high, _mm256_castsi256_pd(low)), unit)
}

#[inline]
#[target_feature(enable = "avx2")]
fn distance(a: __m256d, b: __m256d) -> __m256d {
    _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(a, b))
}

/// The low and the high 32 bits of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn halves([a, b]: Ints) -> [__m256i; 2] {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
    let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
    [
        _mm256_permute4x64_epi64::<0b11_01_10_00>(low),
        _mm256_permute4x64_epi64::<0b11_01_10_00>(high),
    ]
}

/// Inverts [`halves`].
#[inline]
#[target_feature(enable = "avx2")]
fn whole(low: __m256i, high: __m256i) -> Ints {
    let low = _mm256_permute4x64_epi64::<0b11_01_10_00>(low);
    let high = _mm256_permute4x64_epi64::<0b11_01_10_00>(high);
    [
        _mm256_unpacklo_epi32(low, high),
        _mm256_unpackhi_epi32(low, high),
    ]
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
