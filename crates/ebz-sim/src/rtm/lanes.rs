//! Sixteen values at once: the same operations, in the same order, on every instruction set.

/// Values per step of the inner loops: a cache line.
pub const LANES: usize = 16;

/// Sixteen values.
pub trait Lanes: Copy {
    /// Reads 16 values.
    ///
    /// # Safety
    /// All 16 must be readable, and the machine must have the instructions.
    unsafe fn load(from: *const f32) -> Self;

    /// Writes 16 values.
    ///
    /// # Safety
    /// All 16 must be writable, and the machine must have the instructions.
    unsafe fn store(self, to: *mut f32);

    /// The same value 16 times.
    fn splat(value: f32) -> Self;

    fn add(self, other: Self) -> Self;

    fn sub(self, other: Self) -> Self;

    fn mul(self, other: Self) -> Self;

    fn max(self, other: Self) -> Self;
}

impl Lanes for [f32; LANES] {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: as promised by the caller.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as promised by the caller.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
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

#[cfg(target_arch = "x86_64")]
pub mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    /// Two vectors of AVX2.
    #[derive(Clone, Copy)]
    pub struct Avx2(__m256, __m256);

    /// One vector of AVX-512.
    #[derive(Clone, Copy)]
    pub struct Avx512(__m512);

    // SAFETY of all below: values of these types are made by code that runs only where the
    // instructions exist, see `stencil::step`.
    impl Lanes for Avx2 {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: as promised by the caller.
            unsafe { Self(_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as promised by the caller.
            unsafe {
                _mm256_storeu_ps(to, self.0);
                _mm256_storeu_ps(to.add(8), self.1);
            }
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
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

    impl Lanes for Avx512 {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: as promised by the caller.
            unsafe { Self(_mm512_loadu_ps(from)) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as promised by the caller.
            unsafe { _mm512_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
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
