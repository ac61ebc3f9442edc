//! Element types.
//!
//! [`Element`] is the type that arrays store. Codecs compute in a [`Float`], `f32` or `f64`; 16-bit
//! elements are widened and narrowed ([`Element::to_wide`], [`Element::from_wide`]).

pub(crate) mod log_lattice;
pub(crate) mod real;
mod sixteen;
pub(crate) mod word;

use crate::error::{Error, Result};
pub use half::{bf16, f16};
use log_lattice::LogLattice;

/// Element type of an array, with its id in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum ElementType {
    /// IEEE 754 binary32.
    F32 = 1,
    /// IEEE 754 binary64.
    F64 = 2,
    /// IEEE 754 binary16.
    F16 = 3,
    /// bfloat16, the upper half of a binary32.
    BF16 = 4,
}

/// Runs code with the Rust type of an [`ElementType`]:
/// `with_type!(element, T => frame.read::<T>()?.values().len())`.
///
/// Front ends call generic code through this macro, so that new element types need no changes
/// there.
#[macro_export]
macro_rules! with_type {
    ($element:expr, $T:ident => $code:expr) => {
        match $element {
            $crate::ElementType::F32 => {
                type $T = f32;
                $code
            }
            $crate::ElementType::F64 => {
                type $T = f64;
                $code
            }
            $crate::ElementType::F16 => {
                type $T = $crate::f16;
                $code
            }
            $crate::ElementType::BF16 => {
                type $T = $crate::bf16;
                $code
            }
        }
    };
}
pub(crate) use with_type;

/// Runs code with the Rust type `$F` of a [`Float`]: `f32` or `f64`.
macro_rules! with_float {
    ($T:ty, $F:ident => $code:expr) => {
        if <$T as $crate::element::Element>::SIZE == 8 {
            type $F = f64;
            $code
        } else {
            type $F = f32;
            $code
        }
    };
}
pub(crate) use with_float;

impl ElementType {
    /// Every element type.
    pub const ALL: [Self; 4] = [Self::F32, Self::F64, Self::F16, Self::BF16];

    /// Bytes per element.
    pub const fn size(self) -> usize {
        with_type!(self, T => T::SIZE)
    }

    /// Bytes per value in the type that codecs compute in.
    pub(crate) const fn wide_size(self) -> usize {
        with_type!(self, T => size_of::<<T as Element>::Wide>())
    }

    /// Name in the command line and the other front ends.
    pub const fn name(self) -> &'static str {
        with_type!(self, T => T::NAMES[0])
    }

    /// The type with this id in the format.
    pub fn from_id(id: u8) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|t| *t as u8 == id)
            .ok_or_else(|| Error::corrupt(format!("unknown element type {id}")))
    }
}

impl std::fmt::Display for ElementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ElementType {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self> {
        let named = |t: &Self| with_type!(*t, T => T::NAMES.contains(&s));
        Self::ALL.into_iter().find(named).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::invalid(format!("unknown element type '{s}': use one of {known}"))
        })
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for super::f16 {}
    impl Sealed for super::bf16 {}
}

/// A floating-point type that ebz compresses: `f32`, `f64`, [`struct@f16`] or [`bf16`].
pub trait Element:
    sealed::Sealed
    + bytemuck::Pod
    + Copy
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + std::fmt::Display
    + 'static
{
    /// The corresponding enum value.
    const TYPE: ElementType;
    /// Accepted names: the usual one first, NumPy's second.
    const NAMES: &'static [&'static str];
    /// Bytes per element.
    const SIZE: usize = size_of::<Self>();
    /// Stored mantissa bits.
    const FRACTION_BITS: u32;
    /// The type that codecs compute in.
    type Wide: Float;

    /// Converts to double precision (exact).
    fn to_f64(self) -> f64;
    /// Rounds to nearest.
    fn from_f64(value: f64) -> Self;
    /// The bit pattern, zero-extended.
    fn to_word(self) -> u64;
    /// The value with this bit pattern; excess high bits are ignored.
    fn from_word(word: u64) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// Widens; distinct bit patterns stay distinct.
    fn to_wide(self) -> Self::Wide;
    /// Rounds to nearest, ties to even, never to an infinity. Inverts [`Self::to_wide`] for every
    /// bit pattern.
    fn from_wide(wide: Self::Wide) -> Self;
}

/// An element type that codecs compute in: `f32` or `f64`.
pub trait Float: Element<Wide = Self> + LogLattice {}

macro_rules! float {
    ($float:ident, $element:ident, $names:expr) => {
        impl Element for $float {
            const TYPE: ElementType = ElementType::$element;
            const NAMES: &'static [&'static str] = &$names;
            const FRACTION_BITS: u32 = Self::MANTISSA_DIGITS - 1;
            type Wide = Self;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_word(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                Self::from_bits(word as _)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn to_wide(self) -> Self {
                self
            }
            #[inline(always)]
            fn from_wide(wide: Self) -> Self {
                wide
            }
        }

        impl Float for $float {}
    };
}

float!(f32, F32, ["f32", "float32", "float"]);
float!(f64, F64, ["f64", "float64", "double"]);
