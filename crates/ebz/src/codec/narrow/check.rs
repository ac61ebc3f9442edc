//! Whether a narrowed value may stand for a value.

use super::super::Task;
use crate::bound::Tolerance;
use crate::element::Element;
use crate::element::real::{at_most, difference};
use crate::fill::TypedFill;
use crate::stage::proof::{Proof, RelativeProof};

/// The comparison with the bound.
pub(super) struct Check<T: Element> {
    tolerance: Tolerance,
    /// Values that must be exact, and that no other value may become.
    fill: TypedFill<T>,
    quick: Quick<T::Wide>,
}

/// A test that most values pass, in the arithmetic of the codec.
enum Quick<F> {
    Absolute(Proof<F>),
    Relative(RelativeProof<F>),
    /// None: only equal bits pass.
    None,
}

impl<T: Element> Check<T> {
    pub fn new(task: &Task<'_>) -> Self {
        let relative = |e| RelativeProof::new(e).map_or(Quick::None, Quick::Relative);
        Self {
            tolerance: task.tolerance,
            fill: task.fill.typed(T::from_f64),
            quick: match task.tolerance {
                Tolerance::Abs(e) => Quick::Absolute(Proof::new(e)),
                Tolerance::Precision(_) => Quick::Absolute(Proof::new(f64::MAX)),
                Tolerance::Pointwise(e) => relative(e),
                Tolerance::Lossless => Quick::None,
            },
        }
    }

    /// Whether all of these decoded values are within the bound for sure.
    #[inline(always)]
    pub fn block_passes(&self, values: &[T], decoded: &[T::Wide]) -> bool {
        let zero = T::Wide::default();
        match &self.quick {
            Quick::Absolute(proof) => self.all(values, decoded, |x, y| proof.holds(x, y)),
            Quick::Relative(proof) => {
                self.all(values, decoded, |x, y| (x != zero) & proof.holds(x, y))
            }
            Quick::None => self.all(values, decoded, |_, _| false),
        }
    }

    #[inline(always)]
    fn all(
        &self,
        values: &[T],
        decoded: &[T::Wide],
        holds: impl Fn(T::Wide, T::Wide) -> bool,
    ) -> bool {
        let mut good = true;
        for (x, y) in values.iter().zip(decoded) {
            let y = T::from_wide(*y);
            good &= holds(x.to_wide(), y.to_wide()) | (x.to_word() == y.to_word());
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
            Tolerance::Abs(e) => at_most(difference(x, y), (e, 0.0)),
            // On the safe side by more than all roundings.
            Tolerance::Pointwise(e) => (x - y).abs() <= e * (1.0 - 4.0 * f64::EPSILON) * x.abs(),
            Tolerance::Precision(_) => true,
            Tolerance::Lossless => false,
        }
    }
}
