//! Vectors of sixteen values: the same operations in the same order on every instruction set.

/// Values per iteration of the inner loops: a cache line.
pub const LANES: usize = 16;

/// Sixteen values. Only a token of the instruction set can create them, so they are a proof that the
/// CPU supports it.
pub trait Lanes: Copy {
    /// The token of the instruction set.
    type Token: Copy;

    /// Reads 16 values.
    ///
    /// # Safety
    /// All 16 must be readable.
    unsafe fn load(token: Self::Token, from: *const f32) -> Self;

    /// Writes 16 values.
    ///
    /// # Safety
    /// All 16 must be writable.
    unsafe fn store(self, to: *mut f32);

    /// Sixteen copies of a value.
    fn splat(token: Self::Token, value: f32) -> Self;

    fn add(self, other: Self) -> Self;

    fn sub(self, other: Self) -> Self;

    fn mul(self, other: Self) -> Self;

    fn max(self, other: Self) -> Self;
}

impl Lanes for [f32; LANES] {
    type Token = ();

    #[inline(always)]
    unsafe fn load((): (), from: *const f32) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    #[inline(always)]
    fn splat((): (), value: f32) -> Self {
        [value; LANES]
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        std::array::from_fn(|i| {
            if self[i] > other[i] {
                self[i]
            } else {
                other[i]
            }
        })
    }
}

/// Prefetches a cache line; any address is allowed.
#[inline(always)]
pub fn prefetch(place: *const f32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(target_arch = "x86_64")]
pub mod x86 {
    use super::Lanes;
    use ebz::simd::{Avx2, Avx512};
    use std::arch::x86_64::*;

    /// Two AVX2 vectors.
    #[derive(Clone, Copy)]
    pub struct Pair(__m256, __m256);

    /// One AVX-512 vector.
    #[derive(Clone, Copy)]
    pub struct Single(__m512);

    // SAFETY of all below: loads and splats take the token, and other functions take values created
    // with it.
    impl Lanes for Pair {
        type Token = Avx2;

        #[inline(always)]
        unsafe fn load(_: Avx2, from: *const f32) -> Self {
            // SAFETY: guaranteed by the caller.
            unsafe { Self(_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                _mm256_storeu_ps(to, self.0);
                _mm256_storeu_ps(to.add(8), self.1);
            }
        }

        #[inline(always)]
        fn splat(_: Avx2, value: f32) -> Self {
            // SAFETY: see above.
            unsafe { Self(_mm256_set1_ps(value), _mm256_set1_ps(value)) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                Self(
                    _mm256_add_ps(self.0, other.0),
                    _mm256_add_ps(self.1, other.1),
                )
            }
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                Self(
                    _mm256_sub_ps(self.0, other.0),
                    _mm256_sub_ps(self.1, other.1),
                )
            }
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                Self(
                    _mm256_mul_ps(self.0, other.0),
                    _mm256_mul_ps(self.1, other.1),
                )
            }
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                Self(
                    _mm256_max_ps(self.0, other.0),
                    _mm256_max_ps(self.1, other.1),
                )
            }
        }
    }

    impl Lanes for Single {
        type Token = Avx512;

        #[inline(always)]
        unsafe fn load(_: Avx512, from: *const f32) -> Self {
            // SAFETY: guaranteed by the caller.
            unsafe { Self(_mm512_loadu_ps(from)) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm512_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        fn splat(_: Avx512, value: f32) -> Self {
            // SAFETY: see above.
            unsafe { Self(_mm512_set1_ps(value)) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self(_mm512_add_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self(_mm512_sub_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self(_mm512_mul_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self(_mm512_max_ps(self.0, other.0)) }
        }
    }
}
