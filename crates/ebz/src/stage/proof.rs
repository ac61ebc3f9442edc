//! The proof of the bound: compares a decoded value with the original in floating-point arithmetic.
//!
//! Every lossy encoder decodes its output and stores a value exactly unless a proof holds. NaN and
//! infinities never pass.

use crate::element::log_lattice::LogLattice;
use crate::element::real::Real;

/// Proves |x − x′| ≤ bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proof<T> {
    limit: T,
}

impl<T: Real> Proof<T> {
    /// For any pair of values.
    ///
    /// The difference is rounded, but rounding is monotone: a difference above the bound rounds to
    /// at least the bound rounded down. The limit is the next number below that.
    pub fn new(bound: f64) -> Self {
        let below = T::round_down(bound).to_word().saturating_sub(1);
        Self {
            limit: T::from_word(below),
        }
    }

    /// For pairs whose difference is exact: one of them is 0, or they are within a factor of 2 of
    /// each other (Sterbenz).
    pub fn of_exact_differences(bound: f64) -> Self {
        Self {
            limit: T::round_down(bound),
        }
    }

    /// Whether `decoded` is proven to be within the bound of `x`.
    #[inline(always)]
    pub fn holds(&self, x: T, decoded: T) -> bool {
        decoded.sub(x).abs() <= self.limit
    }

    /// The largest rounded |x − x′| that passes, for SIMD kernels.
    #[inline(always)]
    pub fn limit(&self) -> T {
        self.limit
    }
}

/// Proves |x − x′| ≤ bound · |x|.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelativeProof<F> {
    /// Largest rounded |x − x′| / |x| that passes.
    limit: F,
    /// Smallest |x| for which the comparison is sound.
    least: F,
}

impl<F: LogLattice> RelativeProof<F> {
    /// The limit is four ulps below the bound, which covers the rounding errors of the limit,
    /// |x − x′| and limit · |x|: at most half an ulp each unless subnormal. `None` if no magnitude
    /// is large enough.
    pub fn new(bound: f64) -> Option<Self> {
        let limit = F::round_down(bound * (1.0 - 4.0 * F::EPSILON));
        let least = 2.0 * F::LEAST / limit.to_f64();
        least.is_finite().then_some(Self {
            limit,
            least: F::from_f64(least),
        })
    }

    /// Whether `decoded` is proven to be within the bound of `x`. Always true for zero, which callers
    /// must decode to zero.
    #[inline(always)]
    pub fn holds(&self, x: F, decoded: F) -> bool {
        let (size, error) = (x.abs(), decoded.sub(x).abs());
        let sound = (size >= self.least) & (size <= F::LARGEST);
        ((error <= size.mul(self.limit)) & sound) | (x == F::from_f64(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Float;
    use crate::element::real::{at_most, difference};

    /// The nine floats around `x`.
    fn around<T: Float>(x: f64) -> impl Iterator<Item = T> {
        let word = T::from_f64(x).to_word();
        (0..9).map(move |i| T::from_word((word + i).saturating_sub(4)))
    }

    /// Pairs whose difference is within a few ulps of the bound, often not representable: those that
    /// pass are within the bound in exact arithmetic.
    #[test]
    fn pairs_that_pass_are_within_the_bound() {
        fn check<T: Float>() {
            for bound in [1.0, 0.1, 1e-3, 1.0 / 3.0, 3e-30] {
                let proof = Proof::<T>::new(bound);
                assert!(proof.limit().to_f64() < bound);
                for scale in [0.3, 1.0, 1.7, 100.0, 12345.678] {
                    let mut passed = 0;
                    for x in around::<T>(bound * scale) {
                        for y in around::<T>(bound * (scale + 1.0)) {
                            if proof.holds(x, y) {
                                passed += 1;
                                let error = difference(x.to_f64(), y.to_f64());
                                assert!(at_most(error, (bound, 0.0)), "{x} {y} {bound}");
                            }
                        }
                    }
                    assert!(passed > 0, "{bound} {scale}");
                }
            }
        }
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn special_values_never_pass() {
        let proofs = [Proof::<f32>::new(1e30), Proof::of_exact_differences(1e30)];
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for proof in proofs {
                assert!(!proof.holds(special, special));
                assert!(!proof.holds(special, 0.0));
                assert!(!proof.holds(0.0, special));
            }
            let relative = RelativeProof::<f32>::new(0.5).unwrap();
            assert!(!relative.holds(special, special));
            assert!(!relative.holds(1.0, special));
        }
        assert!(RelativeProof::<f32>::new(0.5).unwrap().holds(1.0, 1.4));
        assert!(!RelativeProof::<f32>::new(0.5).unwrap().holds(1e-45, 0.0));
    }
}
