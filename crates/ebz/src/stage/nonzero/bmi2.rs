//! The inner loops with BMI2: `pext` and `pdep`.

use crate::simd::Avx2;
use std::arch::x86_64::{_pdep_u64, _pext_u64};

/// The lowest and the highest bit of each byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;
const HIGHEST: u64 = LOWEST << 7;

pub(super) fn compact(_: Avx2, octets: &[[u8; 8]], present: &mut [u8], kept: &mut [u8]) -> usize {
    #[target_feature(enable = "bmi2,popcnt")]
    fn with_bmi2(octets: &[[u8; 8]], present: &mut [u8], kept: &mut [u8]) -> usize {
        super::compact_octets(octets, present, kept, |word| {
            // The highest bit of each nonzero byte: set in the byte, or by the carry of its other bits.
            let nonzero = (((word & !HIGHEST) + !HIGHEST) | word) & HIGHEST;
            let bytes = (nonzero >> 7) * 0xff;
            (_pext_u64(nonzero, HIGHEST) as u8, _pext_u64(word, bytes))
        })
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_bmi2(octets, present, kept) }
}

pub(super) fn expand(_: Avx2, present: &[u8], kept: &[u8], octets: &mut [[u8; 8]]) {
    #[target_feature(enable = "bmi2,popcnt")]
    fn with_bmi2(present: &[u8], kept: &[u8], octets: &mut [[u8; 8]]) {
        super::expand_octets(present, kept, octets, |bits, word| {
            let bytes = _pdep_u64(bits.into(), LOWEST) * 0xff;
            _pdep_u64(word, bytes)
        });
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_bmi2(present, kept, octets) }
}
