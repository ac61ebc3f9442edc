//! Quantization with a checked bound: k = round(x / step), x′ = k · step.
//!
//! The lattice is a function of the bound alone. Its origin is 0, and a chunk that lies far from 0
//! subtracts a whole number, its base, from all coordinates. A lattice point decodes to the same bits
//! in every chunk, width and arithmetic: its product with the step is exact, or rounded once. So what
//! was decompressed is on the lattice already, and does not change when it is compressed again.
//!
//! Rounding is done by adding 1.5 · 2^(mantissa bits): the sum has no fraction bits left, and its
//! low bits are k in two's complement. There is no fused multiply-add.

use super::UNIT;
use crate::element::Float;
use crate::element::real::{Real, Via};
use crate::element::word::Word;
use crate::fill::{FillValues, TypedFill};

/// The step of the lattice for a bound and elements `T`: twice the bound, rounded down to few bits;
/// `None` if it or its reciprocal would be subnormal or infinite.
pub(crate) fn step<T: Real>(bound: f64) -> Option<f64> {
    let dropped = f64::MANTISSA_DIGITS - T::STEP_BITS;
    let step = f64::from_bits((2.0 * bound).to_bits() >> dropped << dropped);
    normal::<f64>(step).then_some(step)
}

/// Whether a step and its reciprocal are normal numbers in the arithmetic `F`.
pub(crate) fn normal<F: Real>(step: f64) -> bool {
    (F::LEAST..=1.0 / F::LEAST).contains(&step)
}

/// Numbers for the values of a chunk, each checked against the bound.
pub(crate) trait Scale<T> {
    /// What the decoder needs to know.
    fn step(&self) -> f64;
    fn base(&self) -> f64;
    /// Coordinates of a unit of values; false if at least one value cannot be quantized.
    fn forward<W: Word>(&self, values: &[T; UNIT], q: &mut [W; UNIT]) -> bool;
    /// Whether one value can be quantized.
    fn accepts<W: Word>(&self, x: T) -> bool;
}

/// Fills `q` with what `one` makes of each value; false if it rejects one.
#[inline(always)]
pub(super) fn quantize_unit<T: Float, W: Word>(
    values: &[T; UNIT],
    q: &mut [W; UNIT],
    one: impl Fn(T) -> (W, bool),
) -> bool {
    // As wide as the elements, so that vectors of it go with theirs.
    let mut bad = T::Order::default();
    for (q, &x) in q.iter_mut().zip(values) {
        let (coordinate, good) = one(x);
        *q = coordinate;
        bad = bad.or(T::Order::truncate(u64::from(!good)));
    }
    bad == T::Order::default()
}

/// Constants of the quantization of a chunk, for elements `T` with arithmetic `F`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantizer<T, F> {
    /// Distance of two neighbours in the lattice.
    step: F,
    /// 1 / step, rounded towards 0.
    inverse: F,
    /// Largest |x′ − x| that counts as within the bound.
    limit: T,
    /// The lattice point of q = 0: q = k − base.
    base: F,
    base_bits: u64,
    /// Largest |q|.
    most: F,
    /// Values that must not be quantized.
    fill: TypedFill<T>,
    /// What there is to compute.
    work: Work,
}

/// What a quantizer has to compute, in rising order of effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Neither base nor fill value.
    Plain,
    OneFill,
    ManyFills,
}

// As parameters of `Quantizer::one`.
const PLAIN: u8 = Work::Plain as u8;
const ONE_FILL: u8 = Work::OneFill as u8;
const MANY_FILLS: u8 = Work::ManyFills as u8;

impl<T: Float + Via<F>, F: Real> Quantizer<T, F> {
    /// The lattice with the [`step`] of a bound, which is a normal number in `F`, for |q| up to
    /// `most`; |base| + most is at most [`Real::FARTHEST`] of `T`, and small enough for `F`.
    ///
    /// Why the check against the bound is exact, although x′ − x is rounded: for k = 0 it is x
    /// itself, and otherwise x and x′ are within a factor of 2 of each other (Sterbenz), because
    /// `inverse` is rounded towards 0 so that k = ±1 needs |x| ≥ step / 2.
    ///
    /// Why x′ is quantized to itself: it is off k · step by a rounding error, as is its quotient,
    /// and up to `FARTHEST` these are below half a step together.
    pub fn new(step: f64, base: i64, most: i64, bound: f64, fill: &FillValues) -> Self {
        Self {
            step: F::from_f64(step),
            inverse: inverse(step),
            limit: <T as Real>::round_down(bound),
            base: F::from_f64(base as f64),
            base_bits: base.cast_unsigned(),
            most: F::from_f64(most as f64),
            fill: fill.typed(T::from_f64),
            work: match fill.as_slice().len() {
                0 if base == 0 => Work::Plain,
                0 | 1 => Work::OneFill,
                _ => Work::ManyFills,
            },
        }
    }

    /// Lattice point of `x` (in the low bits) and its value, and whether they are usable.
    #[inline(always)]
    fn point<const WORK: u8>(&self, x: T) -> (u64, T, bool) {
        let rounded = <T as Via<F>>::widen(x).mul(self.inverse).add(F::ROUNDER);
        let k = rounded.sub(F::ROUNDER);
        let q = match WORK {
            PLAIN => k,
            _ => k.sub(self.base),
        };
        let decoded = <T as Via<F>>::narrow(k.mul(self.step));
        // NaN and infinities fail both comparisons.
        let good = (Real::sub(decoded, x).abs() <= self.limit) & (q.abs() <= self.most);
        // Neither is missing data quantized, nor does other data become missing.
        let ordinary = match WORK {
            PLAIN => true,
            ONE_FILL => (x != self.fill.first()) & (decoded != self.fill.first()),
            _ => !self.fill.contains(x) & !self.fill.contains(decoded),
        };
        (rounded.to_word(), decoded, good & ordinary)
    }

    /// Coordinate of `x`, and whether it is usable.
    #[inline(always)]
    fn one<W: Word, const WORK: u8>(&self, x: T) -> (W, bool) {
        let (bits, _, good) = self.point::<WORK>(x);
        let bits = match WORK {
            PLAIN => bits,
            _ => bits.wrapping_sub(self.base_bits),
        };
        (W::truncate(bits), good)
    }

    /// The value of the lattice point of `x`, or `x` if it is not usable.
    #[inline(always)]
    pub fn snap(&self, x: T) -> T {
        let (_, decoded, good) = self.point::<MANY_FILLS>(x);
        if good { decoded } else { x }
    }

    /// Values of a unit of coordinates.
    #[inline(always)]
    pub fn inverse<W: Word>(step: F, base: F, q: &[W; UNIT], values: &mut [T; UNIT]) {
        if base.to_f64() == 0.0 {
            for (value, q) in values.iter_mut().zip(q) {
                *value = <T as Via<F>>::narrow(F::from_i64(q.signed()).mul(step));
            }
        } else {
            for (value, q) in values.iter_mut().zip(q) {
                *value = <T as Via<F>>::narrow(F::from_i64(q.signed()).add(base).mul(step));
            }
        }
    }
}

/// 1 / step, rounded towards 0.
pub(crate) fn inverse<F: Real>(step: f64) -> F {
    F::round_down((1.0 / step).next_down())
}

impl<T: Float + Via<F>, F: Real> Scale<T> for Quantizer<T, F> {
    fn step(&self) -> f64 {
        self.step.to_f64()
    }

    fn base(&self) -> f64 {
        self.base.to_f64()
    }

    #[inline(always)]
    fn forward<W: Word>(&self, values: &[T; UNIT], q: &mut [W; UNIT]) -> bool {
        macro_rules! unit {
            ($work:ident) => {
                quantize_unit(
                    values,
                    q,
                    #[inline(always)]
                    |x| self.one::<W, $work>(x),
                )
            };
        }
        match self.work {
            Work::Plain => unit!(PLAIN),
            Work::OneFill => unit!(ONE_FILL),
            Work::ManyFills => unit!(MANY_FILLS),
        }
    }

    #[inline(always)]
    fn accepts<W: Word>(&self, x: T) -> bool {
        self.one::<W, MANY_FILLS>(x).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lattice points near 0, near the ends of coordinates, and near the end of the lattice.
    fn points<T: Float>() -> impl Iterator<Item = i64> {
        let centres = [
            0,
            1 << 10,
            1 << 15,
            1 << 20,
            T::FARTHEST / 3,
            T::FARTHEST - 40,
        ];
        centres
            .into_iter()
            .flat_map(|c| (c..=c + 40).flat_map(|k| [k, -k]))
    }

    fn points_are_the_same_everywhere<T: Float>(bounds: &[f64]) {
        for &bound in bounds {
            let step = step::<T>(bound).unwrap();
            assert!(step <= 2.0 * bound && step > 1.99 * bound);
            let whole = Quantizer::<T, f64>::new(step, 0, T::FARTHEST, bound, &FillValues::NONE);
            for k in points::<T>() {
                let value = T::from_f64(k as f64 * step);
                if !value.is_finite() {
                    continue;
                }
                assert_eq!(whole.snap(value).to_word(), value.to_word(), "{bound} {k}");
                // The decoders of 16-bit coordinates, with a base, and of 32-bit ones.
                let base = k - k % 30_000;
                let mut out = [T::default(); UNIT];
                let q = [u16::truncate((k - base).cast_unsigned()); UNIT];
                if normal::<T>(step) {
                    let (step, base) = (T::from_f64(step), T::from_f64(base as f64));
                    Quantizer::<T, T>::inverse(step, base, &q, &mut out);
                    assert_eq!(out[0].to_word(), value.to_word(), "{bound} {k}");
                }
                let q = [u32::truncate((k - base).cast_unsigned()); UNIT];
                Quantizer::<T, f64>::inverse(step, base as f64, &q, &mut out);
                assert_eq!(out[0].to_word(), value.to_word(), "{bound} {k}");
            }
        }
    }

    #[test]
    fn lattice_points_are_the_same_in_every_mode() {
        let bounds = [1.0, 0.1, 0.01, 1.0 / 3.0, 0.999, 1e-30, 3e-45, 7e36];
        points_are_the_same_everywhere::<f32>(&bounds);
        points_are_the_same_everywhere::<f64>(&bounds);
        points_are_the_same_everywhere::<f64>(&[1e-300, 1e290]);
    }

    #[test]
    fn bounds_without_a_lattice() {
        assert_eq!(step::<f64>(1e-310), None);
        assert_eq!(step::<f64>(f64::MAX), None);
        assert!(!normal::<f32>(1e-40));
    }
}
