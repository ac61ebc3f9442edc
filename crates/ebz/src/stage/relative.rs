//! Quantization with a bound relative to each value: |x − x′| ≤ e · |x|, checked.
//!
//! A lattice that is uniform in nearly the logarithm of |x|. With x = ±m · 2^E and 1 ≤ m < 2, the
//! place of x is E + t − 1 with t = √(3m − 2), which runs from 1 to 2 as m does: as an integer, the
//! bit pattern of |x| with the fraction of t in place of that of m. Back, m = (t² + 2) / 3. Over a
//! whole binade the relative change of m is 2/3 to 1/√2 of that of t (a logarithm: ln 2 = 0.693
//! everywhere), so that one step serves all values: 0.03 bits more than with a true logarithm,
//! with nothing but operations that IEEE 754 rounds in one way.
//!
//! Coordinate 0 is zero; ±k is the value whose place is base + k · step, with either sign.

use super::UNIT;
use super::quantize::{Real, Scale, Staged, Via, quantize_unit};
use super::word::Word;
use crate::element::Element;
use crate::fill::{FillValues, TypedFill};

/// Floats that have places: `f32` or `f64`.
pub trait Placed: Staged {
    /// Steps from one power of two to the next.
    const BINADE: f64;
    /// Least positive normal number, and largest finite one.
    const LEAST: f64;
    const LARGEST: Self;

    /// The place of the magnitude.
    fn place(self) -> Self::Order;
    /// Coordinate of the value, for a reciprocal of the step, and whether it is one of `most`.
    fn coordinate(self, inverse: Self, base: Self::Order, most: Self) -> (i64, bool);
    /// The value of a coordinate.
    fn at(coordinate: i64, step: Self::Order, base: Self::Order) -> Self;
}

macro_rules! placed {
    ($float:ident, $unsigned:ident, $signed:ident, $distance:ident) => {
        impl Placed for $float {
            const BINADE: f64 = (1u64 << ($float::MANTISSA_DIGITS - 1)) as f64;
            const LEAST: f64 = $float::MIN_POSITIVE as f64;
            const LARGEST: Self = $float::MAX;

            #[inline(always)]
            fn place(self) -> $unsigned {
                const ONE: $unsigned = (1.0 as $float).to_bits();
                const FRACTION: $unsigned = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                let bits = self.abs().to_bits();
                let m = $float::from_bits(bits & FRACTION | ONE);
                let t = (m * 3.0 - 2.0).sqrt();
                // t may have been rounded to 2: the next binade.
                (bits & !FRACTION)
                    .wrapping_add(t.to_bits())
                    .wrapping_sub(ONE)
            }

            #[inline(always)]
            fn coordinate(self, inverse: Self, base: $unsigned, most: Self) -> (i64, bool) {
                let distance = self.place().wrapping_sub(base) as $distance as $float;
                let rounded = distance * inverse + Self::ROUNDER;
                let k = rounded - Self::ROUNDER;
                let bits = rounded.to_bits().wrapping_sub(Self::ROUNDER.to_bits());
                let sign = self.to_bits().cast_signed() >> ($unsigned::BITS - 1);
                let signed = (bits.cast_signed() ^ sign).wrapping_sub(sign);
                let zero = self == 0.0;
                let coordinate = if zero { 0 } else { signed };
                (coordinate as i64, zero | ((k >= 1.0) & (k <= most)))
            }

            #[inline(always)]
            fn at(coordinate: i64, step: $unsigned, base: $unsigned) -> Self {
                const ONE: $unsigned = (1.0 as $float).to_bits();
                const FRACTION: $unsigned = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                const SIGN: $unsigned = 1 << ($unsigned::BITS - 1);
                let coordinate = coordinate as $signed;
                let place = coordinate
                    .unsigned_abs()
                    .wrapping_mul(step)
                    .wrapping_add(base);
                let t = $float::from_bits(place & FRACTION | ONE);
                let m = (t * t + 2.0) * (1.0 / 3.0);
                let magnitude = (place & !FRACTION)
                    .wrapping_add(m.to_bits())
                    .wrapping_sub(ONE);
                let bits = if coordinate == 0 { 0 } else { magnitude };
                $float::from_bits(bits | (coordinate.cast_unsigned() & SIGN))
            }
        }
    };
}

// What lies below the base is negative, or beyond every lattice.
placed!(f32, u32, i32, i32);
placed!(f64, u64, i64, u64);

/// Constants of the quantization of a chunk, for elements `T` with arithmetic `F`.
#[derive(Clone, Copy)]
pub(crate) struct Relative<T, F: Placed> {
    lattice: Lattice<F>,
    /// 1 / step.
    inverse: F,
    /// Largest |x′ − x| / |x| that counts as within the bound.
    limit: F,
    /// Magnitudes for which that comparison is sound.
    least: F,
    /// Largest coordinate.
    most: F,
    /// Values that must not be quantized.
    fill: TypedFill<T>,
}

/// What the decoder knows: places between neighbours, and the place of coordinate 0 if it were not
/// zero.
#[derive(Clone, Copy)]
pub(crate) struct Lattice<F: Placed> {
    step: F::Order,
    base: F::Order,
}

impl<F: Placed> Lattice<F> {
    /// Both are whole numbers.
    pub fn new(step: f64, base: f64) -> Self {
        Self {
            step: F::Order::truncate(step as u64),
            base: F::Order::truncate(base as u64),
        }
    }

    /// The value of a coordinate.
    #[inline(always)]
    fn decode<T: Via<F>, W: Word>(&self, coordinate: W) -> T {
        T::down(F::at(coordinate.signed(), self.step, self.base))
    }

    /// Values of a unit of coordinates.
    #[inline(always)]
    pub fn inverse<T: Via<F>, W: Word>(&self, q: &[W; UNIT], values: &mut [T; UNIT]) {
        for (value, q) in values.iter_mut().zip(q) {
            *value = self.decode(*q);
        }
    }
}

/// Binades that the lattice leaves free above and below the values that were looked at: more below
/// makes the way through zero longer, less makes more exceptions. Measured, flat around this.
const MARGIN: f64 = 2.0;

/// With more than one of this many values out of reach, wider coordinates are smaller.
const RARE: usize = 32;

/// Places of rounding errors in a step, at most; and the fewest places of a step that bears them.
const ERRORS: f64 = 8.0;
const FINEST: f64 = 64.0;

impl<T: Element + Via<F>, F: Placed> Relative<T, F> {
    /// A lattice for coordinates of `bits` bits that reaches the magnitudes of a sample; `None` if
    /// this arithmetic is too coarse for the bound.
    ///
    /// Why the check is sound, although it is rounded: each of limit, |x′ − x| and limit · |x| is
    /// off by at most half a unit in the last place as long as none is subnormal, and the limit
    /// is below the bound by four.
    pub fn new(
        bound: f64,
        sample: impl Iterator<Item = T>,
        bits: u32,
        fill: &FillValues,
    ) -> Option<Self> {
        let limit = F::round_down(bound * (1.0 - 4.0 * F::EPSILON));
        let least = 2.0 * F::LEAST / limit.value();

        // 1. The step: 2e / (2 + e) < ln(1 + e) is the way to x′ = (1 + e) x, and 1/√2 the most
        //    that a place changes. Rounding of the arithmetic and of the element has its share.
        let half = std::f64::consts::SQRT_2 * 2.0 * bound / (2.0 + bound);
        let most = ((1u64 << (bits - 1)) - 1) as f64;
        let inexact = 1.0 - 2.0 * most * F::EPSILON;
        let element = if <T as Real>::EPSILON > F::EPSILON {
            1.5 * <T as Real>::EPSILON
        } else {
            0.0
        };
        let step = ((2.0 * half - element) * F::BINADE * inexact - ERRORS).floor();
        if !(step >= FINEST && least.is_finite()) {
            return None;
        }

        // 2. The base: below the smallest magnitude, unless the largest would be out of reach.
        let mut places: Vec<_> = sample
            .map(<T as Via<F>>::up)
            .filter(|x| x.value() != 0.0)
            .map(|x| x.place().unsigned() as f64)
            .collect();
        let low = places.iter().copied().reduce(f64::min).unwrap_or(0.0) - MARGIN * F::BINADE;
        let high = places.iter().copied().fold(0.0, f64::max) + MARGIN * F::BINADE;
        let base = low.max(high - most * step).max(0.0);
        let count = places.len();
        places.retain(|&place| place < base);
        if places.len() > count / RARE {
            return None;
        }
        // Whole, and exact as a double.
        let base = (base / F::BINADE * 2.0).floor() * F::BINADE / 2.0;
        Some(Self {
            lattice: Lattice::new(step, base),
            inverse: F::of(1.0 / step),
            limit,
            least: F::of(least),
            most: F::of(most),
            fill: fill.typed(T::from_f64),
        })
    }

    /// Coordinate of `x`, and whether it is usable.
    #[inline(always)]
    fn one<W: Word, const MANY_FILLS: bool>(&self, x: T) -> (W, bool) {
        let real = <T as Via<F>>::up(x);
        let (coordinate, reached) = real.coordinate(self.inverse, self.lattice.base, self.most);
        let q = W::truncate(coordinate.cast_unsigned());
        let decoded: T = self.lattice.decode(q);
        let (size, error) = (real.abs(), Real::abs(<T as Via<F>>::up(decoded).sub(real)));
        // NaN fails every comparison, infinities the second one, and zero the first one.
        let sound = (size >= self.least) & (size <= F::LARGEST);
        let within = (error <= size.mul(self.limit)) & sound;
        let zero = real == F::of(0.0);
        let ordinary = match MANY_FILLS {
            true => !self.fill.contains(x),
            false => x != self.fill.first(),
        };
        (q, reached & (within | zero) & ordinary)
    }
}

impl<T: Element + Via<F>, F: Placed> Scale<T> for Relative<T, F> {
    fn step(&self) -> f64 {
        self.lattice.step.unsigned() as f64
    }

    fn base(&self) -> f64 {
        self.lattice.base.unsigned() as f64
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
    fn accepts<W: Word>(&self, x: T) -> bool {
        self.one::<W, true>(x).1
    }
}
