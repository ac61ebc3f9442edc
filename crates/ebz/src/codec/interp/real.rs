//! Arithmetic of the kernels, for both element types.
//!
//! Every operation is a single IEEE operation without contraction, so that all instruction sets
//! compute identical bits.

use super::lanes::Lanes;
use crate::element::Float;
use crate::stage::proof::Proof;
use std::ops::{Add, Mul, Sub};

/// Largest magnitude of a quantized residual.
pub(super) const MAX_RESIDUAL: i16 = 30_000;

/// A number type with fast rounding to small integers.
pub(super) trait Real:
    Float + Lanes + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// 1.5 times the smallest power of two whose spacing is 1: adding it rounds to an integer.
    const ROUNDING: Self;
    /// Magnitudes below this are rounded correctly by adding [`Real::ROUNDING`].
    const MAX_EXACT: Self;
    /// A value with a residual of more steps than this is a spike, and excluded from predictions.
    const SPIKE_STEPS: Self;

    /// Limit of half a step: sums of a few steps must be finite.
    const MAX_HALF_STEP: f64;

    /// Absolute value.
    fn magnitude(self) -> Self;
    /// The integer that was rounded by adding [`Real::ROUNDING`].
    fn rounded(self) -> i32;
    /// Single precision, for estimates.
    fn to_f32(self) -> f32;
    /// Converts a small integer.
    fn from_i32(value: i32) -> Self;
}

macro_rules! real {
    ($type:ty, $signed:ty, $fraction:expr, $exact:expr, $spike:expr) => {
        impl Real for $type {
            const ROUNDING: Self = 1.5 * (1u64 << $fraction) as Self;
            const MAX_EXACT: Self = $exact;
            const SPIKE_STEPS: Self = $spike;
            const MAX_HALF_STEP: f64 = <$type>::MAX as f64 / 8.0;

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

/// Quantization step and its error limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<T> {
    /// Spacing of the lattice.
    pub(super) size: T,
    /// Its reciprocal.
    pub(super) inverse: T,
    /// A rounded error of at most this proves the bound.
    pub(super) limit: T,
}

impl<T: Real> Step<T> {
    /// A step for `bound / tightening`, with the error limit of `bound`; `None` if the type is too
    /// coarse.
    pub(super) fn new(bound: f64, tightening: f64) -> Option<Self> {
        let limit = Proof::<T>::new(bound).limit();
        let size = T::from_f64(2.0 * (limit.to_f64().min(T::MAX_HALF_STEP) / tightening));
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

    /// Whether an error violates the bound; NaN does.
    #[inline(always)]
    #[allow(
        clippy::neg_cmp_op_on_partial_ord,
        reason = "NaN must violate the bound"
    )]
    pub(super) fn misses(&self, error: T) -> bool {
        !(error.magnitude() <= self.limit)
    }

    /// `value / size` rounded to an integer, if in range.
    #[inline(always)]
    pub(super) fn quantize(&self, value: T) -> Option<i32> {
        let scaled = value * self.inverse;
        (scaled.magnitude() < T::MAX_EXACT).then(|| (scaled + T::ROUNDING).rounded())
    }
}
