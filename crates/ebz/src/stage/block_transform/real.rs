//! What the transform needs of `f32` and `f64`, and of the integers that it works on.

use crate::element::Element;

/// A signed integer of a block: wrapping arithmetic, as zfp's C code has it.
pub trait Int: Copy + Default + PartialOrd + bytemuck::Pod {
    /// Bits of the integer, which is also the number of bit planes.
    const BITS: u32;
    /// The negabinary mask: every other bit.
    const NEGABINARY: Self;

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn half(self) -> Self;
    fn and(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

macro_rules! int {
    ($int:ty, $uint:ty) => {
        impl Int for $int {
            const BITS: u32 = <$int>::BITS;
            const NEGABINARY: Self = (<$uint>::MAX / 3 * 2) as $int;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn half(self) -> Self {
                self >> 1
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn to_word(self) -> u64 {
                u64::from(self as $uint)
            }
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $int
            }
        }
    };
}

int!(i32, u32);
int!(i64, u64);

/// A floating-point type that can be turned into block floating point.
pub trait Real: Element {
    /// Integer of the same width.
    type Int: Int;
    /// Its vectors with AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: super::vectors::Vectors<Self>;
    /// Width of the exponent field.
    const EXPONENT_BITS: u32;
    /// Width of the stored mantissa.
    const MANTISSA_BITS: u32;
    /// Smallest block exponent (biased). With less, the scale of [`Real::dequantize`] would not be
    /// a normal number; what lies that low is lost and caught by the bound check.
    const MIN_EXPONENT: u32;
    /// The exponent field of NaN and the infinities, which no block of numbers has.
    const SPECIAL_EXPONENT: u32;

    /// Bit pattern of the absolute value; ordered as the absolute values are, NaN last.
    fn magnitude(self) -> Self::Int;
    /// The value truncated to an integer, in units that give a value of `exponent` all bits but
    /// sign and one.
    fn quantize(self, exponent: Self::Int) -> Self::Int;
    /// The unit of [`Real::quantize`].
    fn unit(exponent: u32) -> Self;
    /// The nearest value to an integer times its unit.
    fn dequantize(int: Self::Int, unit: Self) -> Self;
    /// |self − other|, rounded to this type.
    fn distance(self, other: Self) -> Self;
}

macro_rules! real {
    ($real:ty, $int:ty, $uint:ty, $vectors:ident, $exponent:literal, $convert:expr) => {
        impl Real for $real {
            type Int = $int;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = super::avx2::$vectors;
            const EXPONENT_BITS: u32 = $exponent;
            const MANTISSA_BITS: u32 = <$real>::MANTISSA_DIGITS - 1;
            const MIN_EXPONENT: u32 = <$int>::BITS - 2;
            const SPECIAL_EXPONENT: u32 = (1 << $exponent) - 1;

            #[inline(always)]
            fn magnitude(self) -> $int {
                (self.to_bits() & (<$uint>::MAX >> 1)) as $int
            }

            #[inline(always)]
            fn quantize(self, exponent: $int) -> $int {
                // Bits instead of a multiplication and a cast: every step has a vector form.
                const TOP: $uint = 1 << <$real as Real>::MANTISSA_BITS;
                let bits = self.to_bits();
                let mantissa = (bits & (TOP - 1)) | TOP;
                let own = ((bits & (<$uint>::MAX >> 1)) >> Self::MANTISSA_BITS) as $int;
                let shift = (exponent - own).clamp(0, <$int>::BITS as $int - 1);
                let size = ((mantissa << (Self::EXPONENT_BITS - 2)) >> shift) as $int;
                let sign = bits as $int >> (<$int>::BITS - 1);
                (size ^ sign) - sign
            }

            #[inline(always)]
            fn unit(exponent: u32) -> Self {
                // 2^(E − bias + 1 − (bits − 2)): the exponent field falls by bits − 3.
                let field = exponent.saturating_sub(<$int>::BITS - 3) as $uint;
                <$real>::from_bits(field << Self::MANTISSA_BITS)
            }

            #[inline(always)]
            fn dequantize(int: $int, unit: Self) -> Self {
                $convert(int) * unit
            }

            #[inline(always)]
            fn distance(self, other: Self) -> Self {
                (self - other).abs()
            }
        }
    };
}

real!(f32, i32, u32, Single, 8, |int: i32| int as f32);
real!(f64, i64, u64, Double, 11, nearest_f64);

/// `int as f64` in steps that have a vector form: both halves are exact, so the sum is rounded once.
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
    fn dequantize_rounds_as_a_cast_does() {
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
