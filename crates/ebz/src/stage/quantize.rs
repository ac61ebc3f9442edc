//! Quantization with a checked bound: q = round((x − base) / step), x′ = q · step + base.
//!
//! Both directions use the same arithmetic `F`, one rounding per operation and no fused
//! multiply-add, so that the encoder sees exactly the value that the decoder will make.
//!
//! Rounding is done by adding 1.5 · 2^(mantissa bits): the sum has no fraction bits left, and its
//! low bits are q in two's complement.

use super::UNIT;
use super::word::Word;
use crate::element::Element;
use crate::fill::{FillValues, TypedFill};

/// Arithmetic of the quantizer: `f32` or `f64`.
pub trait Real: Copy + PartialOrd + Send + Sync + 'static {
    /// 1.5 · 2^(mantissa bits).
    const ROUNDER: Self;
    /// Relative rounding error of one operation.
    const EPSILON: f64;

    fn of(value: f64) -> Self;
    fn value(self) -> f64;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// The bit pattern.
    fn bits(self) -> u64;
    fn from_i64(value: i64) -> Self;
    /// The largest number that is not above `value`, which is finite and not negative.
    fn round_down(value: f64) -> Self;
}

macro_rules! real {
    ($float:ty, $int:ty, $rounder:expr) => {
        impl Real for $float {
            const ROUNDER: Self = $rounder;
            const EPSILON: f64 = <$float>::EPSILON as f64;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn value(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as $int as Self
            }
            fn round_down(value: f64) -> Self {
                let near = value as Self;
                if f64::from(near) > value {
                    near.next_down()
                } else {
                    near
                }
            }
        }
    };
}

real!(f32, i32, 12_582_912.0);
real!(f64, i32, 6_755_399_441_055_744.0);

/// Conversion between an element and the arithmetic of the quantizer.
pub trait Via<F> {
    /// Exact.
    fn up(self) -> F;
    /// Rounded to nearest.
    fn down(real: F) -> Self;
}

impl Via<f32> for f32 {
    #[inline(always)]
    fn up(self) -> f32 {
        self
    }
    #[inline(always)]
    fn down(real: f32) -> Self {
        real
    }
}

impl Via<f64> for f32 {
    #[inline(always)]
    fn up(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn down(real: f64) -> Self {
        real as Self
    }
}

impl Via<f64> for f64 {
    #[inline(always)]
    fn up(self) -> f64 {
        self
    }
    #[inline(always)]
    fn down(real: f64) -> Self {
        real
    }
}

/// What the stages need of an element.
pub trait Staged: Real + Via<f64> + Via<Self> {
    /// The integer of the same size.
    type Order: Word;
}

impl Staged for f32 {
    type Order = u32;
}

impl Staged for f64 {
    type Order = u64;
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
pub(super) fn quantize_unit<T: Element, W: Word>(
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
    pub step: F,
    /// The value of q = 0.
    pub base: F,
    /// 1 / step, rounded towards 0.
    inverse: F,
    /// Largest |x′ − x| that counts as within the bound.
    limit: T,
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

impl<T: Element + Via<F>, F: Real> Quantizer<T, F> {
    /// A lattice with the given step for q of `bits` bits, of which every value is checked
    /// against `bound`.
    ///
    /// Why the check is exact, although x′ − x is rounded: rounding is monotone, so that a
    /// difference above the bound never rounds below `round_down(bound)`. With base 0 it never
    /// rounds *to* it either: for |x| ≥ 2·bound the difference is exact (Sterbenz), for q = 0 it
    /// is x itself, and q = ±1 with |x| < bound cannot happen because `inverse` is rounded
    /// towards 0. With another base the next smaller limit makes up for it.
    pub fn new(step: f64, base: f64, bound: f64, bits: u32, fill: &FillValues) -> Self {
        let step = F::round_down(step);
        let mut limit = <T as Real>::round_down(bound);
        if base != 0.0 {
            limit = <T as Real>::round_down(limit.value().next_down());
        }
        Self {
            step,
            base: F::of(base),
            inverse: F::round_down((1.0 / step.value()).next_down()),
            limit,
            most: F::of(((1u64 << (bits - 1)) - 2) as f64),
            fill: fill.typed(T::from_f64),
            work: match fill.as_slice().len() {
                0 if base == 0.0 => Work::Plain,
                0 | 1 => Work::OneFill,
                _ => Work::ManyFills,
            },
        }
    }

    /// Lattice coordinate of `x`, and whether it is usable.
    #[inline(always)]
    fn one<W: Word, const WORK: u8>(&self, x: T) -> (W, bool) {
        let real = <T as Via<F>>::up(x);
        let offset = match WORK {
            PLAIN => real,
            _ => real.sub(self.base),
        };
        let rounded = offset.mul(self.inverse).add(F::ROUNDER);
        let q = rounded.sub(F::ROUNDER);
        let decoded = match WORK {
            PLAIN => Self::decode::<true>(q, self.step, self.base),
            _ => Self::decode::<false>(q, self.step, self.base),
        };
        // NaN and infinities fail both comparisons.
        let good = (Real::sub(decoded, x).abs() <= self.limit) & (q.abs() <= self.most);
        let ordinary = match WORK {
            PLAIN => true,
            ONE_FILL => x != self.fill.first(),
            _ => !self.fill.contains(x),
        };
        (W::truncate(rounded.bits()), good & ordinary)
    }

    /// The value of a coordinate.
    #[inline(always)]
    fn decode<const PLAIN: bool>(q: F, step: F, base: F) -> T {
        let offset = q.mul(step);
        <T as Via<F>>::down(if PLAIN { offset } else { offset.add(base) })
    }

    /// Values of a unit of coordinates.
    #[inline(always)]
    pub fn inverse<W: Word>(step: F, base: F, q: &[W; UNIT], values: &mut [T; UNIT]) {
        if base.value() == 0.0 {
            for (value, q) in values.iter_mut().zip(q) {
                *value = Self::decode::<true>(F::from_i64(q.signed()), step, base);
            }
        } else {
            for (value, q) in values.iter_mut().zip(q) {
                *value = Self::decode::<false>(F::from_i64(q.signed()), step, base);
            }
        }
    }
}

impl<T: Element + Via<F>, F: Real> Scale<T> for Quantizer<T, F> {
    fn step(&self) -> f64 {
        self.step.value()
    }

    fn base(&self) -> f64 {
        self.base.value()
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
