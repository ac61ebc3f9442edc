//! Estimated cost of the predictors of a class on a row.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::number::Number;
use super::pack::Taps;
use crate::simd::Level as Isa;

/// Adds the cost of predicting a row to `costs`: one entry per set of axes and kind of
/// interpolation.
///
/// A prediction is the mean of interpolations, so its residual is the mean of theirs; that of half
/// a prediction is the mean with the value itself.
pub(super) struct Weigh<'a, T> {
    /// Linear and cubic interpolation along each axis, with weight 1, from `source`.
    pub(super) taps: &'a [[Taps<T>; 2]],
    pub(super) source: &'a [T],
    /// Packet mode: the interpolation between planes, and its buffer.
    pub(super) base: Option<(Taps<T>, &'a [T])>,
    pub(super) values: &'a [T],
    pub(super) inverse: T,
    pub(super) costs: &'a mut Costs,
}

/// Costs by scale (whole, half), kind (linear, cubic) and set of axes. Only the first entry of the
/// empty set is used, and it and those of scale 1 only in packet mode.
pub(super) type Costs = [[[u64; 8]; 2]; 2];

impl<T: Number> Weigh<'_, T> {
    /// Adds the costs.
    pub(super) fn run(self, isa: Isa) {
        match isa.avx2() {
            // SAFETY: the level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Some(_) => unsafe {
                match self.taps.len() {
                    1 => avx2::run::<T, 1>(self),
                    2 => avx2::run::<T, 2>(self),
                    _ => avx2::run::<T, 3>(self),
                }
            },
            _ => portable::run(self),
        }
    }

    /// Residuals are measured in half steps.
    fn scale(&self) -> T {
        self.inverse * T::from_f64(2.0)
    }
}

/// Weight of each axis of a set, by the number of axes.
const SHARES: [f32; 4] = [0.0, 1.0, 0.5, 1.0 / 3.0];
/// Largest square of a residual that counts.
const MAX_SQUARE: f32 = 4e9;
