//! Sums of quantized values: all ranks round to multiples of the same step, and integers add up
//! exactly in any order.
//!
//! ```text
//! values ─ quantize ─► numbers ─ difference ─► residuals ─ pack ─► message
//!                                               Σ residuals of all ranks
//! values ◄─ scale ──── numbers ◄─ sum up ───── residuals ◄─ unpack ─ message
//! ```
//!
//! Residuals are differences at lags, modulo 2³². They are linear: sums of residuals are residuals of
//! sums, and a partial sum is packed again without decoding.

mod pack;

pub(crate) use pack::{pack, packed_len, unpack, unpack_add};

use crate::wide::wide;
use ebz::{Element, ElementType};

/// The step as a fraction of twice the bound; the rest is headroom for rounding the result to the
/// element type.
const STEP_FRACTION: f64 = 15.0 / 16.0;

/// The lattice that values are rounded to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice {
    step: f64,
    per_step: f64,
    /// The largest number of one rank.
    limit: f64,
}

impl Lattice {
    /// The lattice for sums over this many ranks, each within `bound` of its values; `None` if that
    /// needs exact values.
    ///
    /// A number n of at most `limit` is off by at most STEP_FRACTION · bound plus rounding of doubles;
    /// the sum of r ranks, at most r · limit, loses another half ulp when it is rounded to a value:
    /// 2⁻²⁴ · r · 2¹⁹ · 2 · bound = r · bound / 16 for single precision.
    pub fn new<T: Element>(bound: f64, ranks: usize) -> Option<Self> {
        let limit = match T::TYPE {
            ElementType::F32 => (1u64 << 19) as f64,
            ElementType::F64 => f64::from(i32::MAX),
            #[allow(
                unreachable_patterns,
                reason = "types that are too short for a lattice"
            )]
            _ => return None,
        };
        let limit = limit.min((f64::from(i32::MAX) / ranks as f64).floor());
        let step = 2.0 * bound * STEP_FRACTION;
        let usable = step.is_normal() && (1.0 / step).is_normal() && limit >= 1.0;
        usable.then_some(Self {
            step,
            per_step: 1.0 / step,
            limit,
        })
    }

    /// Rounds values; `unfit` receives the indices, offset by `start`, of those that cannot be rounded
    /// within the bound, whose number is 0.
    pub fn quantize<T: Element>(
        &self,
        values: &[T],
        out: &mut [i32],
        start: usize,
        unfit: &mut Vec<u64>,
    ) {
        const BLOCK: usize = 512;
        for (block, (values, out)) in values.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
            let fits = wide(
                #[inline(always)]
                || self.round(values, out),
            );
            if fits {
                continue;
            }
            for (i, (x, n)) in values.iter().zip(out).enumerate() {
                if !self.round(std::slice::from_ref(x), std::slice::from_mut(n)) {
                    *n = 0;
                    unfit.push((start + block * BLOCK + i) as u64);
                }
            }
        }
    }

    #[inline(always)]
    fn round<T: Element>(&self, values: &[T], out: &mut [i32]) -> bool {
        // Adding this leaves the nearest integer in the low bits.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let mut fits = true;
        for (x, n) in values.iter().zip(out) {
            let scaled = x.to_f64() * self.per_step;
            let rounded = scaled + ROUND;
            *n = rounded.to_bits() as i32;
            // NaN fails the comparison.
            fits &= scaled.abs() <= self.limit;
        }
        fits
    }

    /// Converts sums to values.
    pub fn scale<T: Element>(&self, numbers: &[i32], out: &mut [T]) {
        wide(
            #[inline(always)]
            || {
                for (&n, x) in numbers.iter().zip(out) {
                    *x = T::from_f64(f64::from(n) * self.step);
                }
            },
        );
    }
}

/// Replaces numbers by their differences at each of the lags; the first ones count from 0.
pub(crate) fn difference(numbers: &mut [i32], lags: &[usize], scratch: &mut Vec<i32>) {
    for &lag in lags {
        if lag >= numbers.len() {
            continue;
        }
        scratch.clear();
        scratch.extend_from_slice(numbers);
        let scratch = &scratch[..];
        wide(
            #[inline(always)]
            || {
                for (n, before) in numbers[lag..].iter_mut().zip(scratch) {
                    *n = n.wrapping_sub(*before);
                }
            },
        );
    }
}

/// The inverse of [`difference`].
pub(crate) fn sum_up(residuals: &mut [i32], lags: &[usize]) {
    for &lag in lags.iter().rev() {
        if lag == 1 {
            let mut sum = 0i32;
            for n in residuals.iter_mut() {
                sum = sum.wrapping_add(*n);
                *n = sum;
            }
            continue;
        }
        let mut at = lag;
        while at < residuals.len() {
            let (before, rest) = residuals.split_at_mut(at);
            let before = &before[at - lag..];
            wide(
                #[inline(always)]
                || {
                    for (n, before) in rest.iter_mut().zip(before) {
                        *n = n.wrapping_add(*before);
                    }
                },
            );
            at += lag;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stay_within_their_bound_for_either_type() {
        fn check<T: Element>(bound: f64, size: f64) {
            let ranks = 5;
            let lattice = Lattice::new::<T>(bound, ranks).unwrap();
            let mut state = 1u64;
            let mut random = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let (mut sums, mut exact) = (vec![0i32; 4096], vec![0f64; 4096]);
            for _ in 0..ranks {
                let values: Vec<T> = (0..4096).map(|_| T::from_f64(size * random())).collect();
                let (mut numbers, mut unfit) = (vec![0; 4096], Vec::new());
                lattice.quantize(&values, &mut numbers, 0, &mut unfit);
                assert!(unfit.is_empty());
                for i in 0..4096 {
                    sums[i] += numbers[i];
                    exact[i] += values[i].to_f64();
                }
            }
            let mut out = vec![T::default(); 4096];
            lattice.scale(&sums, &mut out);
            for (a, b) in out.iter().zip(&exact) {
                let error = (a.to_f64() - b).abs();
                assert!(error <= ranks as f64 * bound, "{error} > 5 · {bound}");
            }
        }
        check::<f32>(1e-3, 1.0);
        check::<f32>(1e-3, 1.9e3);
        check::<f64>(1e-3, 1.0);
        check::<f64>(1e-9, 1.4);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let lattice = Lattice::new::<f32>(1e-3, 4).unwrap();
        let mut values = vec![1f32; 2000];
        values[3] = f32::NAN;
        values[1024] = f32::INFINITY;
        values[1999] = 1e20;
        let (mut numbers, mut unfit) = (vec![7; 2000], Vec::new());
        lattice.quantize(&values, &mut numbers, 100, &mut unfit);
        assert_eq!(unfit, [103, 1124, 2099]);
        assert_eq!((numbers[3], numbers[1024], numbers[1999]), (0, 0, 0));
        assert_eq!(numbers[4], 533);
        for bound in [0.0, f64::NAN, f64::INFINITY, 1e-320, 1e308] {
            assert!(Lattice::new::<f32>(bound, 4).is_none(), "{bound}");
        }
    }

    #[test]
    fn differences_come_back_also_where_they_overflow() {
        for length in [0usize, 1, 2, 7, 100, 1000] {
            let numbers: Vec<i32> = (0..length as i32)
                .map(|i| i.wrapping_mul(0x1234_5679))
                .collect();
            for lags in [&[1][..], &[1, 10], &[1, 10, 100]] {
                let mut other = numbers.clone();
                difference(&mut other, lags, &mut Vec::new());
                sum_up(&mut other, lags);
                assert_eq!(numbers, other);
            }
        }
    }
}
