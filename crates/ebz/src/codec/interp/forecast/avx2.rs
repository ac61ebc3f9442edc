//! Vectorized sums of squares, with the same order of operations as [`super::sums_of_squares`].

use super::Each;
use crate::codec::interp::number::Number;
use crate::codec::interp::pack::Pack;
use std::arch::x86_64::*;

/// See [`super::sums_of_squares`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn sums_of_squares<T: Number>(
    target: &Pack<T>,
    predictions: &Each<Pack<T>>,
    shares: &Each<T>,
    inverse: T,
) -> Each<f32> {
    let mut sums = [0.0; 8];
    for half in 0..2 {
        let mut fours = [_mm_setzero_ps(); 4];
        for (i, four) in fours.iter_mut().enumerate() {
            let k = 4 * half + i;
            // SAFETY: the machine has AVX2, and the references are to sixteen values each.
            let [a, b] = unsafe {
                let predicted = T::times(T::load(predictions[k].as_ptr()), T::splat(shares[k]));
                let residuals = T::minus(T::load(target.as_ptr()), predicted);
                T::singles(T::times(residuals, T::splat(inverse)))
            };
            let eight = _mm256_add_ps(square(a), square(b));
            *four = _mm_add_ps(
                _mm256_castps256_ps128(eight),
                _mm256_extractf128_ps::<1>(eight),
            );
        }
        // Pairwise sums: (0 + 1) + (2 + 3) of each.
        let [a, b, c, d] = fours;
        let totals = _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d));
        // SAFETY: four of the eight numbers are 16 writable bytes.
        unsafe { _mm_storeu_ps(sums[4 * half..][..4].as_mut_ptr(), totals) };
    }
    sums
}

#[inline]
#[target_feature(enable = "avx2")]
fn square(steps: __m256) -> __m256 {
    let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), steps);
    let counts = _mm256_cmp_ps::<_CMP_LT_OQ>(size, _mm256_set1_ps(super::SPIKE_STEPS));
    _mm256_and_ps(counts, _mm256_mul_ps(steps, steps))
}
