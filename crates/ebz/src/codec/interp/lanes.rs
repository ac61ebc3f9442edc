//! Sixteen values as AVX2 vectors, for both element types.
//!
//! The compiler turns plain arrays of sixteen into shuffles of partial vectors: quantization took
//! four times as long.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Empty on other architectures.
#[cfg(not(target_arch = "x86_64"))]
pub(super) trait Lanes {}
#[cfg(not(target_arch = "x86_64"))]
impl<T> Lanes for T {}

/// Element type with operations on sixteen values. Every function requires AVX2; pointers must
/// refer to sixteen values.
#[cfg(target_arch = "x86_64")]
#[allow(
    clippy::missing_safety_doc,
    reason = "the trait documents the requirements of all functions"
)]
pub(super) trait Lanes: Copy {
    /// Sixteen values.
    type Sixteen: Copy;

    unsafe fn load(from: *const Self) -> Self::Sixteen;
    unsafe fn store(to: *mut Self, values: Self::Sixteen);
    unsafe fn splat(value: Self) -> Self::Sixteen;
    unsafe fn plus(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;
    unsafe fn minus(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;
    unsafe fn times(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;
    /// `a` where it is less, else `b`.
    unsafe fn smaller(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;
    /// `a` where it is greater, else `b`.
    unsafe fn larger(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;
    unsafe fn either(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;
    /// A mask of the lanes whose magnitude exceeds `limit` or is NaN.
    unsafe fn misses(error: Self::Sixteen, limit: Self::Sixteen) -> Self::Sixteen;
    /// The sign bits.
    unsafe fn signs(mask: Self::Sixteen) -> u32;
    /// Converts small integers to i16.
    unsafe fn to_sixteen(whole: Self::Sixteen) -> __m256i;
    /// Converts i16 to floating point.
    unsafe fn from_sixteen(numbers: __m256i) -> Self::Sixteen;
    /// Converts to single precision, for estimates.
    unsafe fn singles(values: Self::Sixteen) -> [__m256; 2];

    /// The weighted sum of four rows, in a fixed order of additions.
    #[inline(always)]
    unsafe fn sum(rows: &[*const Self; 4], weights: &[Self; 4], at: usize) -> Self::Sixteen {
        // SAFETY: guaranteed by the caller.
        unsafe {
            // Not a closure, which might not be inlined and would then be compiled without AVX2.
            let a = Self::times(Self::load(rows[0].add(at)), Self::splat(weights[0]));
            let b = Self::times(Self::load(rows[1].add(at)), Self::splat(weights[1]));
            let c = Self::times(Self::load(rows[2].add(at)), Self::splat(weights[2]));
            let d = Self::times(Self::load(rows[3].add(at)), Self::splat(weights[3]));
            Self::plus(Self::plus(b, c), Self::plus(a, d))
        }
    }

    /// The weighted sum of the inner two of four rows.
    #[inline(always)]
    unsafe fn inner_sum(rows: &[*const Self; 4], weights: &[Self; 4], at: usize) -> Self::Sixteen {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let b = Self::times(Self::load(rows[1].add(at)), Self::splat(weights[1]));
            let c = Self::times(Self::load(rows[2].add(at)), Self::splat(weights[2]));
            Self::plus(b, c)
        }
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! lanes {
    (
        $type:ty, $vector:ty, $per:literal, $count:literal, $load:ident, $store:ident, $splat:ident,
        $add:ident, $sub:ident, $mul:ident, $min:ident, $max:ident, $or:ident, $andnot:ident, $cmp:ident,
        $signs:ident, $narrow:ident, $widen:ident, $singles:ident
    ) => {
        impl Lanes for $type {
            type Sixteen = [$vector; $count];

            #[inline(always)]
            unsafe fn load(from: *const Self) -> Self::Sixteen {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let mut all = [$load(from); $count];
                    for i in 1..$count {
                        all[i] = $load(from.add(i * $per));
                    }
                    all
                }
            }
            #[inline(always)]
            unsafe fn store(to: *mut Self, values: Self::Sixteen) {
                for i in 0..$count {
                    // SAFETY: guaranteed by the caller.
                    unsafe { $store(to.add(i * $per), values[i]) }
                }
            }
            #[inline(always)]
            unsafe fn splat(value: Self) -> Self::Sixteen {
                // SAFETY: guaranteed by the caller.
                unsafe { [$splat(value); $count] }
            }
            lanes!(plus, $add, $count);
            lanes!(minus, $sub, $count);
            lanes!(times, $mul, $count);
            lanes!(smaller, $min, $count);
            lanes!(larger, $max, $count);
            lanes!(either, $or, $count);
            #[inline(always)]
            unsafe fn misses(error: Self::Sixteen, limit: Self::Sixteen) -> Self::Sixteen {
                let mut all = error;
                for i in 0..$count {
                    // SAFETY: guaranteed by the caller.
                    all[i] = unsafe {
                        let magnitude = $andnot($splat(-0.0), error[i]);
                        $cmp::<_CMP_NLE_UQ>(magnitude, limit[i])
                    };
                }
                all
            }
            #[inline(always)]
            unsafe fn signs(mask: Self::Sixteen) -> u32 {
                let mut bits = 0;
                for i in 0..$count {
                    // SAFETY: guaranteed by the caller.
                    bits |= unsafe { $signs(mask[i]) as u32 } << (i * $per);
                }
                bits
            }
            #[inline(always)]
            unsafe fn to_sixteen(whole: Self::Sixteen) -> __m256i {
                // SAFETY: guaranteed by the caller.
                unsafe { $narrow(whole) }
            }
            #[inline(always)]
            unsafe fn from_sixteen(numbers: __m256i) -> Self::Sixteen {
                // SAFETY: guaranteed by the caller.
                unsafe { $widen(numbers) }
            }
            #[inline(always)]
            unsafe fn singles(values: Self::Sixteen) -> [__m256; 2] {
                // SAFETY: guaranteed by the caller.
                unsafe { $singles(values) }
            }
        }
    };
    ($name:ident, $operation:ident, $count:literal) => {
        #[inline(always)]
        unsafe fn $name(a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen {
            let mut all = a;
            for i in 0..$count {
                // SAFETY: guaranteed by the caller.
                all[i] = unsafe { $operation(a[i], b[i]) };
            }
            all
        }
    };
}

#[cfg(target_arch = "x86_64")]
lanes!(
    f32,
    __m256,
    8,
    2,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_min_ps,
    _mm256_max_ps,
    _mm256_or_ps,
    _mm256_andnot_ps,
    _mm256_cmp_ps,
    _mm256_movemask_ps,
    narrow_singles,
    widen_singles,
    same_singles
);
#[cfg(target_arch = "x86_64")]
lanes!(
    f64,
    __m256d,
    4,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_min_pd,
    _mm256_max_pd,
    _mm256_or_pd,
    _mm256_andnot_pd,
    _mm256_cmp_pd,
    _mm256_movemask_pd,
    narrow_doubles,
    widen_doubles,
    doubles_to_singles
);

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_singles(whole: [__m256; 2]) -> __m256i {
    let [a, b] = whole;
    let both = _mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b));
    // The pack instruction works within 128-bit halves.
    _mm256_permute4x64_epi64::<0b11_01_10_00>(both)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_doubles(whole: [__m256d; 4]) -> __m256i {
    let [a, b, c, d] = whole;
    let low = _mm_packs_epi32(_mm256_cvtpd_epi32(a), _mm256_cvtpd_epi32(b));
    let high = _mm_packs_epi32(_mm256_cvtpd_epi32(c), _mm256_cvtpd_epi32(d));
    _mm256_set_m128i(high, low)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn widen_singles(numbers: __m256i) -> [__m256; 2] {
    let low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(numbers));
    let high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(numbers));
    [_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(high)]
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn widen_doubles(numbers: __m256i) -> [__m256d; 4] {
    let low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(numbers));
    let high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(numbers));
    [
        _mm256_cvtepi32_pd(_mm256_castsi256_si128(low)),
        _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(low)),
        _mm256_cvtepi32_pd(_mm256_castsi256_si128(high)),
        _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(high)),
    ]
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn same_singles(values: [__m256; 2]) -> [__m256; 2] {
    values
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn doubles_to_singles(values: [__m256d; 4]) -> [__m256; 2] {
    let [a, b, c, d] = values;
    [
        _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a)),
        _mm256_set_m128(_mm256_cvtpd_ps(d), _mm256_cvtpd_ps(c)),
    ]
}
