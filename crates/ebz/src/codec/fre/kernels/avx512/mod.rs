//! Kernels with AVX-512: gathers for the plain loops, and single precision in registers.

pub(super) mod decode;
pub(super) mod words;

use crate::codec::fre::lanes::LANES;
use std::arch::x86_64::*;

/// Mantissa bits up to which the longest representable word, `011` sign, exponent and mantissa, fits 32 bits.
const MAX_KEPT: u32 = 32 - (3 + 1 + 8);

/// Gathers patterns at bit offsets, rounded down to bytes.
///
/// The vectors are as wide as those of the consuming loop: a load that spans two narrower stores stalls store
/// forwarding.
///
/// # Safety
/// Every offset lies within `bytes` and is followed by 4 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn gather_u32(bytes: &[u8], bits: &[u32; LANES], words: &mut [u32; LANES]) {
    let places = bits.as_chunks::<16>().0.iter();
    for (bits, words) in places.zip(words.as_chunks_mut::<16>().0) {
        // SAFETY: the references are to 64 bytes; the caller guarantees the offsets.
        unsafe {
            let at = _mm512_srli_epi32::<3>(_mm512_loadu_si512(bits.as_ptr().cast()));
            let loaded = _mm512_i32gather_epi32::<1>(at, bytes.as_ptr().cast());
            _mm512_storeu_si512(words.as_mut_ptr().cast(), loaded);
        }
    }
}

/// Gathers patterns at bit offsets, rounded down to bytes.
///
/// # Safety
/// Every offset lies within `bytes` and is followed by 8 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn gather_u64(bytes: &[u8], bits: &[u64; LANES], words: &mut [u64; LANES]) {
    let places = bits.as_chunks::<8>().0.iter();
    for (bits, words) in places.zip(words.as_chunks_mut::<8>().0) {
        // SAFETY: the references are to 64 bytes; the caller guarantees the offsets.
        unsafe {
            let at = _mm512_srli_epi64::<3>(_mm512_loadu_si512(bits.as_ptr().cast()));
            let loaded = _mm512_i64gather_epi64::<1>(at, bytes.as_ptr().cast());
            _mm512_storeu_si512(words.as_mut_ptr().cast(), loaded);
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(numbers: &[u32; 16]) -> __m512i {
    // SAFETY: the reference is to 64 bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(vector: __m512i, to: &mut [u32; 16]) {
    // SAFETY: the reference is to 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn splat(number: u32) -> __m512i {
    _mm512_set1_epi32(number.cast_signed())
}

/// A shift count for all elements.
#[target_feature(enable = "avx512f")]
#[inline]
fn count(bits: u32) -> __m128i {
    _mm_cvtsi32_si128(bits.cast_signed())
}
