//! Bit planes with AVX-512 (VBMI, VBMI2) and GFNI.
//!
//! A vector of 64 bytes is eight 8 × 8 bit matrices, which one instruction transposes; the rest is
//! permuting bytes and words.

use super::avx2::nonzero_bytes;
use super::{MAX_UNIT, MIN_DENSE_BYTES, PLANE_BYTES, Shape, UNIT};
use crate::simd::Avx512;
use std::arch::x86_64::*;

/// Encodes a unit; returns its shape and length.
#[inline(always)]
pub(super) fn encode(_: Avx512, unit: &[u16; UNIT], out: &mut [u8; MAX_UNIT]) -> (Shape, usize) {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { encode_avx512(unit, out) }
}

/// Decodes a unit of this shape; returns its length.
#[inline(always)]
pub(super) fn decode(
    _: Avx512,
    shape: Shape,
    bytes: &[u8; MAX_UNIT],
    unit: &mut [u16; UNIT],
) -> usize {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { decode_avx512(shape, bytes, unit) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
fn encode_avx512(unit: &[u16; UNIT], out: &mut [u8; MAX_UNIT]) -> (Shape, usize) {
    // 1. Width.
    let values: [__m512i; 8] = std::array::from_fn(|i| load(&unit.as_chunks::<32>().0[i]));
    let all = values
        .into_iter()
        .fold(_mm512_setzero_si512(), |all, v| _mm512_or_si512(all, v));
    let used = _mm512_reduce_or_epi64(all).cast_unsigned();
    let used = used | used >> 32;
    let width = (u16::BITS - ((used | used >> 16) as u16).leading_zeros()) as usize;
    if width == 0 {
        return (Shape::default(), 0);
    }

    // 2. Planes, two per vector, and the number of dense ones.
    let mut planes = [_mm512_setzero_si512(); 8];
    planes[..4].copy_from_slice(&transpose(&values, load(&LOW_BYTES)));
    if width > 8 {
        planes[4..].copy_from_slice(&transpose(&values, load(&HIGH_BYTES)));
    }
    let start = out.as_mut_ptr();
    let mut masks = [0u64; 8];
    for i in 0..if width > 8 { 8 } else { 4 } {
        masks[i] = _mm512_test_epi8_mask(planes[i], planes[i]);
        // SAFETY: 16 planes of 32 bytes lie within `out`.
        unsafe { _mm512_storeu_si512(start.add(2 * PLANE_BYTES * i).cast(), planes[i]) };
    }
    let mask = |plane: usize| (masks[plane / 2] >> (PLANE_BYTES * (plane % 2))) as u32;
    let dense = (0..width)
        .rev()
        .find(|&plane| mask(plane).count_ones() >= MIN_DENSE_BYTES)
        .map_or(0, |last| last + 1);

    // 3. Groups of the sparse planes, then their masks and bytes.
    let mut groups = 0u64;
    let groups_at = PLANE_BYTES * dense;
    let groups_length = (width - dense).div_ceil(2);
    let mut at = groups_at + groups_length;
    for plane in dense..width {
        let mask = mask(plane);
        let group = nonzero_bytes(mask);
        groups |= u64::from(group) << (4 * (plane - dense));
        let pair = planes[plane / 2];
        let bytes = match plane % 2 {
            0 => _mm512_castsi512_si256(pair),
            _ => _mm512_extracti64x4_epi64::<1>(pair),
        };
        // SAFETY: a sparse plane takes at most 4 + 27 bytes, less than a dense one, and the
        // groups at most 8, so that `at` is at most 15 * PLANE_BYTES + 8; the stores end at most 36
        // bytes later, within MAX_UNIT.
        unsafe {
            let packed = _pext_u32(mask, spread_bits(group));
            start.add(at).cast::<u32>().write_unaligned(packed);
            at += group.count_ones() as usize;
            let packed = _mm256_maskz_compress_epi8(mask, bytes);
            _mm256_storeu_si256(start.add(at).cast(), packed);
            at += mask.count_ones() as usize;
        }
    }
    out[groups_at..groups_at + groups_length]
        .copy_from_slice(&groups.to_le_bytes()[..groups_length]);
    let shape = Shape {
        width: width as u8,
        dense: dense as u8,
    };
    (shape, at)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
fn decode_avx512(shape: Shape, bytes: &[u8; MAX_UNIT], unit: &mut [u16; UNIT]) -> usize {
    let (width, dense) = (usize::from(shape.width), usize::from(shape.dense));
    let start = bytes.as_ptr();
    let mut planes = [_mm256_setzero_si256(); 16];
    for (i, plane) in planes.iter_mut().enumerate().take(dense) {
        // SAFETY: 16 planes of 32 bytes lie within `bytes`.
        *plane = unsafe { _mm256_loadu_si256(start.add(PLANE_BYTES * i).cast()) };
    }
    let mut at = PLANE_BYTES * dense;
    // SAFETY: 8 bytes after at most 16 planes lie within `bytes`.
    let mut groups = unsafe { start.add(at).cast::<u64>().read_unaligned() };
    at += (width - dense).div_ceil(2);
    for plane in &mut planes[dense..width] {
        let group = (groups & 15) as u32;
        groups >>= 4;
        // SAFETY: a damaged stream may claim up to 4 + 32 bytes for a sparse plane, so that `at` is
        // at most 8 + 15 * 36; the reads end at most 36 bytes later, within MAX_UNIT.
        unsafe {
            let packed = start.add(at).cast::<u32>().read_unaligned();
            let mask = _pdep_u32(packed, spread_bits(group));
            at += group.count_ones() as usize;
            let packed = _mm256_loadu_si256(start.add(at).cast());
            *plane = _mm256_maskz_expand_epi8(mask, packed);
            at += mask.count_ones() as usize;
        }
    }
    let pair = |i: usize| {
        let low = _mm512_castsi256_si512(planes[2 * i]);
        _mm512_inserti64x4::<1>(low, planes[2 * i + 1])
    };
    let low = untranspose(std::array::from_fn(pair));
    let high = match width {
        0..=8 => [_mm512_setzero_si512(); 4],
        _ => untranspose(std::array::from_fn(|i| pair(i + 4))),
    };
    for (i, values) in unit.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let halves = [&FIRST_VALUES, &LAST_VALUES]
            .map(|order| _mm512_permutex2var_epi8(low[i], load(order), high[i]));
        for (values, half) in values.as_chunks_mut::<32>().0.iter_mut().zip(halves) {
            // SAFETY: the reference is to 64 bytes.
            unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), half) };
        }
    }
    at
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<T: bytemuck::Pod, const N: usize>(values: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() == 64) };
    // SAFETY: the reference is to 64 bytes.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

/// Planes of one byte of the values, two per vector; `order` selects that byte from two vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose(values: &[__m512i; 8], order: __m512i) -> [__m512i; 4] {
    // Word p of each vector: plane p of 64 values.
    let [a, b, c, d] = std::array::from_fn(|i| {
        let bytes = _mm512_permutex2var_epi8(values[2 * i], order, values[2 * i + 1]);
        let bits = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(DIAGONAL), bytes);
        _mm512_permutexvar_epi8(load(&BYTES_TO_WORDS), bits)
    });
    let four = [&FIRST_FOUR, &LAST_FOUR];
    let ab = four.map(|order| _mm512_permutex2var_epi64(a, load(order), b));
    let cd = four.map(|order| _mm512_permutex2var_epi64(c, load(order), d));
    std::array::from_fn(|i| {
        let two = if i % 2 == 0 { &FIRST_TWO } else { &LAST_TWO };
        _mm512_permutex2var_epi64(ab[i / 2], load(two), cd[i / 2])
    })
}

/// One byte of the values, 64 per vector, from planes, two per vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn untranspose(planes: [__m512i; 4]) -> [__m512i; 4] {
    let halves = |order: &[u64; 8]| {
        [0, 2].map(|i| _mm512_permutex2var_epi64(planes[i], load(order), planes[i + 1]))
    };
    let (first, last) = (halves(&FIRST_HALVES), halves(&LAST_HALVES));
    std::array::from_fn(|i| {
        let [low, high] = if i < 2 { first } else { last };
        let order = if i % 2 == 0 { &EVEN_WORDS } else { &ODD_WORDS };
        let words = _mm512_permutex2var_epi64(low, load(order), high);
        let bits = _mm512_permutexvar_epi8(load(&WORDS_TO_BYTES), words);
        _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(DIAGONAL), bits)
    })
}

/// 0xff in each of the four bytes whose bit is set.
#[inline]
#[target_feature(enable = "bmi2")]
fn spread_bits(group: u32) -> u32 {
    _pdep_u32(group, 0x0101_0101) * 0xff
}

/// The identity matrix: its affine product with a bit matrix whose rows are reversed is the transposed
/// matrix.
const DIAGONAL: i64 = 0x8040_2010_0804_0201_u64.cast_signed();

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

/// Low and high bytes of 64 values, in reverse order within each 8.
static LOW_BYTES: [u8; 64] = table!(i => 2 * (i / 8 * 8 + 7 - i % 8));
static HIGH_BYTES: [u8; 64] = table!(i => 2 * (i / 8 * 8 + 7 - i % 8) + 1);

/// Moves byte p of every word to word p, and back with the planes in reverse order.
static BYTES_TO_WORDS: [u8; 64] = table!(i => i % 8 * 8 + i / 8);
static WORDS_TO_BYTES: [u8; 64] = table!(i => (7 - i % 8) * 8 + i / 8);

/// Interleaves low and high bytes to 16-bit values.
static FIRST_VALUES: [u8; 64] = table!(i => i % 2 * 64 + i / 2);
static LAST_VALUES: [u8; 64] = table!(i => i % 2 * 64 + i / 2 + 32);

/// Interleaves the words of two vectors: planes 0 to 3, and planes 4 to 7.
static FIRST_FOUR: [u64; 8] = [0, 8, 1, 9, 2, 10, 3, 11];
static LAST_FOUR: [u64; 8] = [4, 12, 5, 13, 6, 14, 7, 15];

/// Joins four halves to two planes.
static FIRST_TWO: [u64; 8] = [0, 1, 8, 9, 2, 3, 10, 11];
static LAST_TWO: [u64; 8] = [4, 5, 12, 13, 6, 7, 14, 15];

/// The first and the second halves of four planes, and the even and odd words of those.
static FIRST_HALVES: [u64; 8] = [0, 1, 4, 5, 8, 9, 12, 13];
static LAST_HALVES: [u64; 8] = [2, 3, 6, 7, 10, 11, 14, 15];
static EVEN_WORDS: [u64; 8] = [0, 2, 4, 6, 8, 10, 12, 14];
static ODD_WORDS: [u64; 8] = [1, 3, 5, 7, 9, 11, 13, 15];
