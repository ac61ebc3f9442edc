//! Quantization with a pointwise relative bound: |x − x′| ≤ e · |x|, checked for every value.
//!
//! The lattice is nearly uniform in the logarithm of |x|. For x = ±m · 2^E with 1 ≤ m < 2, the index
//! of x is E + t − 1 with t = √(3m − 2), which maps [1, 2) to itself: as an integer, the bit pattern
//! of |x| with the fraction of t instead of that of m. The inverse is m = (t² + 2) / 3. Across a
//! binade, the relative change of m per change of t is between 2/3 and 1/√2 (ln 2 = 0.693 for a true
//! logarithm), so that one step serves all values. It costs 0.03 bits more than a true logarithm, but
//! needs only operations whose rounding IEEE 754 defines.
//!
//! Coordinate 0 is zero; ±k is the value of index (base + k) · step with that sign. Step and
//! arithmetic depend only on the bound, and the base is an integer. So a lattice point decodes to the
//! same bits in every chunk, and compressing decompressed data again does not change it.

use super::UNIT;
use super::proof::RelativeProof;
use super::quantize::{Scale, accepted, quantize_unit};
use crate::element::Float;
use crate::element::log_lattice::LogLattice;
use crate::element::real::{Real, Via};
use crate::element::word::Word;
use crate::fill::{FillValues, TypedFill};

/// Quantizer of a chunk, for elements `T` with arithmetic `F`.
#[derive(Clone, Copy)]
pub(crate) struct Relative<T, F: LogLattice> {
    lattice: Lattice<F>,
    /// 1 / step.
    inverse: f64,
    /// In the arithmetic of the lattice, and in double precision.
    proof: RelativeProof<F>,
    proof_wide: RelativeProof<f64>,
    /// Largest coordinate.
    most: f64,
    /// Values that must not be quantized.
    fill: TypedFill<T>,
}

/// The decoder's parameters: the spacing of lattice points, and the index that coordinate 0 would
/// have if it were not zero.
#[derive(Clone, Copy)]
pub(crate) struct Lattice<F: LogLattice> {
    step: F::Order,
    base: F::Order,
}

impl<F: LogLattice> Lattice<F> {
    /// From a step in indices and a base in steps, both integers.
    pub fn new(step: f64, base: f64) -> Self {
        Self {
            step: F::Order::truncate(step as u64),
            base: F::Order::truncate((base as u64).wrapping_mul(step as u64)),
        }
    }

    /// The value of a coordinate.
    #[inline(always)]
    fn decode<T: Via<F>, W: Word>(&self, coordinate: W) -> T {
        T::narrow(F::at(coordinate.signed(), self.step, self.base))
    }

    /// Values of a unit of coordinates.
    #[inline(always)]
    pub fn inverse<T: Via<F>, W: Word>(&self, q: &[W; UNIT], values: &mut [T; UNIT]) {
        for (value, q) in values.iter_mut().zip(q) {
            *value = self.decode(*q);
        }
    }
}

/// Margin above and below the sampled magnitudes. A larger one makes the jump across zero longer, a
/// smaller one makes more exceptions. Measured; the optimum is flat.
const MARGIN_BINADES: f64 = 2.0;

/// Use wider coordinates when more than one value in this many is below the base.
const MIN_VALUES_PER_UNREACHED: usize = 32;

/// Maximum rounding error in a step, in indices; and the smallest step that tolerates it.
const MAX_ROUNDING: f64 = 8.0;
const MIN_STEP: f64 = 64.0;

impl<T: Float + Via<F>, F: LogLattice> Relative<T, F> {
    /// Spacing of lattice points in indices; `None` if this arithmetic is too coarse for the bound.
    fn step_of(bound: f64) -> Option<f64> {
        // ln x′ − ln x = ln(1 + e) > 2e / (2 + e) for x′ = (1 + e) x, and ln |x| changes by at most
        // 1/√2 per binade of indices. The rest allows for rounding by the arithmetic and to `T`.
        let half = std::f64::consts::SQRT_2 * 2.0 * bound / (2.0 + bound);
        let inexact = 1.0 - 2.0 * F::REACH * F::EPSILON;
        let element = if <T as Real>::EPSILON > F::EPSILON {
            1.5 * <T as Real>::EPSILON
        } else {
            0.0
        };
        let step = ((2.0 * half - element) * F::BINADE * inexact - MAX_ROUNDING).floor();
        (step >= MIN_STEP).then_some(step)
    }

    /// The whole lattice of a bound; `None` if this arithmetic is too coarse for it.
    pub fn whole(bound: f64, fill: &FillValues) -> Option<Self> {
        let step = Self::step_of(bound)?;
        Some(Self {
            lattice: Lattice::new(step, 0.0),
            inverse: 1.0 / step,
            proof: RelativeProof::new(bound)?,
            proof_wide: RelativeProof::new(bound)?,
            most: 0.0,
            fill: fill.typed(T::from_f64),
        })
    }

    /// Positions a window of `bits`-bit coordinates on the lattice so that it covers the magnitudes
    /// of a sample; `None` if it covers too few.
    pub fn part(&self, sample: impl Iterator<Item = T>, bits: u32) -> Option<Self> {
        let (step, most) = (self.step(), ((1u64 << (bits - 1)) - 1) as f64);
        // Start below the smallest magnitude, unless the largest would not be covered.
        let mut indices: Vec<_> = sample
            .map(<T as Via<F>>::widen)
            .filter(|x| x.to_f64() != 0.0)
            .map(|x| x.index_of().unsigned() as f64)
            .collect();
        let low =
            indices.iter().copied().reduce(f64::min).unwrap_or(0.0) - MARGIN_BINADES * F::BINADE;
        let high = indices.iter().copied().fold(0.0, f64::max) + MARGIN_BINADES * F::BINADE;
        let base = low.max(high - most * step).max(0.0);
        let count = indices.len();
        indices.retain(|&index| index < base);
        let few = indices.len() <= count / MIN_VALUES_PER_UNREACHED;
        let base = (base / step).floor();
        // All indices are below this one: coordinates must not wrap around to small ones.
        let end = 2f64.powi(8 * size_of::<F>() as i32 - 1);
        few.then(|| Self {
            lattice: Lattice::new(step, base),
            most: most.min((end / step).floor() - base),
            ..*self
        })
    }

    /// Coordinate of `x`, and whether it is usable.
    #[inline(always)]
    fn one<W: Word, const MANY_FILLS: bool>(&self, x: T) -> (W, bool) {
        let real = <T as Via<F>>::widen(x);
        let base = self.lattice.base;
        let (coordinate, reached) = match W::PARTS {
            1 => real.coordinate(F::from_f64(self.inverse), base, F::from_f64(self.most)),
            _ => real.coordinate_wide(self.inverse, base, self.most),
        };
        let q = W::truncate(coordinate.cast_unsigned());
        let decoded: T = self.lattice.decode(q);
        let passes = match W::PARTS {
            1 => self.proof.holds(real, decoded.widen()),
            _ => self.proof_wide.holds(x.to_f64(), decoded.to_f64()),
        };
        let ordinary = match MANY_FILLS {
            true => !self.fill.contains(x) & !self.fill.contains(decoded),
            false => (x != self.fill.first()) & (decoded != self.fill.first()),
        };
        (q, reached & passes & ordinary)
    }

    /// `x` rounded to the lattice, or `x` itself if no point is within the bound.
    #[inline(always)]
    pub fn snap(&self, x: T) -> T {
        let real = <T as Via<F>>::widen(x);
        let step = self.lattice.step.unsigned();
        let k = ((real.index_of().unsigned() + step / 2) / step).cast_signed();
        let signed = if x.to_f64() < 0.0 { -k } else { k };
        let zero = x.to_f64() == 0.0;
        let coordinate = if zero { 0 } else { signed };
        let decoded = T::narrow(F::at(coordinate, self.lattice.step, F::Order::default()));
        let passes = self.proof_wide.holds(x.to_f64(), decoded.to_f64());
        let reached = zero | (k >= 1);
        match reached & passes & !self.fill.contains(x) & !self.fill.contains(decoded) {
            true => decoded,
            false => x,
        }
    }
}

impl<T: Float + Via<F>, F: LogLattice> Scale<T> for Relative<T, F> {
    fn step(&self) -> f64 {
        self.lattice.step.unsigned() as f64
    }

    fn base(&self) -> f64 {
        (self.lattice.base.unsigned() / self.lattice.step.unsigned()) as f64
    }

    #[inline(always)]
    fn forward<W: Word>(&self, values: &[T; UNIT], q: &mut [W; UNIT]) -> bool {
        if self.fill.len() > 1 {
            return quantize_unit(
                values,
                q,
                #[inline(always)]
                |x| self.one::<W, true>(x),
            );
        }
        quantize_unit(
            values,
            q,
            #[inline(always)]
            |x| self.one::<W, false>(x),
        )
    }

    #[inline(always)]
    fn accepted<W: Word>(&self, values: &[T; UNIT]) -> [bool; UNIT] {
        accepted(
            values,
            #[inline(always)]
            |x| self.one::<W, true>(x).1,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fractions of a few binades: the rounded value is within the bound, rounds to itself, and is a
    /// lattice point for coordinates of either width.
    #[test]
    fn rounding_to_the_lattice_is_bounded_and_idempotent() {
        for bound in [0.5, 1e-2, 1e-3, 1e-5, 4e-6] {
            let whole = Relative::<f32, f32>::whole(bound, &FillValues::NONE).unwrap();
            for start in [1.0f32, -2.0, 1e-30, 1e30] {
                // 16-bit coordinates are too narrow for the smallest bounds.
                let narrow = whole.part([start].into_iter(), 16);
                assert!(narrow.is_some() || bound <= 1e-5);
                let wide = whole.part([start].into_iter(), 32).unwrap();
                let first = start.to_bits() & !0x7f_ffff;
                for bits in (first..first + (1 << 23)).step_by(37) {
                    let x = f32::from_bits(bits);
                    let y = whole.snap(x);
                    let error = (f64::from(x) - f64::from(y)).abs();
                    assert!(error <= bound * f64::from(x).abs(), "{bound} {x} {y}");
                    assert_eq!(whole.snap(y).to_bits(), y.to_bits(), "{bound} {x}");
                    let (q, good) = wide.one::<u32, true>(x);
                    assert!(good, "{bound} {x}");
                    let z: f32 = wide.lattice.decode(q);
                    assert_eq!(whole.snap(z).to_bits(), z.to_bits(), "{bound} {x}");
                    if let Some(narrow) = &narrow {
                        let (q, good) = narrow.one::<u16, true>(y);
                        let z: f32 = narrow.lattice.decode(q);
                        assert!(!good || z.to_bits() == y.to_bits(), "{bound} {x}");
                    }
                }
            }
        }
    }
}
