//! Whether a narrowed value may stand for a value.

use super::super::Task;
use crate::bound::Tolerance;
use crate::element::Element;
use crate::element::real::Real;
use crate::fill::TypedFill;

/// The comparison with the bound.
pub(super) struct Check<T: Element> {
    tolerance: Tolerance,
    /// Values that must be exact, and that no other value may become.
    fill: TypedFill<T>,
    /// Errors below `limit + relative · |x|` are within the bound, although all of it is rounded.
    limit: T::Wide,
    relative: T::Wide,
}

/// More than what the rounding of a relative error adds, for elements whose spacings are at least
/// 2^16 times those of their wide type.
const ROUNDING: f64 = 1.0 / 16384.0;

impl<T: Element> Check<T> {
    pub fn new(task: &Task<'_>) -> Self {
        let (limit, relative) = match task.tolerance {
            Tolerance::Abs(e) => (e, 0.0),
            Tolerance::Pointwise(e) => (0.0, e * (1.0 - ROUNDING)),
            // What is exact passes anyway.
            Tolerance::Lossless => (0.0, 0.0),
            Tolerance::Precision(_) => (f64::MAX, 0.0),
        };
        let largest = <T::Wide as crate::element::log_lattice::LogLattice>::LARGEST.to_f64();
        let down = |value: f64| <T::Wide as Real>::round_down(value.min(largest));
        Self {
            tolerance: task.tolerance,
            fill: task.fill.typed(T::from_f64),
            limit: down(limit),
            relative: down(relative),
        }
    }

    /// Whether all of these decoded values are within the bound for sure.
    ///
    /// Rounding is monotone: a difference that is rounded to less than a number is less than it.
    #[inline(always)]
    pub fn block_passes(&self, values: &[T], decoded: &[T::Wide]) -> bool {
        let mut good = true;
        for (x, y) in values.iter().zip(decoded) {
            let (wide, y) = (x.to_wide(), T::from_wide(*y));
            let error = Real::abs(Real::sub(wide, y.to_wide()));
            let most = Real::add(self.limit, Real::mul(Real::abs(wide), self.relative));
            // NaN fails.
            good &= (error < most) | (x.to_word() == y.to_word());
        }
        if !self.fill.is_empty() {
            for (x, y) in values.iter().zip(decoded) {
                good &= !self.fill.contains(*x) & !self.fill.contains(T::from_wide(*y));
            }
        }
        good
    }

    /// Whether a value may become another one.
    pub fn passes(&self, x: T, y: T) -> bool {
        if x.to_word() == y.to_word() {
            return true;
        }
        if !x.is_finite() || !y.is_finite() {
            return false;
        }
        if self.fill.contains(x) || self.fill.contains(y) {
            return x == y;
        }
        let (x, y) = (x.to_f64(), y.to_f64());
        match self.tolerance {
            Tolerance::Abs(e) => is_within(x, y, e),
            // On the safe side by more than all roundings.
            Tolerance::Pointwise(e) => (x - y).abs() <= e * (1.0 - 4.0 * f64::EPSILON) * x.abs(),
            Tolerance::Precision(_) => true,
            Tolerance::Lossless => false,
        }
    }
}

/// |x − y| ≤ e, although the difference is rounded.
fn is_within(x: f64, y: f64, e: f64) -> bool {
    let (large, small) = if x.abs() >= y.abs() { (x, -y) } else { (-y, x) };
    let sum = large + small;
    // What the sum lost to rounding (Dekker).
    let lost = small - (sum - large);
    sum.abs() < e || (sum.abs() == e && lost * sum.signum() <= 0.0)
}
