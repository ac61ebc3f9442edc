//! The inner loops with BMI2: `pext` and `pdep`.

use crate::simd::Avx2;
use std::arch::x86_64::{_pdep_u64, _pext_u64};

/// See [`super::pack_octets`].
pub(super) fn pack(_: Avx2, fields: &[u8], width: u32, packed: &mut [u8]) -> usize {
    #[target_feature(enable = "bmi2")]
    fn with_bmi2(fields: &[u8], width: u32, packed: &mut [u8]) -> usize {
        let mask = super::spaced(width, 8);
        super::pack_octets(fields, width, packed, |word, _| _pext_u64(word, mask))
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_bmi2(fields, width, packed) }
}

/// See [`super::unpack_octets`].
pub(super) fn unpack(_: Avx2, packed: &[u8], width: u32, fields: &mut [u8]) -> usize {
    #[target_feature(enable = "bmi2")]
    fn with_bmi2(packed: &[u8], width: u32, fields: &mut [u8]) -> usize {
        let mask = super::spaced(width, 8);
        super::unpack_octets(packed, width, fields, |word, _| _pdep_u64(word, mask))
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_bmi2(packed, width, fields) }
}
