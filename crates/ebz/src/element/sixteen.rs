//! 16-bit element types, which codecs see in single precision.
//!
//! Conversions use integer arithmetic: hardware conversions alter NaNs.

use super::{Element, ElementType, bf16, f16};

/// Sign bit of a 16-bit pattern.
const SIGN: u16 = 0x8000;
/// Bit pattern of infinity in single precision.
const INFINITY: u32 = 0x7f80_0000;

/// Difference of the exponent biases of single and half precision, shifted into place.
const REBIAS: u32 = (127 - 15) << 23;
/// Smallest normal number of half precision, in single precision.
const LEAST_NORMAL: u32 = REBIAS + (1 << 23);
/// A number whose ulp is the spacing of half-precision subnormals.
const SUBNORMAL_ROUNDER: u32 = (127 - 1) << 23;

/// Exact; NaNs keep their payloads.
#[inline(always)]
fn f16_to_f32(word: u16) -> f32 {
    let magnitude = u32::from(word & !SIGN) << 13;
    let exponent = magnitude & (0x1f << 23);
    let subnormal = f32::from_bits(magnitude + LEAST_NORMAL) - f32::from_bits(LEAST_NORMAL);
    let bits = match exponent {
        0 => subnormal.to_bits(),
        0x0f80_0000 => magnitude + 2 * REBIAS,
        _ => magnitude + REBIAS,
    };
    f32::from_bits(bits | u32::from(word & SIGN) << 16)
}

/// Nearest, ties to even; finite numbers stay finite.
#[inline(always)]
fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & !(1 << 31);
    let even = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
    let normal = (even.wrapping_sub(REBIAS) >> 13).min(0x7bff);
    let rounded = f32::from_bits(magnitude) + f32::from_bits(SUBNORMAL_ROUNDER);
    let subnormal = rounded.to_bits().wrapping_sub(SUBNORMAL_ROUNDER);
    // A truncated payload must not turn NaN into infinity.
    let payload = magnitude >> 13 & 0x3ff;
    let nan = 0x7c00 | if payload == 0 { 0x200 } else { payload };
    let special = if magnitude == INFINITY { 0x7c00 } else { nan };
    let finite = if magnitude < LEAST_NORMAL {
        subnormal
    } else {
        normal
    };
    let result = if magnitude < INFINITY {
        finite
    } else {
        special
    };
    result as u16 | (bits >> 16) as u16 & SIGN
}

/// Exact; NaNs keep their payloads.
#[inline(always)]
fn bf16_to_f32(word: u16) -> f32 {
    f32::from_bits(u32::from(word) << 16)
}

/// Nearest, ties to even; finite numbers stay finite.
#[inline(always)]
fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & !(1 << 31);
    let even = magnitude.wrapping_add(0x7fff + (magnitude >> 16 & 1));
    let finite = (even >> 16).min(0x7f7f);
    let payload = magnitude >> 16 & 0x7f;
    let nan = 0x7f80 | if payload == 0 { 0x40 } else { payload };
    let special = if magnitude == INFINITY { 0x7f80 } else { nan };
    let result = if magnitude < INFINITY {
        finite
    } else {
        special
    };
    result as u16 | (bits >> 16) as u16 & SIGN
}

/// Rounds to a 16-bit format with this many mantissa bits and this minimum exponent; ties to even,
/// overflow to infinity.
fn round_f64(value: f64, fraction: u32, least: i32) -> u16 {
    let infinity = SIGN - (1 << fraction);
    let sign = if value.is_sign_negative() { SIGN } else { 0 };
    let bits = value.abs().to_bits();
    let magnitude = if value.is_nan() {
        infinity | 1 << (fraction - 1)
    } else {
        let exponent = ((bits >> 52) as i32 - 1023).max(least);
        let spacing = f64::from_bits(((1023 + exponent - fraction as i32) as u64) << 52);
        let units = (value.abs() / spacing).round_ties_even();
        let start = f64::from((exponent - least) as u32 * (1 << fraction));
        (start + units).min(f64::from(infinity)) as u16
    };
    sign | magnitude
}

macro_rules! sixteen {
    ($type:ident, $element:ident, $names:expr, $fraction:expr, $least:expr, $widen:ident, $narrow:ident) => {
        impl Element for $type {
            const TYPE: ElementType = ElementType::$element;
            const NAMES: &'static [&'static str] = &$names;
            const FRACTION_BITS: u32 = $fraction;
            type Wide = f32;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self.to_wide())
            }
            fn from_f64(value: f64) -> Self {
                Self::from_bits(round_f64(value, $fraction, $least))
            }
            #[inline(always)]
            fn to_word(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                Self::from_bits(word as u16)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.to_bits() & !SIGN < SIGN - (1 << $fraction)
            }
            #[inline(always)]
            fn to_wide(self) -> f32 {
                $widen(self.to_bits())
            }
            #[inline(always)]
            fn from_wide(wide: f32) -> Self {
                Self::from_bits($narrow(wide))
            }
        }
    };
}

sixteen!(
    f16,
    F16,
    ["f16", "float16", "half"],
    10,
    -14,
    f16_to_f32,
    f32_to_f16
);
sixteen!(
    bf16,
    BF16,
    ["bf16", "bfloat16"],
    7,
    -126,
    bf16_to_f32,
    f32_to_bf16
);

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip_every_pattern<T: Element<Wide = f32>>(reference: fn(u16) -> f64) {
        let mut seen = std::collections::HashSet::new();
        for word in 0..=u16::MAX {
            let value = T::from_word(word.into());
            let wide = value.to_wide();
            assert!(seen.insert(wide.to_bits()), "{word:#x} twice");
            assert_eq!(T::from_wide(wide).to_word(), u64::from(word), "{word:#x}");
            assert_eq!(value.is_finite(), wide.is_finite(), "{word:#x}");
            let expected = reference(word);
            match expected.is_nan() {
                true => assert!(value.to_f64().is_nan(), "{word:#x}"),
                false => {
                    assert_eq!(value.to_f64().to_bits(), expected.to_bits(), "{word:#x}");
                    assert_eq!(
                        T::from_f64(expected).to_word(),
                        u64::from(word),
                        "{word:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_bit_pattern_round_trips() {
        round_trip_every_pattern::<f16>(|word| f16::from_bits(word).to_f64());
        round_trip_every_pattern::<bf16>(|word| bf16::from_bits(word).to_f64());
    }

    /// Rounding of midpoints and their neighbours, for every pair of adjacent values.
    fn halves_are_rounded_to_even<T: Element<Wide = f32>>(largest: u64) {
        for word in 0..largest {
            let [low, high] = [word, word + 1].map(|word| T::from_word(word).to_f64());
            let middle = (low + high) / 2.0;
            let even = word + word % 2;
            // The midpoint is exact in single precision unless it is subnormal there.
            for (value, expected) in [
                (middle, even),
                (middle.next_down(), word),
                (middle.next_up(), word + 1),
            ] {
                assert_eq!(T::from_f64(value).to_word(), expected, "{value:e}");
                assert_eq!(
                    T::from_f64(-value).to_word() & 0x7fff,
                    expected,
                    "{value:e}"
                );
            }
            let single = middle as f32;
            for value in [single, single.next_down(), single.next_up()] {
                let expected = T::from_f64(f64::from(value)).to_word();
                assert_eq!(T::from_wide(value).to_word(), expected, "{value:e}");
                assert_eq!(
                    T::from_wide(-value).to_word(),
                    expected | 0x8000,
                    "{value:e}"
                );
            }
        }
        // `from_wide` saturates, `from_f64` overflows to infinity.
        let most = T::from_word(largest).to_f64();
        assert!(most.is_finite());
        assert_eq!(T::from_wide(f32::MAX).to_word(), largest);
        assert_eq!(T::from_wide(f32::MIN).to_word(), largest | 0x8000);
        assert_eq!(T::from_wide(f32::INFINITY).to_word(), largest + 1);
        assert_eq!(T::from_f64(f64::MAX).to_word(), largest + 1);
        assert_eq!(
            T::from_f64(f64::NEG_INFINITY).to_word(),
            (largest + 1) | 0x8000
        );
        for bits in [0x7f80_0001, 0x7fff_ffff, 0xff80_0001u32, 0xffc0_0000] {
            let narrow = T::from_wide(f32::from_bits(bits));
            assert!(narrow.to_f64().is_nan() && T::from_f64(f64::NAN).to_f64().is_nan());
            assert_eq!(narrow.to_word() >> 15, u64::from(bits >> 31));
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_even() {
        halves_are_rounded_to_even::<f16>(0x7bff);
        halves_are_rounded_to_even::<bf16>(0x7f7f);
    }
}
