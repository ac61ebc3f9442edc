//! Error statistics value by value: sums, extremes, counts, and bound violations.

use super::Setup;
use super::histogram::Growing;
use crate::bound::Tolerance;
use crate::element::Element;
use crate::element::real::{at_most, difference};
use crate::error::Result;
use crate::parallel;

/// Values per partial sum; summing partial sums is more accurate than one long sum.
const VALUES_PER_SUM: usize = 1 << 15;

/// Error statistics of consecutive values.
#[derive(Debug, Clone, Default)]
pub(super) struct Errors {
    pub values: u64,
    pub ordinary: u64,
    pub exact: u64,
    pub lost_specials: u64,
    pub violations: u64,
    pub max_error: f64,
    pub max_relative: f64,
    pub histogram: Growing,
    sum: f64,
    squares: f64,
    /// Sum of the products of consecutive errors.
    products: f64,
    /// Errors of the first and the last ordinary value.
    ends: Option<(f64, f64)>,
}

impl Errors {
    /// Adds the next values, on several threads.
    pub fn push<T: Element>(&mut self, original: &[T], decoded: &[T], setup: &Setup) -> Result<()> {
        let count = original.len().div_ceil(VALUES_PER_SUM);
        let mut pieces = vec![Self::default(); count];
        let mut jobs = original
            .chunks(VALUES_PER_SUM)
            .zip(decoded.chunks(VALUES_PER_SUM))
            .zip(&mut pieces);
        let threads = parallel::threads(setup.threads).min(count).max(1);
        parallel::unordered(
            &mut vec![Vec::new(); threads],
            |_| Ok(jobs.next()),
            |errors, ((original, decoded), piece)| {
                *piece = Self::of(original, decoded, setup, errors);
                Ok(())
            },
        )?;
        for piece in pieces {
            self.join(piece);
        }
        Ok(())
    }

    /// Statistics of one piece; `errors` is a scratch buffer.
    fn of<T: Element>(original: &[T], decoded: &[T], setup: &Setup, errors: &mut Vec<f64>) -> Self {
        let fill = setup.fill.typed(T::from_f64);
        let mut all = Self {
            values: original.len() as u64,
            ..Self::default()
        };
        errors.clear();
        for (&x, &y) in original.iter().zip(decoded) {
            let exact = x.to_word() == y.to_word();
            all.exact += u64::from(exact);
            if !x.is_finite() || fill.contains(x) {
                let same = x == y || x.to_f64().is_nan() && y.to_f64().is_nan();
                all.lost_specials += u64::from(!same);
                let held = |t: Tolerance| x.is_finite() && !setup.exact_fill && t.holds(x, y);
                let broken = !exact && setup.tolerance.is_some_and(|t| !held(t));
                all.violations += u64::from(broken);
                continue;
            }
            let size = x.to_f64().abs();
            let error = match y.to_f64() - x.to_f64() {
                error if error.is_nan() => f64::INFINITY,
                error => error,
            };
            let held = setup.tolerance.is_none_or(|t| t.holds(x, y));
            all.violations += u64::from(!held);
            all.max_error = all.max_error.max(error.abs());
            // Avoids most divisions.
            if error != 0.0 && error.abs() >= all.max_relative * size {
                all.max_relative = all.max_relative.max(error.abs() / size);
            }
            errors.push(error);
        }
        all.ordinary = errors.len() as u64;
        let mut before = 0.0;
        for &error in errors.iter() {
            all.sum += error;
            all.squares += error * error;
            all.products += before * error;
            before = error;
        }
        all.ends = errors.first().copied().zip(errors.last().copied());
        all.histogram.add(errors);
        all
    }

    fn join(&mut self, next: Self) {
        self.values += next.values;
        self.ordinary += next.ordinary;
        self.exact += next.exact;
        self.lost_specials += next.lost_specials;
        self.violations += next.violations;
        self.max_error = self.max_error.max(next.max_error);
        self.max_relative = self.max_relative.max(next.max_relative);
        self.histogram.join(next.histogram);
        self.sum += next.sum;
        self.squares += next.squares;
        self.products += next.products;
        self.ends = match (self.ends, next.ends) {
            (Some((first, left)), Some((right, last))) => {
                self.products += left * right;
                Some((first, last))
            }
            (ends, None) | (None, ends) => ends,
        };
    }

    /// Root mean square error.
    pub fn rmse(&self) -> f64 {
        match self.ordinary {
            0 => 0.0,
            n => (self.squares / n as f64).sqrt(),
        }
    }

    /// Σ (e[i] − m)(e[i+1] − m) / Σ (e[i] − m)², from the sums.
    pub fn autocorrelation(&self) -> f64 {
        let Some((first, last)) = self.ends else {
            return 0.0;
        };
        let n = self.ordinary as f64;
        let mean = self.sum / n;
        let variance = self.squares - n * mean * mean;
        if variance == 0.0 {
            return 0.0;
        }
        let neighbours =
            self.products - mean * (2.0 * self.sum - first - last) + (n - 1.0) * mean * mean;
        neighbours / variance
    }
}

impl Tolerance {
    /// Whether a finite value may decode to this one, in exact arithmetic: rounding of the
    /// difference or the product cannot hide a violation.
    pub fn holds<T: Element>(self, original: T, decoded: T) -> bool {
        let (x, y) = (original.to_f64(), decoded.to_f64());
        match self {
            Self::Lossless => original.to_word() == decoded.to_word(),
            Self::Precision(_) => y.is_finite(),
            Self::Abs(e) => at_most(difference(x, y), (e, 0.0)),
            // No two distinct numbers are that close.
            Self::Pointwise(e) if e < f64::EPSILON / 4.0 => x == y,
            Self::Pointwise(e) => {
                // Scale by a power of two to keep the error of the product from underflowing.
                let scale = if x.abs() < 1e-150 {
                    2f64.powi(500)
                } else {
                    1.0
                };
                let (x, y) = (x * scale, y * scale);
                let product = e * x.abs();
                let rest = e.mul_add(x.abs(), -product);
                at_most(difference(x, y), (product, rest))
            }
        }
    }
}
