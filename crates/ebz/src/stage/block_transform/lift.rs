//! zfp's integer lifting transform along each axis of a group of blocks.
//!
//! In: integers in raster order. Out: coefficients in raster order. The steps lose low bits, so
//! the order of axes and of operations is zfp's: with it, decoded values equal zfp's bit for bit.

use super::grid::{LANES, Lanes};
use super::real::Int;

/// x, then y, then z.
#[inline(always)]
pub fn forward<I: Int, const N: usize>(group: &mut [Lanes<I>; N]) {
    for line in 0..N / 4 {
        forward_line(group, 4 * line, 1);
    }
    if N >= 16 {
        for line in 0..N / 4 {
            forward_line(group, line / 4 * 16 + line % 4, 4);
        }
    }
    if N >= 64 {
        for line in 0..N / 4 {
            forward_line(group, line, 16);
        }
    }
}

/// z, then y, then x.
#[inline(always)]
pub fn inverse<I: Int, const N: usize>(group: &mut [Lanes<I>; N]) {
    if N >= 64 {
        for line in 0..N / 4 {
            inverse_line(group, line, 16);
        }
    }
    if N >= 16 {
        for line in 0..N / 4 {
            inverse_line(group, line / 4 * 16 + line % 4, 4);
        }
    }
    for line in 0..N / 4 {
        inverse_line(group, 4 * line, 1);
    }
}

#[inline(always)]
fn forward_line<I: Int, const N: usize>(group: &mut [Lanes<I>; N], at: usize, step: usize) {
    for lane in 0..LANES {
        let mut x = group[at][lane];
        let mut y = group[at + step][lane];
        let mut z = group[at + 2 * step][lane];
        let mut w = group[at + 3 * step][lane];
        x = x.plus(w).half();
        w = w.minus(x);
        z = z.plus(y).half();
        y = y.minus(z);
        x = x.plus(z).half();
        z = z.minus(x);
        w = w.plus(y).half();
        y = y.minus(w);
        w = w.plus(y.half());
        y = y.minus(w.half());
        group[at][lane] = x;
        group[at + step][lane] = y;
        group[at + 2 * step][lane] = z;
        group[at + 3 * step][lane] = w;
    }
}

#[inline(always)]
fn inverse_line<I: Int, const N: usize>(group: &mut [Lanes<I>; N], at: usize, step: usize) {
    for lane in 0..LANES {
        let mut x = group[at][lane];
        let mut y = group[at + step][lane];
        let mut z = group[at + 2 * step][lane];
        let mut w = group[at + 3 * step][lane];
        y = y.plus(w.half());
        w = w.minus(y.half());
        y = y.plus(w);
        w = w.double().minus(y);
        z = z.plus(x);
        x = x.double().minus(z);
        y = y.plus(z);
        z = z.double().minus(y);
        w = w.plus(x);
        x = x.double().minus(w);
        group[at][lane] = x;
        group[at + step][lane] = y;
        group[at + 2 * step][lane] = z;
        group[at + 3 * step][lane] = w;
    }
}
