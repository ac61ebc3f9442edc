//! Bit planes with AVX-512 (VBMI, VBMI2) and GFNI.
//!
//! A vector of 64 bytes is eight 8 × 8 bit matrices, which one instruction transposes; the rest is
//! permuting bytes and words. Units are eight vectors of 32 values, so that kernels can keep them in
//! registers.

use super::{MAX_UNIT, MIN_DENSE_BYTES, PLANE_BYTES, Shape, UNIT};
use crate::simd::Avx512;
use std::arch::x86_64::*;

/// The values of a unit in order.
pub(in crate::stage) type Unit = [__m512i; 8];

/// Encodes a unit; returns its shape and length.
#[inline(always)]
pub(super) fn encode(_: Avx512, unit: &[u16; UNIT], out: &mut [u8; MAX_UNIT]) -> (Shape, usize) {
    let mut planes = Planes::default();
    // SAFETY: the token exists only where the machine has these features, and `out` has the room.
    unsafe {
        planes.split(&load_unit(unit));
        planes.write(out.as_mut_ptr())
    }
}

/// The length of an encoded unit.
pub(super) fn encoded_length(_: Avx512, unit: &[u16; UNIT]) -> usize {
    let mut planes = Planes::default();
    // SAFETY: the token exists only where the machine has these features.
    unsafe {
        planes.split(&load_unit(unit));
        planes.length()
    }
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
    unsafe {
        let (values, length) = read::<false>(shape, bytes);
        store_unit(&values, unit);
        length
    }
}

/// Loads a unit.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::stage) fn load_unit(unit: &[u16; UNIT]) -> Unit {
    std::array::from_fn(|i| load(&unit.as_chunks::<32>().0[i]))
}

/// Stores a unit.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::stage) fn store_unit(values: &Unit, unit: &mut [u16; UNIT]) {
    for (values, to) in values.iter().zip(unit.as_chunks_mut::<32>().0) {
        // SAFETY: the reference is to 64 bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), *values) };
    }
}

/// Sparse planes are written in groups of this many: a loop that tests after each plane is slower.
const STRIDE: usize = 4;

/// Pairs of planes of a unit; the last ones are empty, because planes are written in strides.
const PAIRS: usize = (16 + STRIDE) / 2;

/// The planes of a unit, and which of their bytes are not zero.
#[derive(Default)]
#[repr(align(64))]
pub(in crate::stage) struct Planes {
    pairs: [Pair; PAIRS],
    /// One bit per byte. Zero for the planes above the width, whose bytes are not defined.
    masks: [u64; PAIRS],
    /// Four bits per plane: the groups of eight bytes that are not zero.
    groups: u64,
    /// One bit per plane: whether it has few zero bytes.
    dense: u32,
}

/// Two planes.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Pair([u8; 2 * PLANE_BYTES]);

impl Default for Pair {
    fn default() -> Self {
        Self([0; 2 * PLANE_BYTES])
    }
}

impl Planes {
    /// Splits a unit into its planes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
    pub fn split(&mut self, unit: &Unit) {
        let all = unit
            .iter()
            .fold(_mm512_setzero_si512(), |all, v| _mm512_or_si512(all, *v));
        let high_byte = _mm512_set1_epi16(0xff00_u16.cast_signed());
        (self.groups, self.dense) = (0, 0);
        self.set::<0>(transpose(unit, load(&LOW_BYTES)));
        if _mm512_test_epi16_mask(all, high_byte) != 0 {
            self.set::<4>(transpose(unit, load(&HIGH_BYTES)));
        } else {
            self.masks[4..8].fill(0);
        }
    }

    /// Sets four pairs.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
    fn set<const FIRST: usize>(&mut self, pairs: [__m512i; 4]) {
        for (pair, i) in pairs.into_iter().zip(FIRST..) {
            let mask = _mm512_test_epi8_mask(pair, pair);
            let groups = u64::from(_mm512_test_epi64_mask(pair, pair));
            let dense = |mask: u32| (mask.count_ones() + 32 - MIN_DENSE_BYTES) >> 5;
            self.masks[i] = mask;
            self.groups |= groups << (8 * i);
            self.dense |= (dense(mask as u32) | dense((mask >> 32) as u32) << 1) << (2 * i);
            // SAFETY: the reference is to 64 bytes.
            unsafe { _mm512_storeu_si512(self.pairs[i].0.as_mut_ptr().cast(), pair) };
        }
    }

    /// Width, and number of dense planes.
    #[inline(always)]
    fn shape(&self) -> Shape {
        Shape {
            width: ((67 - self.groups.leading_zeros()) / 4) as u8,
            dense: (32 - self.dense.leading_zeros()) as u8,
        }
    }

    /// Writes the unit; returns its shape and length.
    ///
    /// # Safety
    /// `MAX_UNIT` bytes must be writable at `out`.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
    pub unsafe fn write(&self, out: *mut u8) -> (Shape, usize) {
        let shape = self.shape();
        let (width, dense) = (usize::from(shape.width), usize::from(shape.dense));
        // Stores more planes than the dense ones: a loop of variable length is slower.
        let store = |i: usize| {
            let pair = load(&self.pairs[i].0);
            // SAFETY: 16 planes of 32 bytes lie within MAX_UNIT.
            unsafe { _mm512_storeu_si512(out.add(2 * PLANE_BYTES * i).cast(), pair) };
        };
        (0..4).for_each(store);
        if dense > 8 {
            (4..8).for_each(store);
        }
        let mut at = PLANE_BYTES * dense;
        let mut groups = self.groups >> (2 * dense) >> (2 * dense);
        // SAFETY: 8 bytes after at most 16 planes lie within MAX_UNIT. The sparse planes overwrite
        // those that are not needed.
        unsafe { out.add(at).cast::<u64>().write_unaligned(groups) };
        at += (width - dense).div_ceil(2);
        let (planes, masks) = (self.pairs.as_ptr(), self.masks.as_ptr());
        let mut plane = dense;
        loop {
            for _ in 0..STRIDE {
                let group = (groups & 15) as u32;
                groups >>= 4;
                // SAFETY: planes are read up to 16 + STRIDE, which is what there is; those above
                // the width have no bytes. A sparse plane takes at most 4 + 27 bytes, less than a
                // dense one, and the groups at most 8, so that `at` is at most 16 * PLANE_BYTES + 8;
                // the stores end at most 36 bytes later, within MAX_UNIT.
                unsafe {
                    let mask = *masks.cast::<u32>().add(plane);
                    let bytes = _mm256_loadu_si256(planes.cast::<__m256i>().add(plane));
                    let packed = _pext_u32(mask, spread_bits(group));
                    out.add(at).cast::<u32>().write_unaligned(packed);
                    at += group.count_ones() as usize;
                    let packed = _mm256_maskz_compress_epi8(mask, bytes);
                    _mm256_storeu_si256(out.add(at).cast(), packed);
                    at += mask.count_ones() as usize;
                }
                plane += 1;
            }
            if plane >= width {
                return (shape, at);
            }
        }
    }

    /// The length that [`Self::write`] returns.
    #[inline]
    #[target_feature(enable = "popcnt,lzcnt")]
    fn length(&self) -> usize {
        let shape = self.shape();
        let (width, dense) = (usize::from(shape.width), usize::from(shape.dense));
        let groups = self.groups >> (2 * dense) >> (2 * dense);
        let masks: &[u32; 2 * PAIRS] = bytemuck::cast_ref(&self.masks);
        let bytes: u32 = masks[dense..width]
            .iter()
            .map(|mask| mask.count_ones())
            .sum();
        PLANE_BYTES * dense + (width - dense).div_ceil(2) + (groups.count_ones() + bytes) as usize
    }
}

/// Reads the unit of this shape; returns its values and its length. `SIGNED`: undoes zigzag.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
pub(in crate::stage) fn read<const SIGNED: bool>(
    shape: Shape,
    bytes: &[u8; MAX_UNIT],
) -> (Unit, usize) {
    let (width, dense) = (usize::from(shape.width), usize::from(shape.dense));
    let start = bytes.as_ptr();
    let mut sparse = [const { std::mem::MaybeUninit::<__m256i>::uninit() }; 16 + STRIDE];
    // Planes above the width are zero.
    for plane in &mut sparse[..8] {
        plane.write(_mm256_setzero_si256());
    }
    if width > 8 {
        for plane in &mut sparse[8..16] {
            plane.write(_mm256_setzero_si256());
        }
    }
    let mut at = PLANE_BYTES * dense;
    // SAFETY: 8 bytes after at most 16 planes lie within `bytes`.
    let groups = unsafe { start.add(at).cast::<u64>().read_unaligned() };
    let mut groups = _bzhi_u64(groups, 4 * (width - dense) as u32);
    at += (width - dense).div_ceil(2);
    let mut plane = dense;
    while plane < width {
        for _ in 0..STRIDE {
            let group = (groups & 15) as u32;
            groups >>= 4;
            // SAFETY: a damaged stream may claim up to 4 + 32 bytes for a sparse plane, so that `at`
            // is at most 8 + 16 * 36; the reads end at most 36 bytes later, within MAX_UNIT.
            // There is memory for 16 + STRIDE planes.
            unsafe {
                let packed = start.add(at).cast::<u32>().read_unaligned();
                let mask = _pdep_u32(packed, spread_bits(group));
                at += group.count_ones() as usize;
                let packed = _mm256_loadu_si256(start.add(at).cast());
                let values = _mm256_maskz_expand_epi8(mask, packed);
                sparse
                    .as_mut_ptr()
                    .add(plane)
                    .cast::<__m256i>()
                    .write(values);
                at += mask.count_ones() as usize;
            }
            plane += 1;
        }
    }
    let plane = |i: usize| {
        let from = if i < dense {
            start
        } else {
            sparse.as_ptr().cast()
        };
        // SAFETY: dense planes lie within `bytes`; of the others, those below 8 have been written, and
        // those from 8 on if the width is above 8, without which they are not asked for.
        unsafe { _mm256_loadu_si256(from.add(PLANE_BYTES * i).cast()) }
    };
    let pair = |low, high| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    let wide = width > 8;
    if !SIGNED {
        let pairs = |first: usize| {
            std::array::from_fn(|i| pair(plane(first + 2 * i), plane(first + 2 * i + 1)))
        };
        let low = untranspose(pairs(0));
        let unit = match wide {
            false => halves(low, |v| _mm512_cvtepu8_epi16(v)),
            true => interleave(low, untranspose(pairs(8))),
        };
        return (unit, at);
    }
    // Bit i of a number is bit i + 1 of its zigzag code, complemented if bit 0, the sign, is set.
    let sign = plane(0);
    let number = |i: usize| _mm256_xor_si256(plane(i + 1), sign);
    let pairs = |first: usize| {
        std::array::from_fn(|i| {
            let (low, high) = (first + 2 * i, first + 2 * i + 1);
            let top = if wide { 15 } else { 7 };
            pair(number(low), if high == top { sign } else { number(high) })
        })
    };
    let low = untranspose(pairs(0));
    let unit = match wide {
        false => halves(low, |v| _mm512_cvtepi8_epi16(v)),
        true => interleave(low, untranspose(pairs(8))),
    };
    (unit, at)
}

/// Widens bytes to values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn halves(bytes: [__m512i; 4], widen: impl Fn(__m256i) -> __m512i) -> Unit {
    std::array::from_fn(|i| {
        widen(match i % 2 {
            0 => _mm512_castsi512_si256(bytes[i / 2]),
            _ => _mm512_extracti64x4_epi64::<1>(bytes[i / 2]),
        })
    })
}

/// Joins low and high bytes to values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn interleave(low: [__m512i; 4], high: [__m512i; 4]) -> Unit {
    std::array::from_fn(|i| {
        let order = if i % 2 == 0 {
            &FIRST_VALUES
        } else {
            &LAST_VALUES
        };
        _mm512_permutex2var_epi8(low[i / 2], load(order), high[i / 2])
    })
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::stage) fn load<T: bytemuck::Pod, const N: usize>(values: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() == 64) };
    // SAFETY: the reference is to 64 bytes.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

/// Planes of one byte of the values, two per vector; `order` selects that byte from two vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose(values: &Unit, order: __m512i) -> [__m512i; 4] {
    // Byte p of word b of each vector: plane p of the values 8b … 8b + 7 of 64.
    let [a, b, c, d] = std::array::from_fn(|i| {
        let bytes = _mm512_permutex2var_epi8(values[2 * i], order, values[2 * i + 1]);
        _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(DIAGONAL), bytes)
    });
    // Four halves of planes per vector.
    let four = [&FIRST_FOUR, &LAST_FOUR];
    let ab = four.map(|order| _mm512_permutex2var_epi8(a, load(order), b));
    let cd = four.map(|order| _mm512_permutex2var_epi8(c, load(order), d));
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
        let order = if i % 2 == 0 {
            &FIRST_WORDS
        } else {
            &LAST_WORDS
        };
        let bits = _mm512_permutex2var_epi8(low, load(order), high);
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
pub(in crate::stage) const DIAGONAL: i64 = 0x8040_2010_0804_0201_u64.cast_signed();

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

/// From two vectors with byte p of every word for plane p: the 16 bytes of planes 0 to 3, and of
/// planes 4 to 7.
pub(in crate::stage) static FIRST_FOUR: [u8; 64] =
    table!(i => i % 16 / 8 * 64 + i % 8 * 8 + i / 16);
pub(in crate::stage) static LAST_FOUR: [u8; 64] =
    table!(i => i % 16 / 8 * 64 + i % 8 * 8 + i / 16 + 4);

/// Joins four halves to two planes.
static FIRST_TWO: [u64; 8] = [0, 1, 8, 9, 2, 3, 10, 11];
static LAST_TWO: [u64; 8] = [4, 5, 12, 13, 6, 7, 14, 15];

/// The first and the second halves of four planes.
static FIRST_HALVES: [u64; 8] = [0, 1, 4, 5, 8, 9, 12, 13];
static LAST_HALVES: [u64; 8] = [2, 3, 6, 7, 10, 11, 14, 15];

/// From two vectors with 16 bytes of four planes each: words with one byte of every plane, in reverse
/// order, for the first and the last 64 values.
pub(in crate::stage) static FIRST_WORDS: [u8; 64] =
    table!(i => (7 - i % 8) / 4 * 64 + (7 - i % 8) % 4 * 16 + i / 8);
pub(in crate::stage) static LAST_WORDS: [u8; 64] =
    table!(i => (7 - i % 8) / 4 * 64 + (7 - i % 8) % 4 * 16 + i / 8 + 8);

/// Interleaves low and high bytes to 16-bit values.
static FIRST_VALUES: [u8; 64] = table!(i => i % 2 * 64 + i / 2);
static LAST_VALUES: [u8; 64] = table!(i => i % 2 * 64 + i / 2 + 32);
