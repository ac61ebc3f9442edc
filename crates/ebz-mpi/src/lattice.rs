//! Sums of quantized values: all ranks round to multiples of the same step, and integers add up
//! exactly in any order.
//!
//! ```text
//! values ─ round ─► integers ─ codec, bound ½ ─► message
//!                      Σ integers of all ranks
//! values ◄─ scale ─ integers ◄─ codec, round ─── message
//! ```
//!
//! Integers are stored as numbers of the element type, so that any codec can encode them. No codec returns a value
//! that is off by exactly ½, so that rounding restores every integer.

use crate::wide::wide;
use ebz::{Element, ElementType};

/// The step as a fraction of twice the bound; the rest is headroom for rounding the result to the
/// element type.
const STEP_FRACTION: f64 = 15.0 / 16.0;

/// The bound of integers in messages.
pub(crate) const INTEGER_BOUND: f64 = 0.5;

/// The lattice that values are rounded to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice {
    step: f64,
    per_step: f64,
    /// The largest integer of one rank.
    limit: f64,
}

/// The nearest integer of a number below 2⁵¹.
#[inline(always)]
fn nearest(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    (x + ROUND) - ROUND
}

impl Lattice {
    /// The lattice for sums over this many ranks, each within `bound` of its values; `None` if that
    /// needs exact values.
    ///
    /// A number n of at most `limit` is off by at most STEP_FRACTION · bound plus rounding of doubles;
    /// the sum of r ranks, at most r · limit, loses another half ulp when it is rounded to a value:
    /// 2⁻²⁴ · r · 2¹⁹ · 2 · bound = r · bound / 16 for single precision. Sums of integers are exact
    /// in the element type.
    pub fn new<T: Element>(bound: f64, ranks: usize) -> Option<Self> {
        let (limit, sums) = match T::TYPE {
            ElementType::F32 => (19, f32::MANTISSA_DIGITS),
            ElementType::F64 => (31, f64::MANTISSA_DIGITS),
            #[allow(
                unreachable_patterns,
                reason = "types that are too short for a lattice"
            )]
            _ => return None,
        };
        let limit = (1u64 << limit).min((1 << sums) / ranks as u64) as f64;
        let step = 2.0 * bound * STEP_FRACTION;
        let usable = step.is_normal() && (1.0 / step).is_normal() && limit >= 1.0;
        usable.then_some(Self {
            step,
            per_step: 1.0 / step,
            limit,
        })
    }

    /// Rounds values to integers; `unfit` receives the indices, offset by `start`, of those that cannot be
    /// rounded within the bound, whose integer is 0.
    pub fn quantize<T: Element>(
        &self,
        values: &[T],
        out: &mut [T],
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
                    *n = T::default();
                    unfit.push((start + block * BLOCK + i) as u64);
                }
            }
        }
    }

    #[inline(always)]
    fn round<T: Element>(&self, values: &[T], out: &mut [T]) -> bool {
        let mut fits = true;
        for (x, n) in values.iter().zip(out) {
            let scaled = x.to_f64() * self.per_step;
            *n = T::from_f64(nearest(scaled));
            // NaN fails the comparison.
            fits &= scaled.abs() <= self.limit;
        }
        fits
    }

    /// Converts sums to values.
    pub fn scale<T: Element>(&self, sums: &mut [T]) {
        wide(
            #[inline(always)]
            || {
                for sum in sums {
                    *sum = T::from_f64(nearest(sum.to_f64()) * self.step);
                }
            },
        );
    }
}

/// Adds integers that a codec has decoded to others.
pub(crate) fn add<T: Element>(decoded: &[T], sums: &mut [T]) {
    wide(
        #[inline(always)]
        || {
            for (sum, x) in sums.iter_mut().zip(decoded) {
                *sum = T::from_f64(sum.to_f64() + nearest(x.to_f64()));
            }
        },
    );
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
            let (mut sums, mut exact) = (vec![T::default(); 4096], vec![0f64; 4096]);
            let (mut integers, mut unfit) = (sums.clone(), Vec::new());
            for _ in 0..ranks {
                let values: Vec<T> = (0..4096).map(|_| T::from_f64(size * random())).collect();
                lattice.quantize(&values, &mut integers, 0, &mut unfit);
                // As a codec may return them.
                for n in &mut integers {
                    *n = T::from_f64(n.to_f64() + 0.98 * random());
                }
                add(&integers, &mut sums);
                for (sum, x) in exact.iter_mut().zip(&values) {
                    *sum += x.to_f64();
                }
            }
            assert!(unfit.is_empty());
            lattice.scale(&mut sums);
            for (a, b) in sums.iter().zip(&exact) {
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
        let (mut numbers, mut unfit) = (vec![7.0; 2000], Vec::new());
        lattice.quantize(&values, &mut numbers, 100, &mut unfit);
        assert_eq!(unfit, [103, 1124, 2099]);
        assert_eq!((numbers[3], numbers[1024], numbers[1999]), (0.0, 0.0, 0.0));
        assert_eq!(numbers[4], 533.0);
        for bound in [0.0, f64::NAN, f64::INFINITY, 1e-320, 1e308] {
            assert!(Lattice::new::<f32>(bound, 4).is_none(), "{bound}");
        }
        // Sums of all ranks are exact in the element type.
        let many = Lattice::new::<f32>(1e-3, 1000).unwrap();
        assert!(many.limit * 1000.0 <= f64::from(1 << 24));
    }
}
