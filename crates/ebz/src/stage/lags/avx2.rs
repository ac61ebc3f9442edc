//! AVX2 vectors.

use super::kernel::Vector;
use crate::simd::Avx2;
use std::arch::x86_64::*;

/// 16 × 16 bits.
#[derive(Clone, Copy)]
pub(super) struct Narrow(__m256i);

/// 8 × 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Wide(__m256i);

// SAFETY of all below: loads and splats take the token, and the others a vector that was created with it;
// loads and stores access slices of the size of a vector.
macro_rules! vector {
    ($vector:ident, $word:ty, $lanes:expr, $splat:ident, $add:ident, $sub:ident, $shl:ident, $shr:ident,
     $signs:ident) => {
        impl Vector<$word> for $vector {
            type Token = Avx2;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn load(_: Avx2, from: &[$word], at: usize) -> Self {
                let from = &from[at..at + $lanes];
                // SAFETY: see above.
                Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, to: &mut [$word], at: usize) {
                let to = &mut to[at..at + $lanes];
                // SAFETY: see above.
                unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) };
            }

            #[inline(always)]
            fn splat(_: Avx2, number: $word) -> Self {
                // SAFETY: see above.
                Self(unsafe { $splat(number.cast_signed()) })
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $sub(self.0, other.0) })
            }

            #[inline(always)]
            fn zigzag(self) -> Self {
                // SAFETY: see above.
                Self(unsafe {
                    _mm256_xor_si256(
                        $shl::<1>(self.0),
                        $signs::<{ <$word>::BITS as i32 - 1 }>(self.0),
                    )
                })
            }

            #[inline(always)]
            fn unzigzag(self) -> Self {
                // SAFETY: see above.
                Self(unsafe {
                    let lowest = _mm256_and_si256(self.0, $splat(1));
                    let signs = $sub(_mm256_setzero_si256(), lowest);
                    _mm256_xor_si256($shr::<1>(self.0), signs)
                })
            }

            #[inline(always)]
            fn prefix_sum(self, carry: Self) -> (Self, Self) {
                // SAFETY: see above.
                let (sum, all) = unsafe { self.sums() };
                (Self(sum).add(carry), carry.add(Self(all)))
            }
        }
    };
}

vector!(
    Narrow,
    u16,
    16,
    _mm256_set1_epi16,
    _mm256_add_epi16,
    _mm256_sub_epi16,
    _mm256_slli_epi16,
    _mm256_srli_epi16,
    _mm256_srai_epi16
);
vector!(
    Wide,
    u32,
    8,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_slli_epi32,
    _mm256_srli_epi32,
    _mm256_srai_epi32
);

impl Narrow {
    /// Prefix sums, and the sum of all in every lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn sums(self) -> (__m256i, __m256i) {
        let mut sum = self.0;
        sum = _mm256_add_epi16(sum, _mm256_slli_si256::<2>(sum));
        sum = _mm256_add_epi16(sum, _mm256_slli_si256::<4>(sum));
        sum = _mm256_add_epi16(sum, _mm256_slli_si256::<8>(sum));
        // Broadcast the last element of each 128-bit lane.
        let totals = _mm256_shuffle_epi8(sum, _mm256_set1_epi16(0x0f0e));
        // Add the total of the low lane to the high one.
        let low = _mm256_permute2x128_si256::<0x08>(totals, totals);
        let all = _mm256_add_epi16(totals, _mm256_permute2x128_si256::<0x01>(totals, totals));
        (_mm256_add_epi16(sum, low), all)
    }
}

impl Wide {
    /// Prefix sums, and the sum of all in every lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn sums(self) -> (__m256i, __m256i) {
        let mut sum = self.0;
        sum = _mm256_add_epi32(sum, _mm256_slli_si256::<4>(sum));
        sum = _mm256_add_epi32(sum, _mm256_slli_si256::<8>(sum));
        let totals = _mm256_shuffle_epi32::<0b11_11_11_11>(sum);
        let low = _mm256_permute2x128_si256::<0x08>(totals, totals);
        let all = _mm256_add_epi32(totals, _mm256_permute2x128_si256::<0x01>(totals, totals));
        (_mm256_add_epi32(sum, low), all)
    }
}
