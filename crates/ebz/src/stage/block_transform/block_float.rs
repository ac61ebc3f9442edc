//! Block floating point: conversion of `f32` and `f64` to and from the integers of the transform.

use crate::element::Float;
use std::ops::Sub;

/// Binary digits below the step of rounded coefficients: the transform truncates the last ones.
pub const FRACTION_BITS: u32 = 6;

/// A signed integer with wrapping arithmetic, as in zfp's C code.
pub trait BlockInt: Copy + Default + PartialOrd + bytemuck::Pod {
    /// Number of bits, which is also the number of bit planes.
    const BITS: u32;
    /// The negabinary mask: every other bit.
    const NEGABINARY: Self;

    /// Sign-extends to 64 bits.
    fn widen(self) -> i64;
    /// The low bits of an integer.
    fn narrow(number: i64) -> Self;

    // The compiler narrows these 64-bit operations to the width of the type.
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::narrow(self.widen().wrapping_add(other.widen()))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self::narrow(self.widen().wrapping_sub(other.widen()))
    }
    #[inline(always)]
    fn half(self) -> Self {
        Self::narrow(self.widen() >> 1)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self::narrow(self.widen() & other.widen())
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self::narrow(self.widen() ^ other.widen())
    }
    /// The sign-extended bits.
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.widen().cast_unsigned()
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Self::narrow(word.cast_signed())
    }
}

/// A float that can be converted to block floating point.
pub trait BlockFloat: Float + Sub<Output = Self> {
    /// Integer of the same width.
    type Int: BlockInt;
    /// Width of the stored mantissa.
    const MANTISSA_BITS: u32;
    /// Width of the exponent field.
    const EXPONENT_BITS: u32 = Self::Int::BITS - 1 - Self::MANTISSA_BITS;
    /// Exponent field of NaN and infinities; no block of finite numbers has it.
    const SPECIAL_EXPONENT: u32 = (1 << Self::EXPONENT_BITS) - 1;
    /// Smallest block exponent (biased). Below it, the unit of [`BlockFloat::dequantize`] would be
    /// subnormal. Smaller values become zero; the proof of the bound catches them.
    const MIN_EXPONENT: u32 = Self::Int::BITS - 2;

    /// Truncates to an integer, in units that give a value of `exponent` all bits but the sign and one
    /// more.
    fn quantize(self, exponent: Self::Int) -> Self::Int;
    /// An integer times its unit, rounded to nearest.
    fn dequantize(int: Self::Int, unit: Self) -> Self;

    /// Largest magnitude of the integers of [`BlockFloat::fixed`]. Leaves room for the transform, and for
    /// differences of 32 bits after [`FRACTION_BITS`] are gone.
    const MAX_FIXED: f64;
    /// The product with a scale as an integer, truncated or rounded; any below [`Self::MAX_FIXED`].
    fn fixed(self, scale: Self) -> Self::Int;

    /// The unit of [`BlockFloat::quantize`].
    #[inline(always)]
    fn unit(exponent: u32) -> Self {
        // 2^(E − bias + 1 − (bits − 2)): the exponent field decreases by bits − 3.
        let field = exponent.saturating_sub(Self::Int::BITS - 3);
        Self::from_word(u64::from(field) << Self::MANTISSA_BITS)
    }

    /// Bit pattern of the absolute value; ordered like the absolute values, NaN last.
    #[inline(always)]
    fn magnitude(self) -> Self::Int {
        Self::Int::from_word(self.to_word() & (u64::MAX >> (65 - Self::Int::BITS)))
    }

    /// The non-negative value with this magnitude.
    #[inline(always)]
    fn of_magnitude(magnitude: Self::Int) -> Self {
        Self::from_word(magnitude.to_word())
    }

    /// The exponent field of a magnitude.
    #[inline(always)]
    fn exponent(magnitude: Self::Int) -> u32 {
        (magnitude.to_word() >> Self::MANTISSA_BITS) as u32
    }

    /// |self − other|, rounded to this type.
    #[inline(always)]
    fn distance(self, other: Self) -> Self {
        Self::of_magnitude((self - other).magnitude())
    }
}

macro_rules! block_float {
    ($float:ty, $int:ty, $uint:ty, $convert:expr, $fixed_bits:expr, $fixed:expr) => {
        impl BlockInt for $int {
            const BITS: u32 = <$int>::BITS;
            const NEGABINARY: Self = (<$uint>::MAX / 3 * 2) as $int;

            #[inline(always)]
            fn widen(self) -> i64 {
                i64::from(self)
            }
            #[inline(always)]
            fn narrow(number: i64) -> Self {
                number as $int
            }
        }

        impl BlockFloat for $float {
            type Int = $int;
            const MANTISSA_BITS: u32 = <$float>::MANTISSA_DIGITS - 1;

            #[inline(always)]
            fn quantize(self, exponent: $int) -> $int {
                // Bit operations instead of a multiplication and a cast, because they vectorize.
                const TOP: $uint = 1 << <$float as BlockFloat>::MANTISSA_BITS;
                let bits = self.to_bits();
                let mantissa = (bits & (TOP - 1)) | TOP;
                let own = ((bits & (<$uint>::MAX >> 1)) >> Self::MANTISSA_BITS) as $int;
                let shift = (exponent - own).clamp(0, <$int>::BITS as $int - 1);
                let size = ((mantissa << (Self::EXPONENT_BITS - 2)) >> shift) as $int;
                let sign = bits as $int >> (<$int>::BITS - 1);
                (size ^ sign) - sign
            }

            #[inline(always)]
            fn dequantize(int: $int, unit: Self) -> Self {
                $convert(int) * unit
            }

            const MAX_FIXED: f64 = (1u64 << $fixed_bits) as f64;

            #[inline(always)]
            fn fixed(self, scale: Self) -> $int {
                $fixed(self * scale)
            }
        }
    };
}

block_float!(f32, i32, u32, |int: i32| int as f32, 28, |x: f32| x as i32);
block_float!(f64, i64, u64, nearest_f64, 36, nearest_i64);

/// The nearest integer of a number below 2⁵¹, in operations that vectorize.
#[inline(always)]
fn nearest_i64(x: f64) -> i64 {
    const MIDDLE: f64 = 6_755_399_441_055_744.0;
    (x + MIDDLE)
        .to_bits()
        .wrapping_sub(MIDDLE.to_bits())
        .cast_signed()
}

/// `int as f64` in operations that vectorize: both halves are exact, so that only the sum is rounded.
#[inline(always)]
fn nearest_f64(int: i64) -> f64 {
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    let high = f64::from((int >> 32) as i32) * 4_294_967_296.0;
    let low = f64::from_bits(TWO_52 | (int as u64 & 0xffff_ffff)) - f64::from_bits(TWO_52);
    high + low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantize_is_a_truncated_product() {
        for x in [
            1.0f32,
            -1.5,
            0.1,
            3e-5,
            -7.25e-9,
            0.0,
            -0.0,
            1e-40,
            1.999_999_9,
        ] {
            let scaled = f64::from(x) * 2f64.powi(29);
            assert_eq!(x.quantize(127), scaled as i32, "{x}");
        }
        for x in [
            1.0f64,
            -1.5,
            0.1,
            3e-5,
            -7.25e-19,
            0.0,
            1e-310,
            -1.999_999_999_999_999,
        ] {
            let scaled = x * 2f64.powi(61);
            assert_eq!(x.quantize(1023), scaled as i64, "{x}");
        }
    }

    #[test]
    fn dequantize_rounds_like_a_cast() {
        for int in [
            0,
            1,
            -1,
            i64::MAX,
            i64::MIN,
            1 << 53,
            (1 << 53) + 1,
            -(1 << 60) - 129,
            0x7fff_ffff_ffff_fe00,
        ] {
            assert_eq!(nearest_f64(int), int as f64, "{int}");
        }
        assert_eq!(f32::unit(126 + 30), 1.0);
        assert_eq!(f64::unit(1022 + 62), 1.0);
        assert_eq!(f32::unit(f32::MIN_EXPONENT), f32::MIN_POSITIVE);
        assert_eq!(f64::unit(f64::MIN_EXPONENT), f64::MIN_POSITIVE);
    }
}
