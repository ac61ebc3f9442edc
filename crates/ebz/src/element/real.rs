//! Arithmetic for quantizing elements and checking the bound.

use super::Element;
use super::word::Word;

/// A type that codecs compute in: `f32` or `f64`.
pub trait Real: Element<Wide = Self> + Via<f64> + Via<Self> {
    /// The unsigned integer of the same size.
    type Order: Word;

    /// 1.5 · 2^(mantissa bits): adding it rounds to an integer.
    const ROUNDER: Self;
    /// Relative rounding error of one operation.
    const EPSILON: f64;
    /// Smallest positive normal number.
    const LEAST: f64;
    /// Significant bits of a quantization step.
    const STEP_BITS: u32;
    /// Largest |k|: beyond it, adjacent lattice points may round to the same number of this type.
    const FARTHEST: i64;

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn from_i64(value: i64) -> Self;
    /// Rounds a finite, non-negative number down.
    fn round_down(value: f64) -> Self;
}

macro_rules! real {
    ($float:ty, $order:ty, $int:ty, $rounder:expr, $step_bits:expr, $farthest:expr) => {
        impl Real for $float {
            type Order = $order;
            const ROUNDER: Self = $rounder;
            const EPSILON: f64 = <$float>::EPSILON as f64;
            const LEAST: f64 = <$float>::MIN_POSITIVE as f64;
            const STEP_BITS: u32 = $step_bits;
            const FARTHEST: i64 = $farthest;

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

// Step times coordinate is exact: for 16-bit coordinates in single precision, for 32-bit ones (and
// every step of single precision) in double precision.
real!(f32, u32, i32, 12_582_912.0, 24 - 15, 1 << 22);
real!(f64, u64, i32, 6_755_399_441_055_744.0, 53 - 32, 1 << 48);

/// Conversion between an element type and the arithmetic of the quantizer.
pub trait Via<F> {
    /// Exact.
    fn widen(self) -> F;
    /// Rounded to nearest.
    fn narrow(real: F) -> Self;
}

impl Via<f32> for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
    #[inline(always)]
    fn narrow(real: f32) -> Self {
        real
    }
}

impl Via<f64> for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn narrow(real: f64) -> Self {
        real as Self
    }
}

impl Via<f64> for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(real: f64) -> Self {
        real
    }
}

/// |x − y| as a rounded number and its rounding error (Knuth's two-sum).
pub(crate) fn difference(x: f64, y: f64) -> (f64, f64) {
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    let size = large - small;
    let used = size - large;
    (size, (large - (size - used)) - (small + used))
}

/// Whether one number is at most another; both are rounded numbers with their rounding errors.
pub(crate) fn at_most(size: (f64, f64), limit: (f64, f64)) -> bool {
    size.0 < limit.0 || size.0 == limit.0 && size.1 <= limit.1
}
