//! Low bits of residuals whose neighbourhood is large: they are noise, and are sent as they are.
//!
//! A residual becomes a rounded quotient by a power of two and a remainder. Remainders of lanes a half
//! and a quarter of a segment apart are joined with vector shifts, so that the bit stream is touched
//! once for four lanes.

use crate::codec::interp::context::MOST_LOW_BITS;
use crate::codec::interp::pack::{build, each};
use crate::stage::rans::LANES;
use crate::stage::rans::bits::{BitReader, BitWriter};

/// How many low bits each lane sends.
#[inline(always)]
pub(super) fn widths(sums: &[u8; LANES], floors: &[u8; MOST_LOW_BITS]) -> [u32; LANES] {
    let mut widths = [0u8; LANES];
    for &floor in floors {
        for (width, &sum) in widths.iter_mut().zip(sums) {
            *width += u8::from(sum >= floor);
        }
    }
    each(widths, u32::from)
}

/// Half a step, which makes the quotient round to nearest.
#[inline(always)]
fn half(width: u32) -> i32 {
    (1 << width) >> 1
}

/// Writes the remainders and leaves the quotients.
#[inline(always)]
pub(super) fn split(residuals: &mut [i16; LANES], widths: &[u32; LANES], out: &mut BitWriter) {
    let mut low = [0u32; LANES];
    for ((residual, low), &width) in residuals.iter_mut().zip(&mut low).zip(widths) {
        let shifted = i32::from(*residual) + half(width);
        *residual = (shifted >> width) as i16;
        *low = shifted as u32 & ((1 << width) - 1);
    }
    let (low, widths) = join::<LANES, { LANES / 2 }>(low, *widths);
    let (low, widths) = join::<{ LANES / 2 }, { LANES / 4 }>(low, widths);
    for (low, width) in low.into_iter().zip(widths) {
        out.put(low, width);
    }
}

/// Each field of the first half joined with its partner in the second.
#[inline(always)]
fn join<const N: usize, const HALF: usize>(
    fields: [u32; N],
    widths: [u32; N],
) -> ([u32; HALF], [u32; HALF]) {
    (
        build(|i| fields[i] | fields[HALF + i] << widths[i]),
        build(|i| widths[i] + widths[HALF + i]),
    )
}

/// Reads the remainders and puts them and the quotients together.
#[inline(always)]
pub(super) fn merge(residuals: &mut [i16; LANES], widths: &[u32; LANES], bits: &mut BitReader<'_>) {
    let pairs: [u32; LANES / 2] = build(|i| widths[i] + widths[LANES / 2 + i]);
    let mut quads = [0; LANES / 4];
    for (i, quad) in quads.iter_mut().enumerate() {
        *quad = bits.get(pairs[i] + pairs[LANES / 4 + i]);
    }
    let halves = cut::<{ LANES / 4 }, { LANES / 2 }>(quads, &pairs);
    let low = cut::<{ LANES / 2 }, LANES>(halves, widths);
    for ((residual, low), &width) in residuals.iter_mut().zip(low).zip(widths) {
        let quotient = i32::from(*residual) << width;
        *residual = quotient.wrapping_add(low as i32 - half(width)) as i16;
    }
}

/// Fields cut in two, the lower half `widths[i]` bits wide.
#[inline(always)]
fn cut<const N: usize, const TWICE: usize>(
    fields: [u32; N],
    widths: &[u32; TWICE],
) -> [u32; TWICE] {
    let mut halves = [0; TWICE];
    for (i, &field) in fields.iter().enumerate() {
        halves[i] = field & ((1 << widths[i]) - 1);
        halves[N + i] = field >> widths[i];
    }
    halves
}
