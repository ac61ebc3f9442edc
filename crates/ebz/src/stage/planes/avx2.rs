//! Bit planes with AVX2 and BMI2.
//!
//! A unit is 16 vectors of 16 values. Its low bytes form 8 vectors. Rounds of interleaving sort their
//! bytes by index modulo 8; then swapping bits between the vectors gives one plane per vector, with
//! 8 adjacent values in every byte. The same for the high bytes.

use super::{MAX_UNIT, MIN_DENSE_BYTES, PLANE_BYTES, Shape, UNIT};
use crate::simd::Avx2;
use std::arch::x86_64::*;

type Vector = __m256i;

/// Encodes a unit; returns its shape and length.
#[inline(always)]
pub(super) fn encode(_: Avx2, unit: &[u16; UNIT], out: &mut [u8; MAX_UNIT]) -> (Shape, usize) {
    // SAFETY: the token exists only where the machine has these features, and `out` has the room.
    unsafe { write(unit, out.as_mut_ptr()) }
}

/// Decodes a unit of this shape; returns its length.
#[inline(always)]
pub(super) fn decode(
    _: Avx2,
    shape: Shape,
    bytes: &[u8; MAX_UNIT],
    unit: &mut [u16; UNIT],
) -> usize {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { decode_avx2(shape, bytes, unit) }
}

/// Writes a unit; returns its shape and length.
///
/// # Safety
/// There must be room for `MAX_UNIT` bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(in crate::stage) unsafe fn write(unit: &[u16; UNIT], start: *mut u8) -> (Shape, usize) {
    // 1. Width.
    let mut all = _mm256_setzero_si256();
    for i in 0..16 {
        all = _mm256_or_si256(all, load_values(unit, i));
    }
    let folded = _mm_or_si128(
        _mm256_castsi256_si128(all),
        _mm256_extracti128_si256::<1>(all),
    );
    let folded = _mm_or_si128(folded, _mm_srli_si128::<8>(folded));
    let used = _mm_cvtsi128_si64(folded).cast_unsigned();
    let used = used | used >> 32;
    let width = (u16::BITS - ((used | used >> 16) as u16).leading_zeros()) as usize;
    if width == 0 {
        return (Shape::default(), 0);
    }

    // 2. Planes, and the number of dense ones.
    let mut planes = [_mm256_setzero_si256(); 16];
    let low = transpose_low(unit);
    planes[..8].copy_from_slice(&low);
    if width > 8 {
        planes[8..].copy_from_slice(&transpose_high(unit));
    }
    let mut masks = [0u32; 16];
    let mut dense = 0;
    for (i, (plane, mask)) in planes.iter().zip(&mut masks).take(width).enumerate() {
        let zero = _mm256_cmpeq_epi8(*plane, _mm256_setzero_si256());
        *mask = !_mm256_movemask_epi8(zero).cast_unsigned();
        if mask.count_ones() >= MIN_DENSE_BYTES {
            dense = i + 1;
        }
    }
    // Stores more planes than the dense ones: a loop of variable length is slower.
    let store = |i: usize| {
        // SAFETY: there is room for 16 planes of 32 bytes.
        unsafe { _mm256_storeu_si256(start.add(PLANE_BYTES * i).cast(), planes[i]) };
    };
    (0..8).for_each(store);
    if dense > 8 {
        (8..16).for_each(store);
    }
    let mut at = PLANE_BYTES * dense;

    // 3. Groups of the sparse planes, then their masks and bytes.
    let mut groups = 0u64;
    let groups_at = at;
    at += (width - dense).div_ceil(2);
    for i in dense..width {
        let mask = masks[i];
        let group = nonzero_bytes(mask);
        groups |= u64::from(group) << (4 * (i - dense));
        let packed = _pext_u32(mask, GROUP_BYTES[group as usize]);
        // SAFETY: a sparse plane takes at most 4 + 27 bytes, less than a dense one, and the
        // groups at most 8, so that `at` is at most 15 * PLANE_BYTES + 8; the stores end at most 36
        // bytes later, within MAX_UNIT.
        unsafe {
            start.add(at).cast::<u32>().write_unaligned(packed);
            at += group.count_ones() as usize;
            at += pack_bytes(planes[i], mask, start.add(at));
        }
    }
    let bytes = groups.to_le_bytes();
    let used = (width - dense).div_ceil(2);
    // SAFETY: the groups lie before the sparse planes.
    unsafe {
        start
            .add(groups_at)
            .copy_from_nonoverlapping(bytes.as_ptr(), used)
    };
    let shape = Shape {
        width: width as u8,
        dense: dense as u8,
    };
    (shape, at)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode_avx2(shape: Shape, bytes: &[u8; MAX_UNIT], unit: &mut [u16; UNIT]) -> usize {
    let (width, dense) = (usize::from(shape.width), usize::from(shape.dense));
    let mut planes = [_mm256_setzero_si256(); 16];
    let start = bytes.as_ptr();
    let mut at = 0;
    for plane in &mut planes[..dense] {
        // SAFETY: at most 16 planes of 32 bytes lie within `bytes`.
        *plane = unsafe { _mm256_loadu_si256(start.add(at).cast()) };
        at += PLANE_BYTES;
    }
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
            let mask = _pdep_u32(packed, GROUP_BYTES[group as usize]);
            at += group.count_ones() as usize;
            *plane = unpack_bytes(mask, start.add(at));
            at += mask.count_ones() as usize;
        }
    }
    let [low, high] = [0, 8].map(|i| std::array::from_fn(|j| planes[i + j]));
    let low = untranspose(low);
    let high = (width > 8).then(|| untranspose(high));
    for i in 0..8 {
        let (mut first, mut second) = widen(low[i]);
        if let Some(high) = high {
            let (first_high, second_high) = widen(high[i]);
            first = _mm256_or_si256(first, _mm256_slli_epi16::<8>(first_high));
            second = _mm256_or_si256(second, _mm256_slli_epi16::<8>(second_high));
        }
        store_values(unit, i, first);
        store_values(unit, i + 8, second);
    }
    at
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_values(unit: &[u16; UNIT], i: usize) -> Vector {
    let values: &[u16; 16] = &unit.as_chunks().0[i];
    // SAFETY: the reference is to 32 bytes.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_values(unit: &mut [u16; UNIT], i: usize, vector: Vector) {
    let values: &mut [u16; 16] = &mut unit.as_chunks_mut().0[i];
    // SAFETY: the reference is to 32 bytes.
    unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), vector) };
}

/// Planes 0 to 7.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_low(unit: &[u16; UNIT]) -> [Vector; 8] {
    let mask = _mm256_set1_epi16(0x00ff);
    transpose(std::array::from_fn(|i| {
        let first = _mm256_and_si256(load_values(unit, i), mask);
        let second = _mm256_and_si256(load_values(unit, i + 8), mask);
        _mm256_packus_epi16(first, second)
    }))
}

/// Planes 8 to 15.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_high(unit: &[u16; UNIT]) -> [Vector; 8] {
    transpose(std::array::from_fn(|i| {
        let first = _mm256_srli_epi16::<8>(load_values(unit, i));
        let second = _mm256_srli_epi16::<8>(load_values(unit, i + 8));
        _mm256_packus_epi16(first, second)
    }))
}

/// Planes of the bytes of packed pairs of vectors (16i …, 128 + 16i …).
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(packed: [Vector; 8]) -> [Vector; 8] {
    // Bits of a value's index: lane 7, byte 3210, vector 654. Each round moves the top bit of the
    // byte to the vector and one bit of the vector to the bottom of the byte.
    let a = packed.map(|v| _mm256_permute4x64_epi64::<0xd8>(v));
    let b = interleave::<4>(a);
    let c = interleave::<2>(b);
    let d = interleave::<1>(c);
    // Now: lane 7, byte 0654, vector 321 -> lane 7, byte 6543, vector 021.
    let e = interleave::<4>(d);
    // The vectors are in the order 021; `swap_vectors` needs 210.
    swap_vectors([e[0], e[4], e[1], e[5], e[2], e[6], e[3], e[7]])
}

/// Inverts [`transpose`]; the bytes in each half are in natural order (16i …, 128 + 16i …).
#[inline]
#[target_feature(enable = "avx2")]
fn untranspose(planes: [Vector; 8]) -> [Vector; 8] {
    // Bits of a value's index: lane 7, byte 6543, vector 210; three rounds lead to lane 7, byte
    // 3210, vector 654.
    interleave::<1>(interleave::<2>(interleave::<4>(swap_vectors(planes))))
}

/// Interleaves the bytes of vectors whose indices differ only in one bit.
#[inline]
#[target_feature(enable = "avx2")]
fn interleave<const BIT: usize>(v: [Vector; 8]) -> [Vector; 8] {
    let mut out = v;
    for i in 0..8 {
        if i & BIT == 0 {
            out[i] = _mm256_unpacklo_epi8(v[i], v[i | BIT]);
            out[i | BIT] = _mm256_unpackhi_epi8(v[i], v[i | BIT]);
        }
    }
    out
}

/// Swaps bit j of each byte of vector i with bit i of vector j.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_vectors(mut v: [Vector; 8]) -> [Vector; 8] {
    let nibbles = _mm256_set1_epi8(0x0f);
    let pairs = _mm256_set1_epi8(0x33);
    let bits = _mm256_set1_epi8(0x55);
    for i in 0..4 {
        (v[i], v[i + 4]) = swap_bits::<4>(v[i], v[i + 4], nibbles);
    }
    for i in [0, 1, 4, 5] {
        (v[i], v[i + 2]) = swap_bits::<2>(v[i], v[i + 2], pairs);
    }
    for i in [0, 2, 4, 6] {
        (v[i], v[i + 1]) = swap_bits::<1>(v[i], v[i + 1], bits);
    }
    v
}

/// Swaps the bits of `low` above `mask` with those of `high` within it.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_bits<const SHIFT: i32>(low: Vector, high: Vector, mask: Vector) -> (Vector, Vector) {
    let moved = _mm256_xor_si256(_mm256_srli_epi16::<SHIFT>(low), high);
    let moved = _mm256_and_si256(moved, mask);
    (
        _mm256_xor_si256(low, _mm256_slli_epi16::<SHIFT>(moved)),
        _mm256_xor_si256(high, moved),
    )
}

/// Widens the bytes of each half to 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(bytes: Vector) -> (Vector, Vector) {
    (
        _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes)),
        _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(bytes)),
    )
}

/// Bitmap of the nonzero bytes of a word.
#[inline]
#[target_feature(enable = "bmi2")]
pub(super) fn nonzero_bytes(mask: u32) -> u32 {
    let folded = mask | (mask >> 4 & 0x0f0f_0f0f);
    let folded = folded | folded >> 2;
    _pext_u32(folded | folded >> 1, 0x0101_0101)
}

/// Writes the bytes of a plane that the mask selects, without gaps; returns their number.
///
/// # Safety
/// `to` must have room for 32 bytes.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
unsafe fn pack_bytes(plane: Vector, mask: u32, to: *mut u8) -> usize {
    let mut at = 0;
    let halves = [
        _mm256_castsi256_si128(plane),
        _mm256_extracti128_si256::<1>(plane),
    ];
    for (i, half) in halves.into_iter().enumerate() {
        let words = [
            _mm_cvtsi128_si64(half).cast_unsigned(),
            _mm_extract_epi64::<1>(half).cast_unsigned(),
        ];
        for (j, word) in words.into_iter().enumerate() {
            let mask = mask >> (16 * i + 8 * j) & 0xff;
            let packed = _pext_u64(word, BYTE_MASKS[mask as usize]);
            // SAFETY: at most 24 bytes come before these 8.
            unsafe { to.add(at).cast::<u64>().write_unaligned(packed) };
            at += mask.count_ones() as usize;
        }
    }
    at
}

/// Inverts [`pack_bytes`]; other bytes are zero.
///
/// # Safety
/// 32 bytes must be readable at `from`.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
unsafe fn unpack_bytes(mask: u32, from: *const u8) -> Vector {
    let mut words = [0i64; 4];
    let mut at = 0;
    for (i, word) in words.iter_mut().enumerate() {
        let mask = mask >> (8 * i) & 0xff;
        // SAFETY: at most 24 bytes come before these 8.
        let packed = unsafe { from.add(at).cast::<u64>().read_unaligned() };
        *word = _pdep_u64(packed, BYTE_MASKS[mask as usize]).cast_signed();
        at += mask.count_ones() as usize;
    }
    _mm256_set_epi64x(words[3], words[2], words[1], words[0])
}

/// 0xff in every byte whose bit is set in the index.
static BYTE_MASKS: [u64; 256] = {
    let mut masks = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut bit = 0;
        while bit < 8 {
            if mask >> bit & 1 == 1 {
                masks[mask] |= 0xff << (8 * bit);
            }
            bit += 1;
        }
        mask += 1;
    }
    masks
};

/// The same for four bytes.
static GROUP_BYTES: [u32; 16] = {
    let mut masks = [0; 16];
    let mut mask = 0;
    while mask < 16 {
        masks[mask] = BYTE_MASKS[mask] as u32;
        mask += 1;
    }
    masks
};
