//! The arithmetic that the kernels need, for both element types.
//!
//! Every operation is one IEEE operation without contraction, so that each instruction set computes
//! the same bits.

use super::lanes::Lanes;
use crate::element::Float;
use crate::stage::proof::Proof;
use std::ops::{Add, Mul, Sub};

/// Quantized residuals are at most this far from zero.
pub(super) const LARGEST: i16 = 30_000;

/// A number type with fast rounding to small integers.
pub(super) trait Real:
    Float + Lanes + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// 1.5 times the power of two above which there are no fractions.
    const ROUNDING: Self;
    /// Integers below this survive adding [`Real::ROUNDING`].
    const EXACT: Self;
    /// Residuals of more steps than this belong to values that say nothing about their neighbours.
    const SPIKE: Self;

    /// Half the largest step: sums of some steps must be finite.
    const COARSEST: f64;

    /// Magnitude.
    fn magnitude(self) -> Self;
    /// The integer that was rounded by adding [`Real::ROUNDING`].
    fn rounded(self) -> i32;
    /// Single precision, for estimates.
    fn to_f32(self) -> f32;
    /// A small integer.
    fn from_i32(value: i32) -> Self;
}

macro_rules! real {
    ($type:ty, $signed:ty, $fraction:expr, $exact:expr, $spike:expr) => {
        impl Real for $type {
            const ROUNDING: Self = 1.5 * (1u64 << $fraction) as Self;
            const EXACT: Self = $exact;
            const SPIKE: Self = $spike;
            const COARSEST: f64 = <$type>::MAX as f64 / 8.0;

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn rounded(self) -> i32 {
                (self.to_bits() as $signed).wrapping_sub(Self::ROUNDING.to_bits() as $signed) as i32
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn from_i32(value: i32) -> Self {
                value as Self
            }
        }
    };
}

real!(f32, i32, 23, 4.0e6, 1.6e7);
real!(f64, i64, 52, 1.0e9, 1.0e12);

/// What quantization with a bound needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<T> {
    /// Distance of two neighbouring reconstructions.
    pub(super) size: T,
    /// Its reciprocal.
    pub(super) inverse: T,
    /// Rounded errors up to this prove the bound.
    pub(super) limit: T,
}

impl<T: Real> Step<T> {
    /// Steps for `bound / tightening`, checked against `bound`; nothing if the type is too coarse.
    pub(super) fn new(bound: f64, tightening: f64) -> Option<Self> {
        let limit = Proof::<T>::new(bound).limit();
        let size = T::from_f64(2.0 * (limit.to_f64().min(T::COARSEST) / tightening));
        let inverse = T::from_f64(1.0 / size.to_f64());
        let usable = limit > T::default()
            && size > T::default()
            && size.is_finite()
            && inverse.is_finite()
            && inverse > T::default();
        usable.then_some(Self {
            size,
            inverse,
            limit,
        })
    }

    /// Whether an error breaks the bound; NaN does.
    #[inline(always)]
    #[allow(
        clippy::neg_cmp_op_on_partial_ord,
        reason = "the error of what is not a number must count"
    )]
    pub(super) fn misses(&self, error: T) -> bool {
        !(error.magnitude() <= self.limit)
    }

    /// `value / size`, rounded to an integer, if that is within range.
    #[inline(always)]
    pub(super) fn quantize(&self, value: T) -> Option<i32> {
        let scaled = value * self.inverse;
        (scaled.magnitude() < T::EXACT).then(|| (scaled + T::ROUNDING).rounded())
    }
}
