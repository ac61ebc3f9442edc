//! Estimated cost of the predictors of a class on a row.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::number::Number;
use super::pack::Taps;
use crate::simd::Level as Isa;

/// Adds the cost of predicting a row to `costs`: one entry per set of axes and kind of
/// interpolation.
pub(super) struct Weigh<'a, T> {
    /// Linear and cubic interpolation along each axis, with weight 1, from `source`.
    pub(super) taps: &'a [[Taps<T>; 2]],
    pub(super) source: &'a [T],
    /// Packet mode: the interpolation between planes, and its buffer.
    pub(super) base: Option<(Taps<T>, &'a [T])>,
    pub(super) values: &'a [T],
    pub(super) inverse: T,
    /// Indexed by scale (whole, half), kind (linear, cubic) and set of axes.
    pub(super) costs: &'a mut [[[u64; 8]; 2]; 2],
}

impl<T: Number> Weigh<'_, T> {
    /// Adds the costs.
    pub(super) fn run(self, isa: Isa) {
        match isa.avx2() {
            // SAFETY: the level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Some(_) => unsafe { avx2::run(self) },
            _ => portable::run(self),
        }
    }
}

/// Weight of a sum over a set of axes, by its size; scale 1 is half of scale 0.
const WEIGHTS: [[f64; 4]; 2] = [[1.0, 1.0, 0.5, 1.0 / 3.0], [0.5, 0.5, 0.25, 1.0 / 6.0]];
