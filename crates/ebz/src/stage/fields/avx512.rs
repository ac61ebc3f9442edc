//! AVX-512 kernels: 64 fields at a time.

use crate::simd::Avx512;
use std::arch::x86_64::*;

/// Largest width that [`pack`] supports.
pub(super) const MAX_PACK_WIDTH: u32 = 6;

/// Packs all whole blocks of 64 fields; returns the number of fields done.
pub(super) fn pack(_: Avx512, fields: &[u8], width: u32, packed: &mut [u8]) -> usize {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn with_avx512(fields: &[u8], width: u32, packed: &mut [u8]) -> usize {
        let mask = _mm512_set1_epi8((0xffu8 >> (8 - width)).cast_signed());
        // Weights that join two fields, and two pairs.
        let pair = _mm512_set1_epi16(1 | 1 << (8 + width));
        let quad = _mm512_set1_epi32(1 | 1 << (16 + 2 * width));
        let octet = _mm_cvtsi32_si128(32 - 4 * width.cast_signed());
        let low = _mm512_set1_epi64(0xffff_ffff);
        let together = bytes(|i| (i / width * 8 + i % width) as u8);
        let (blocks, _) = fields.as_chunks::<64>();
        let size = 8 * width as usize;
        for (block, at) in blocks.iter().zip((0..).step_by(size)) {
            // SAFETY: there are 64 bytes.
            let block = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let pairs = _mm512_maddubs_epi16(_mm512_and_si512(block, mask), pair);
            let quads = _mm512_madd_epi16(pairs, quad);
            let upper = _mm512_srl_epi64(_mm512_andnot_si512(low, quads), octet);
            let octets = _mm512_or_si512(_mm512_and_si512(quads, low), upper);
            let out: &mut [u8] = &mut packed[at..at + 64];
            // SAFETY: there are 64 bytes.
            unsafe {
                let all = _mm512_permutexvar_epi8(together, octets);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), all);
            }
        }
        64 * blocks.len()
    }
    assert!((1..=MAX_PACK_WIDTH).contains(&width));
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx512(fields, width, packed) }
}

/// Unpacks blocks of 64 fields as long as whole vectors can be read; returns the number of fields
/// done.
pub(super) fn unpack(_: Avx512, packed: &[u8], width: u32, fields: &mut [u8]) -> usize {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn with_avx512(packed: &[u8], width: u32, fields: &mut [u8]) -> usize {
        let mask = _mm512_set1_epi8((0xffu8 >> (8 - width)).cast_signed());
        let apart = bytes(|i| (i / 8 * width + i % 8) as u8);
        let shifts = bytes(|i| (i % 8 * width) as u8);
        let (blocks, _) = fields.as_chunks_mut::<64>();
        let mut done = 0;
        let words = packed.windows(64).step_by(8 * width as usize);
        for (block, words) in blocks.iter_mut().zip(words) {
            // SAFETY: there are 64 bytes each.
            unsafe {
                let words = _mm512_loadu_si512(words.as_ptr().cast());
                let octets = _mm512_permutexvar_epi8(apart, words);
                let spread = _mm512_multishift_epi64_epi8(shifts, octets);
                let spread = _mm512_and_si512(spread, mask);
                _mm512_storeu_si512(block.as_mut_ptr().cast(), spread);
            }
            done += 64;
        }
        done
    }
    assert!((1..=8).contains(&width));
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx512(packed, width, fields) }
}

/// A vector from a function of the byte index.
#[inline(always)]
fn bytes(byte: impl Fn(u32) -> u8) -> __m512i {
    let bytes: [u8; 64] = std::array::from_fn(|i| byte(i as u32));
    // SAFETY: both are 64 bytes, and any bits are valid.
    unsafe { std::mem::transmute::<[u8; 64], __m512i>(bytes) }
}
