//! Portable implementation, lane by lane.

use super::Thresholds;
use crate::bits::{BitReader, BitWriter};
use crate::stage::rans::LANES;

/// Number of low bits of each lane.
fn widths(sums: &[u8; LANES], thresholds: &Thresholds) -> [u32; LANES] {
    sums.map(|sum| {
        thresholds
            .iter()
            .filter(|&&threshold| sum >= threshold)
            .count() as u32
    })
}

/// Half a step, which makes the quotient round to nearest.
fn half(width: u32) -> i32 {
    (1 << width) >> 1
}

/// See [`super::split`].
pub(super) fn split(
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    out: &mut BitWriter,
) {
    let widths = widths(sums, thresholds);
    let mut low = [0u32; LANES];
    for ((residual, low), &width) in residuals.iter_mut().zip(&mut low).zip(&widths) {
        let shifted = i32::from(*residual) + half(width);
        *residual = (shifted >> width) as i16;
        *low = shifted as u32;
    }
    for bit in 0..thresholds.len() as u32 {
        let (mut number, mut count) = (0, 0);
        for (low, _) in low.iter().zip(&widths).filter(|(_, width)| **width > bit) {
            number |= (low >> bit & 1) << count;
            count += 1;
        }
        out.put(number, count);
    }
}

/// See [`super::merge`].
pub(super) fn merge(
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    bits: &mut BitReader<'_>,
) {
    let widths = widths(sums, thresholds);
    let mut low = [0u32; LANES];
    for bit in 0..thresholds.len() as u32 {
        let lanes = || widths.iter().filter(|width| **width > bit);
        let mut number = bits.get(lanes().count() as u32);
        for (low, _) in low.iter_mut().zip(&widths).filter(|(_, w)| **w > bit) {
            *low |= (number & 1) << bit;
            number >>= 1;
        }
    }
    for ((residual, low), width) in residuals.iter_mut().zip(low).zip(widths) {
        let quotient = i32::from(*residual) << width;
        *residual = quotient.wrapping_add(low as i32 - half(width)) as i16;
    }
}

/// See [`super::lanes_above`].
pub(super) fn lanes_above(residuals: &[i16; LANES], most: i16) -> u32 {
    let above = |r: &i16| u32::from(r.wrapping_abs() > most);
    let bits = residuals.iter().map(above).enumerate();
    bits.fold(0, |lanes, (lane, above)| lanes | above << lane)
}
