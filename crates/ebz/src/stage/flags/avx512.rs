//! Tiles with AVX-512 (VBMI) and GFNI.
//!
//! A byte of 512 words is eight vectors, as eight 8 × 8 bit matrices each, which one instruction transposes; the
//! rest is permuting bytes and lanes.

use super::{BLOCK, FLAGS, MAX_TILE, TILE, WORDS};
use crate::simd::Avx512;
use crate::stage::planes::avx512::{
    DIAGONAL, FIRST_FOUR, FIRST_WORDS, LAST_FOUR, LAST_WORDS, load,
};
use std::arch::x86_64::*;

/// Vectors of one byte of all words.
const GROUPS: usize = WORDS / 64;

/// One of the four bytes of every word, 64 per vector.
type Bytes = [__m512i; GROUPS];

/// Encodes a tile; see [`super::encode`].
#[inline(always)]
pub(super) fn encode(
    _: Avx512,
    tile: &[u16; TILE],
    flags: &mut [u8; FLAGS],
    out: &mut [u8; MAX_TILE],
) -> usize {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { encode_avx512(tile, flags, out) }
}

/// Decodes a tile, whose flags have as many bits as there are blocks; see [`super::decode`].
#[inline(always)]
pub(super) fn decode(
    _: Avx512,
    flags: &[u8; FLAGS],
    blocks: &[[u8; BLOCK]],
    tile: &mut [u16; TILE],
) {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { decode_avx512(flags, blocks, tile) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vbmi,gfni")]
fn encode_avx512(tile: &[u16; TILE], flags: &mut [u8; FLAGS], out: &mut [u8; MAX_TILE]) -> usize {
    // 1. Bytes of words, in reverse order within each 8, and which bits occur.
    let mut bytes = [[_mm512_setzero_si512(); GROUPS]; 4];
    let mut used = _mm512_setzero_si512();
    for (group, codes) in tile.as_chunks::<128>().0.iter().enumerate() {
        let words: [_; 4] = std::array::from_fn(|i| load(&codes.as_chunks::<32>().0[i]));
        let or = |a, b| _mm512_or_si512(a, b);
        used = or(used, or(or(words[0], words[1]), or(words[2], words[3])));
        for (pair, order) in [&LOW_BYTES, &HIGH_BYTES].into_iter().enumerate() {
            let order = load(order);
            let first = _mm512_permutex2var_epi8(words[0], order, words[1]);
            let last = _mm512_permutex2var_epi8(words[2], order, words[3]);
            bytes[2 * pair][group] = _mm512_shuffle_i64x2::<0x44>(first, last);
            bytes[2 * pair + 1][group] = _mm512_shuffle_i64x2::<0xee>(first, last);
        }
    }
    let used = _mm512_reduce_or_epi32(used).to_le_bytes();

    // 2. Planes. 3. Blocks.
    flags.fill(0);
    let mut length = 0;
    for (byte, flags) in flags.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        if used[byte] == 0 {
            continue;
        }
        let (first, last) = bytes[byte].split_at(GROUPS / 2);
        let planes = [transpose(first), transpose(last)];
        for (plane, flags) in flags.iter_mut().enumerate() {
            let halves = [planes[0][plane], planes[1][plane]];
            let [low, high] = halves.map(|half| u32::from(_mm512_test_epi64_mask(half, half)));
            // One bit, then two, for each block.
            let words = low | high << 8;
            let blocks = (words | words >> 1) & 0x5555;
            *flags = _pext_u32(blocks, 0x5555) as u8;
            for (half, mask) in halves.into_iter().zip((3 * blocks).to_le_bytes()) {
                let packed = _mm512_maskz_compress_epi64(mask, half);
                // SAFETY: `length` is at most 64 for each half so far, of which `out` has room for all.
                unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(length).cast(), packed) };
                length += 8 * mask.count_ones() as usize;
            }
        }
    }
    length
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vbmi,gfni")]
fn decode_avx512(flags: &[u8; FLAGS], blocks: &[[u8; BLOCK]], tile: &mut [u16; TILE]) {
    // 3. Blocks. 2. Planes.
    let mut bytes = [[_mm512_setzero_si512(); GROUPS]; 4];
    let mut words = blocks.as_flattened().as_chunks::<8>().0;
    for (flags, bytes) in flags.as_chunks::<8>().0.iter().zip(&mut bytes) {
        if *flags == [0; 8] {
            continue;
        }
        let mut planes = [[_mm512_setzero_si512(); 8]; 2];
        for (plane, &flags) in flags.iter().enumerate() {
            let masks = 3 * _pdep_u32(u32::from(flags), 0x5555);
            for (half, mask) in planes.iter_mut().zip(masks.to_le_bytes()) {
                let count = mask.count_ones();
                let packed = match words.first_chunk::<8>() {
                    // SAFETY: the reference is to 64 bytes.
                    Some(all) => unsafe { _mm512_loadu_si512(all.as_ptr().cast()) },
                    // SAFETY: reads two words for each flag, as many as `blocks` has left. (Masked loads are slow.)
                    None => unsafe {
                        _mm512_maskz_loadu_epi64(
                            _bzhi_u32(0xff, count) as u8,
                            words.as_ptr().cast(),
                        )
                    },
                };
                words = words.get(count as usize..).unwrap_or_default();
                // Expanding in memory takes hundreds of cycles on some processors.
                half[plane] = _mm512_maskz_expand_epi64(mask, packed);
            }
        }
        let (first, last) = bytes.split_at_mut(GROUPS / 2);
        first.copy_from_slice(&untranspose(&planes[0]));
        last.copy_from_slice(&untranspose(&planes[1]));
    }

    // 1. Words of their bytes.
    for (group, codes) in tile.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let [a, b, c, d] = bytes.map(|bytes: Bytes| bytes[group]);
        let first = [(a, b), (c, d)].map(|(a, b)| _mm512_shuffle_i64x2::<0x44>(a, b));
        let last = [(a, b), (c, d)].map(|(a, b)| _mm512_shuffle_i64x2::<0xee>(a, b));
        for (i, to) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let [low, high] = if i < 2 { first } else { last };
            let order = [&FIRST_CODES, &LAST_CODES][i % 2];
            let words = _mm512_permutex2var_epi8(low, load(order), high);
            // SAFETY: the reference is to 64 bytes.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), words) };
        }
    }
}

/// Half planes of one byte of 512 words, in reverse order within each 8.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose(bytes: &[__m512i]) -> [__m512i; 8] {
    let bits = |i: usize| _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(DIAGONAL), bytes[i]);
    let four = |order: &[u8; 64]| {
        let order = load(order);
        turn(std::array::from_fn(|i| {
            _mm512_permutex2var_epi8(bits(2 * i), order, bits(2 * i + 1))
        }))
    };
    let ([a, b, c, d], [e, f, g, h]) = (four(&FIRST_FOUR), four(&LAST_FOUR));
    [a, b, c, d, e, f, g, h]
}

/// One byte of 512 words from half planes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn untranspose(planes: &[__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = *planes;
    let (low, high) = (turn([a, b, c, d]), turn([e, f, g, h]));
    std::array::from_fn(|i| {
        let order = load([&FIRST_WORDS, &LAST_WORDS][i % 2]);
        let bits = _mm512_permutex2var_epi8(low[i / 2], order, high[i / 2]);
        _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(DIAGONAL), bits)
    })
}

/// Transposes a 4 × 4 matrix of lanes of 128 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (
        _mm512_shuffle_i64x2::<0x44>(a, b),
        _mm512_shuffle_i64x2::<0x44>(c, d),
    );
    let (ba, dc) = (
        _mm512_shuffle_i64x2::<0xee>(a, b),
        _mm512_shuffle_i64x2::<0xee>(c, d),
    );
    [
        _mm512_shuffle_i64x2::<0x88>(ab, cd),
        _mm512_shuffle_i64x2::<0xdd>(ab, cd),
        _mm512_shuffle_i64x2::<0x88>(ba, dc),
        _mm512_shuffle_i64x2::<0xdd>(ba, dc),
    ]
}

/// A table of 64 bytes, given by an expression of the index.
macro_rules! table {
    ($i:ident => $entry:expr) => {{
        let mut table = [0u8; 64];
        let mut $i = 0;
        while $i < 64 {
            table[$i] = ($entry) as u8;
            $i += 1;
        }
        table
    }};
}

/// Bytes 0 and 1, and bytes 2 and 3, of the words of two vectors, in reverse order within each 8.
static LOW_BYTES: [u8; 64] = table!(i => 4 * (i % 32 / 8 * 8 + 7 - i % 8) + i / 32);
static HIGH_BYTES: [u8; 64] = table!(i => 4 * (i % 32 / 8 * 8 + 7 - i % 8) + i / 32 + 2);

/// The first and the last 16 of 32 words, from bytes 0 and 1, and bytes 2 and 3.
static FIRST_CODES: [u8; 64] = table!(i => i % 4 * 32 + i / 4);
static LAST_CODES: [u8; 64] = table!(i => i % 4 * 32 + i / 4 + 16);
