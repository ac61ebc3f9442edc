//! AVX-512 vectors.

use super::kernel::Vector;
use crate::simd::Avx512;
use std::arch::x86_64::*;

/// 32 × 16 bits.
#[derive(Clone, Copy)]
pub(super) struct Narrow(__m512i);

const LANES: usize = 32;

// SAFETY of all below: loads and splats take the token, and the others a vector that was created with it;
// loads and stores access slices of the size of a vector.
impl Vector<u16> for Narrow {
    type Token = Avx512;
    const LANES: usize = LANES;

    #[inline(always)]
    fn load(_: Avx512, from: &[u16], at: usize) -> Self {
        let from = &from[at..at + LANES];
        // SAFETY: see above.
        Self(unsafe { _mm512_loadu_si512(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [u16], at: usize) {
        let to = &mut to[at..at + LANES];
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn splat(_: Avx512, number: u16) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_set1_epi16(number.cast_signed()) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_add_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_sub_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn zigzag(self) -> Self {
        // SAFETY: see above.
        Self(unsafe {
            _mm512_xor_si512(
                _mm512_slli_epi16::<1>(self.0),
                _mm512_srai_epi16::<15>(self.0),
            )
        })
    }

    #[inline(always)]
    fn unzigzag(self) -> Self {
        // SAFETY: see above.
        Self(unsafe {
            let lowest = _mm512_and_si512(self.0, _mm512_set1_epi16(1));
            let signs = _mm512_sub_epi16(_mm512_setzero_si512(), lowest);
            _mm512_xor_si512(_mm512_srli_epi16::<1>(self.0), signs)
        })
    }

    #[inline(always)]
    fn prefix_sum(self, carry: Self) -> (Self, Self) {
        // SAFETY: see above.
        let (sum, all) = unsafe { self.sums() };
        (Self(sum).add(carry), carry.add(Self(all)))
    }
}

impl Narrow {
    /// Prefix sums, and the sum of all in every lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn sums(self) -> (__m512i, __m512i) {
        let mut sum = self.0;
        sum = _mm512_add_epi16(sum, _mm512_bslli_epi128::<2>(sum));
        sum = _mm512_add_epi16(sum, _mm512_bslli_epi128::<4>(sum));
        sum = _mm512_add_epi16(sum, _mm512_bslli_epi128::<8>(sum));
        // Broadcast the last element of each 128-bit lane.
        let totals = _mm512_shuffle_epi8(sum, _mm512_set1_epi16(0x0f0e));
        // Add the totals of all lower lanes to each lane.
        let one = _mm512_maskz_shuffle_i64x2::<0b10_01_00_00>(0b1111_1100, totals, totals);
        let two = _mm512_add_epi16(totals, one);
        let below = _mm512_maskz_shuffle_i64x2::<0b01_00_00_00>(0b1111_0000, two, two);
        let all = _mm512_add_epi16(two, below);
        let lower = _mm512_add_epi16(one, below);
        (
            _mm512_add_epi16(sum, lower),
            _mm512_shuffle_i64x2::<0b11_11_11_11>(all, all),
        )
    }
}
