//! The inner loops for 16-bit residuals with AVX2: compact and expand eight residuals at a time with
//! a byte shuffle from a table indexed by the mask.

use super::MASKS;
use crate::simd::Avx2;
use crate::stage::UNIT;
use std::arch::x86_64::*;

/// Shuffle that compacts eight residuals, for each mask.
static COMPACT: [[u8; 16]; 256] = shuffles(true);
/// Shuffle that expands eight residuals, for each mask; 0x80 gives 0.
static EXPAND: [[u8; 16]; 256] = shuffles(false);

const fn shuffles(compact: bool) -> [[u8; 16]; 256] {
    let mut table = [[0x80; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                let (to, from) = if compact {
                    (count, lane)
                } else {
                    (lane, count)
                };
                table[mask][2 * to] = 2 * from as u8;
                table[mask][2 * to + 1] = 2 * from as u8 + 1;
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

pub(super) fn masks(_: Avx2, unit: &[u16; UNIT]) -> ([u8; MASKS], usize) {
    #[target_feature(enable = "avx2,popcnt")]
    fn with_avx2(unit: &[u16; UNIT]) -> ([u8; MASKS], usize) {
        let mut masks = [0; MASKS];
        let mut count = 0;
        for (four, values) in masks.chunks_exact_mut(4).zip(unit.chunks_exact(32)) {
            let zero = _mm256_setzero_si256();
            // SAFETY: there are 32 values of two bytes.
            let (a, b) = unsafe {
                let at = values.as_ptr().cast::<__m256i>();
                (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1)))
            };
            let zeros =
                _mm256_packs_epi16(_mm256_cmpeq_epi16(a, zero), _mm256_cmpeq_epi16(b, zero));
            let in_order = _mm256_permute4x64_epi64::<0b11_01_10_00>(zeros);
            let bits = !_mm256_movemask_epi8(in_order);
            four.copy_from_slice(&bits.to_le_bytes());
            count += bits.count_ones() as usize;
        }
        (masks, count)
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx2(unit) }
}

pub(super) fn compact(_: Avx2, unit: &[u16; UNIT], masks: &[u8; MASKS], out: &mut [u16; UNIT]) {
    #[target_feature(enable = "avx2,popcnt")]
    fn with_avx2(unit: &[u16; UNIT], masks: &[u8; MASKS], out: &mut [u16; UNIT]) {
        // Every store writes eight values, at or before the position of the octet in the unit.
        let mut to = out.as_mut_ptr();
        for (octet, &mask) in unit.chunks_exact(8).zip(masks) {
            // SAFETY: an octet is 16 bytes; octet j is stored at position 8 j of 256 or before.
            unsafe {
                let values = _mm_loadu_si128(octet.as_ptr().cast());
                let shuffle = _mm_loadu_si128(COMPACT[usize::from(mask)].as_ptr().cast());
                _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(values, shuffle));
                to = to.add(mask.count_ones() as usize);
            }
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx2(unit, masks, out) }
}

pub(super) fn expand(_: Avx2, values: &[u16; UNIT], masks: &[u8; MASKS], unit: &mut [u16; UNIT]) {
    #[target_feature(enable = "avx2,popcnt")]
    fn with_avx2(values: &[u16; UNIT], masks: &[u8; MASKS], unit: &mut [u16; UNIT]) {
        // Every load reads eight values, at or before the position of the octet in the unit.
        let mut from = values.as_ptr();
        for (octet, &mask) in unit.chunks_exact_mut(8).zip(masks) {
            // SAFETY: an octet is 16 bytes; octet j is loaded from position 8 j of 256 or before.
            unsafe {
                let packed = _mm_loadu_si128(from.cast());
                let shuffle = _mm_loadu_si128(EXPAND[usize::from(mask)].as_ptr().cast());
                _mm_storeu_si128(octet.as_mut_ptr().cast(), _mm_shuffle_epi8(packed, shuffle));
                from = from.add(mask.count_ones() as usize);
            }
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx2(values, masks, unit) }
}
