//! Bit transposition of 64 coefficients of 32 bits in 8 blocks.

use super::super::lanes::{LANES, Lanes};
use super::super::planes::{Planes, sequency};
use std::arch::x86_64::*;

/// Raster position of each sequency rank.
const ORDER: [u8; 64] = sequency::<64>();

/// Transposes an 8 × 8 matrix: columns of 8 blocks to rows of 8 coefficients, and back.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_square(rows: [__m256i; 8]) -> [__m256i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    let pairs = |x, y| (_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y));
    let ((ab0, ab1), (cd0, cd1)) = (pairs(a, b), pairs(c, d));
    let ((ef0, ef1), (gh0, gh1)) = (pairs(e, f), pairs(g, h));
    let quads = |x, y| (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
    let ((p0, p1), (p2, p3)) = (quads(ab0, cd0), quads(ab1, cd1));
    let ((q0, q1), (q2, q3)) = (quads(ef0, gh0), quads(ef1, gh1));
    let low = |x, y| _mm256_permute2x128_si256::<0x20>(x, y);
    let high = |x, y| _mm256_permute2x128_si256::<0x31>(x, y);
    [
        low(p0, q0),
        low(p1, q1),
        low(p2, q2),
        low(p3, q3),
        high(p0, q0),
        high(p1, q1),
        high(p2, q2),
        high(p3, q3),
    ]
}

/// Computes the top `needed` ≤ 32 planes of each block, and stores them from plane `at` on.
#[inline]
#[target_feature(enable = "avx2")]
pub fn split(columns: &[Lanes<i32>; 64], needed: u32, at: usize, planes: &mut [Planes; LANES]) {
    let mut rows = [[_mm256_setzero_si256(); 8]; LANES];
    for part in 0..8 {
        let mut square = [_mm256_setzero_si256(); 8];
        for (i, row) in square.iter_mut().enumerate() {
            let column = &columns[usize::from(ORDER[8 * part + i])];
            // SAFETY: a column is 32 bytes.
            *row = unsafe { _mm256_loadu_si256(column.as_ptr().cast()) };
        }
        for (lane, row) in transpose_square(square).into_iter().enumerate() {
            rows[lane][part] = row;
        }
    }
    let in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let byte = _mm256_set1_epi32(0xff);
    for (row, planes) in rows.iter().zip(planes) {
        for top in (0..needed).step_by(8) {
            let shift = _mm_cvtsi32_si128(24 - top as i32);
            // The bytes of 32 coefficients that contain these eight planes.
            let bytes = |from: usize| {
                let part =
                    |i: usize| _mm256_and_si256(_mm256_srl_epi32(row[from + i], shift), byte);
                let words01 = _mm256_packus_epi32(part(0), part(1));
                let words23 = _mm256_packus_epi32(part(2), part(3));
                _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words01, words23), in_order)
            };
            let (mut low, mut high) = (bytes(0), bytes(4));
            for plane in &mut planes[at + top as usize..][..8] {
                let top_bits = |v| u64::from(_mm256_movemask_epi8(v) as u32);
                *plane = top_bits(low) | top_bits(high) << 32;
                low = _mm256_add_epi8(low, low);
                high = _mm256_add_epi8(high, high);
            }
        }
    }
}

/// Inverts [`split`]; planes from `given` up to the next multiple of eight must be zero.
#[inline]
#[target_feature(enable = "avx2")]
pub fn join(
    planes: &[Planes; LANES],
    given: &Lanes<u32>,
    at: usize,
    columns: &mut [Lanes<i32>; 64],
) {
    let zero = _mm256_setzero_si256();
    let mut rows = [[zero; 8]; LANES];
    for lane in 0..LANES {
        let mut bytes = [[zero; 2]; 4];
        for (group, bytes) in bytes.iter_mut().enumerate() {
            if given[lane] as usize > 8 * group {
                let eight = &planes[lane][at + 8 * group..][..8];
                *bytes = bytes_of(eight);
            }
        }
        for half in 0..2 {
            let [b0, b1, b2, b3] = [
                bytes[0][half],
                bytes[1][half],
                bytes[2][half],
                bytes[3][half],
            ];
            let (low0, high0) = (_mm256_unpacklo_epi8(b3, b2), _mm256_unpacklo_epi8(b1, b0));
            let (low1, high1) = (_mm256_unpackhi_epi8(b3, b2), _mm256_unpackhi_epi8(b1, b0));
            // These are coefficients 0–3 and 16–19, 4–7 and 20–23, …: reorder the halves.
            let c0 = _mm256_unpacklo_epi16(low0, high0);
            let c1 = _mm256_unpackhi_epi16(low0, high0);
            let c2 = _mm256_unpacklo_epi16(low1, high1);
            let c3 = _mm256_unpackhi_epi16(low1, high1);
            rows[lane][4 * half] = _mm256_permute2x128_si256::<0x20>(c0, c1);
            rows[lane][4 * half + 1] = _mm256_permute2x128_si256::<0x20>(c2, c3);
            rows[lane][4 * half + 2] = _mm256_permute2x128_si256::<0x31>(c0, c1);
            rows[lane][4 * half + 3] = _mm256_permute2x128_si256::<0x31>(c2, c3);
        }
    }
    for part in 0..8 {
        let mut square = [zero; 8];
        for (to, row) in square.iter_mut().zip(&rows) {
            *to = row[part];
        }
        let square = transpose_square(square);
        for (i, column) in square.into_iter().enumerate() {
            let to = &mut columns[usize::from(ORDER[8 * part + i])];
            // SAFETY: a column is 32 bytes.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), column) };
        }
    }
}

/// Converts eight planes of 64 bits, top one first, to the bytes of coefficients 0–31 and 32–63.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(planes: &[u64]) -> [__m256i; 2] {
    assert!(planes.len() == 8);
    let four = |from: usize| {
        // SAFETY: there are eight planes.
        unsafe { _mm256_loadu_si256(planes.as_ptr().add(from).cast()) }
    };
    // The lowest plane first, so that it becomes the lowest bit.
    let reversed = |v| _mm256_permute4x64_epi64::<0b00_01_10_11>(v);
    let interleave = _mm256_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5,
        13, 6, 14, 7, 15,
    );
    let a = _mm256_shuffle_epi8(reversed(four(4)), interleave);
    let b = _mm256_shuffle_epi8(reversed(four(0)), interleave);
    let even = _mm256_permute2x128_si256::<0x20>(a, b);
    let odd = _mm256_permute2x128_si256::<0x31>(a, b);
    let in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    [
        transpose_bits(_mm256_permutevar8x32_epi32(
            _mm256_unpacklo_epi16(even, odd),
            in_order,
        )),
        transpose_bits(_mm256_permutevar8x32_epi32(
            _mm256_unpackhi_epi16(even, odd),
            in_order,
        )),
    ]
}

/// Transposes the 8 × 8 bit matrix in each 64-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_bits(square: __m256i) -> __m256i {
    let step = |x: __m256i, moved: __m256i, mask: u64| {
        _mm256_and_si256(_mm256_xor_si256(x, moved), _mm256_set1_epi64x(mask as i64))
    };
    let both = |x, swap, back| _mm256_xor_si256(x, _mm256_xor_si256(swap, back));
    let swap = step(
        square,
        _mm256_srli_epi64::<7>(square),
        0x00aa_00aa_00aa_00aa,
    );
    let square = both(square, swap, _mm256_slli_epi64::<7>(swap));
    let swap = step(
        square,
        _mm256_srli_epi64::<14>(square),
        0x0000_cccc_0000_cccc,
    );
    let square = both(square, swap, _mm256_slli_epi64::<14>(swap));
    let swap = step(
        square,
        _mm256_srli_epi64::<28>(square),
        0x0000_0000_f0f0_f0f0,
    );
    both(square, swap, _mm256_slli_epi64::<28>(swap))
}
