//! Arithmetic of the kernels, for both element types.
//!
//! Every operation is a single IEEE operation without contraction, so that all instruction sets
//! compute identical bits.

use super::lanes::Lanes;
use crate::element::Float;
use crate::element::real::Real;
use crate::stage::proof::Proof;
use std::ops::{Add, Mul, Sub};

/// Largest magnitude of a quantized residual.
pub(super) const MAX_RESIDUAL: i16 = 30_000;

/// An element type with what this codec needs beyond [`Float`].
pub(super) trait Number:
    Float + Lanes + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Magnitudes below this are rounded correctly by adding `ROUNDER`.
    const MAX_EXACT: Self;
    /// A value with a residual of more steps than this is a spike, and excluded from predictions.
    const SPIKE_STEPS: Self;
    /// Limit of half a step: sums of a few steps must be finite.
    const MAX_HALF_STEP: f64;

    /// The integer that was rounded by adding `ROUNDER`.
    fn rounded(self) -> i32;
    /// Single precision, for estimates.
    fn to_f32(self) -> f32;
}

macro_rules! number {
    ($type:ty, $signed:ty, $exact:expr, $spike:expr) => {
        impl Number for $type {
            const MAX_EXACT: Self = $exact;
            const SPIKE_STEPS: Self = $spike;
            const MAX_HALF_STEP: f64 = <$type>::MAX as f64 / 8.0;

            #[inline(always)]
            fn rounded(self) -> i32 {
                (self.to_bits() as $signed).wrapping_sub(Self::ROUNDER.to_bits() as $signed) as i32
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
        }
    };
}

number!(f32, i32, 4.0e6, 1.6e7);
number!(f64, i64, 1.0e9, 1.0e12);

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

impl<T: Number> Step<T> {
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
        !(error.abs() <= self.limit)
    }

    /// `value / size` rounded to an integer, if in range.
    #[inline(always)]
    pub(super) fn quantize(&self, value: T) -> Option<i32> {
        let scaled = value * self.inverse;
        (scaled.abs() < T::MAX_EXACT).then(|| (scaled + T::ROUNDER).rounded())
    }
}
