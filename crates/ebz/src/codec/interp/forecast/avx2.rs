//! Sums of squares with vectors; the arithmetic is that of [`super::sum_of_squares`], operation by
//! operation.

use crate::codec::interp::pack::Pack;
use crate::codec::interp::real::Real;
use std::arch::x86_64::*;

/// See [`super::sum_of_squares`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn sum_of_squares<T: Real>(
    target: &Pack<T>,
    prediction: &Pack<T>,
    share: T,
    inverse: T,
) -> f32 {
    // SAFETY: the machine has AVX2, and the references are to sixteen values each.
    let [a, b] = unsafe {
        let predicted = T::times(T::load(prediction.as_ptr()), T::splat(share));
        let residuals = T::minus(T::load(target.as_ptr()), predicted);
        T::singles(T::times(residuals, T::splat(inverse)))
    };
    let eight = _mm256_add_ps(square(a), square(b));
    let four = _mm_add_ps(
        _mm256_castps256_ps128(eight),
        _mm256_extractf128_ps::<1>(eight),
    );
    let mut each = [0f32; 4];
    // SAFETY: the array is 16 writable bytes.
    unsafe { _mm_storeu_ps(each.as_mut_ptr(), four) };
    (each[0] + each[1]) + (each[2] + each[3])
}

#[inline]
#[target_feature(enable = "avx2")]
fn square(steps: __m256) -> __m256 {
    let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), steps);
    let counts = _mm256_cmp_ps::<_CMP_LT_OQ>(size, _mm256_set1_ps(super::SPIKE));
    _mm256_and_ps(counts, _mm256_mul_ps(steps, steps))
}
