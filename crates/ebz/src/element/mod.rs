//! The numbers that an array is made of.

pub(crate) mod place;
pub(crate) mod real;
pub(crate) mod word;

use crate::error::{Error, Result};
use place::Placed;

/// Type of the elements of an array, with its number in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum ElementType {
    /// IEEE 754 binary32.
    F32 = 1,
    /// IEEE 754 binary64.
    F64 = 2,
}

impl ElementType {
    /// Every element type.
    pub const ALL: [Self; 2] = [Self::F32, Self::F64];

    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Name as used by the command and the other front ends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type with this number in the format.
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
        match s {
            "f32" | "float32" | "float" => Ok(Self::F32),
            "f64" | "float64" | "double" => Ok(Self::F64),
            _ => Err(Error::invalid(format!(
                "unknown element type '{s}': use f32 or f64"
            ))),
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A floating-point type that ebz compresses: `f32` or `f64`.
pub trait Element:
    sealed::Sealed
    + Placed
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
    /// Its number in the format.
    const TYPE: ElementType;
    /// Bytes per element.
    const SIZE: usize;

    /// The value in double precision (exact).
    fn to_f64(self) -> f64;
    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The bit pattern, zero-extended.
    fn to_word(self) -> u64;
    /// The value with this bit pattern; excess high bits are ignored.
    fn from_word(word: u64) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
}

impl Element for f32 {
    const TYPE: ElementType = ElementType::F32;
    const SIZE: usize = 4;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
    fn from_word(word: u64) -> Self {
        Self::from_bits(word as u32)
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

impl Element for f64 {
    const TYPE: ElementType = ElementType::F64;
    const SIZE: usize = 8;

    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_word(self) -> u64 {
        self.to_bits()
    }
    fn from_word(word: u64) -> Self {
        Self::from_bits(word)
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

/// Runs code with the Rust type `$T` that an [`ElementType`] stands for.
macro_rules! with_type {
    ($element:expr, $T:ident => $code:expr) => {
        match $element {
            $crate::element::ElementType::F32 => {
                type $T = f32;
                $code
            }
            $crate::element::ElementType::F64 => {
                type $T = f64;
                $code
            }
        }
    };
}
pub(crate) use with_type;
