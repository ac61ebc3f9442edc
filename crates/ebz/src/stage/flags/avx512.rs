//! AVX-512 kernels: 64 bytes at a time, with masks.

use super::{Bytes, PLANE};
use crate::simd::Avx512;
use std::arch::x86_64::*;

/// One bit of each byte.
#[inline(always)]
pub(super) fn plane(_: Avx512, bytes: &Bytes, bit: u32) -> [u8; PLANE] {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn plane(bytes: &Bytes, bit: u32) -> [u8; PLANE] {
        let mut plane = [0; PLANE];
        let bit = _mm512_set1_epi8((1u8 << bit).cast_signed());
        let masks = plane.as_chunks_mut::<8>().0;
        for (to, bytes) in masks.iter_mut().zip(bytes.0.as_chunks::<64>().0) {
            // SAFETY: the reference is to 64 bytes.
            let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            *to = _mm512_test_epi8_mask(bytes, bit).to_le_bytes();
        }
        plane
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { plane(bytes, bit) }
}

/// Sets one bit of each byte whose bit in the plane is set.
#[inline(always)]
pub(super) fn add_plane(_: Avx512, plane: &[u8; PLANE], bit: u32, bytes: &mut Bytes) {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn add_plane(plane: &[u8; PLANE], bit: u32, bytes: &mut Bytes) {
        let bit = _mm512_set1_epi8((1u8 << bit).cast_signed());
        let masks = plane.as_chunks::<8>().0;
        for (from, bytes) in masks.iter().zip(bytes.0.as_chunks_mut::<64>().0) {
            // SAFETY: the reference is to 64 bytes. The bit is clear, so that adding sets it.
            unsafe {
                let to = bytes.as_mut_ptr().cast();
                let old = _mm512_loadu_si512(to);
                let mask = u64::from_le_bytes(*from);
                _mm512_storeu_si512(to.cast(), _mm512_mask_add_epi8(old, mask, old, bit));
            }
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { add_plane(plane, bit, bytes) }
}
