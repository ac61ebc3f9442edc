//! Error bounds: as the user states them, and as a codec checks them.

use crate::error::{Error, Result};

/// The error bound, or the size or quality target, that a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// |x − x′| ≤ e.
    Abs(f64),
    /// |x − x′| ≤ e · (max − min) of the finite values of the whole array.
    Range(f64),
    /// |x − x′| ≤ e · |x|.
    Pointwise(f64),
    /// PSNR of the whole array, relative to its range, of at least this many dB.
    Psnr(f64),
    /// Raw size / compressed size of at least this value.
    Ratio(f64),
    /// Bit planes (zfp family) or mantissa bits (fre) to keep.
    Precision(u32),
    /// Bit-exact.
    Lossless,
}

/// The kind of a bound, with its id in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum BoundKind {
    /// See [`Bound::Abs`].
    Abs = 1,
    /// See [`Bound::Range`].
    Range = 2,
    /// See [`Bound::Pointwise`].
    Pointwise = 3,
    /// See [`Bound::Psnr`].
    Psnr = 4,
    /// See [`Bound::Ratio`].
    Ratio = 5,
    /// See [`Bound::Precision`].
    Precision = 6,
    /// See [`Bound::Lossless`].
    Lossless = 7,
}

impl BoundKind {
    /// Every kind, by ascending id.
    pub const ALL: [Self; 7] = [
        Self::Abs,
        Self::Range,
        Self::Pointwise,
        Self::Psnr,
        Self::Ratio,
        Self::Precision,
        Self::Lossless,
    ];

    /// Name in the command line and the other front ends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Range => "range",
            Self::Pointwise => "pointwise",
            Self::Psnr => "psnr",
            Self::Ratio => "ratio",
            Self::Precision => "precision",
            Self::Lossless => "lossless",
        }
    }
}

impl Bound {
    /// The kind of the bound.
    pub const fn kind(self) -> BoundKind {
        match self {
            Self::Abs(_) => BoundKind::Abs,
            Self::Range(_) => BoundKind::Range,
            Self::Pointwise(_) => BoundKind::Pointwise,
            Self::Psnr(_) => BoundKind::Psnr,
            Self::Ratio(_) => BoundKind::Ratio,
            Self::Precision(_) => BoundKind::Precision,
            Self::Lossless => BoundKind::Lossless,
        }
    }

    /// The number of the bound (0 for lossless).
    pub fn value(self) -> f64 {
        match self {
            Self::Abs(e) | Self::Range(e) | Self::Pointwise(e) | Self::Psnr(e) | Self::Ratio(e) => {
                e
            }
            Self::Precision(n) => f64::from(n),
            Self::Lossless => 0.0,
        }
    }

    /// A bound from its kind and number; an error if the number is out of range.
    pub fn new(kind: BoundKind, value: f64) -> Result<Self> {
        let name = kind.name();
        let bad = |why: &str| Err(Error::invalid(format!("{name} {value}: {why}")));
        if !value.is_finite() {
            return bad("the bound must be a finite number");
        }
        match kind {
            BoundKind::Abs | BoundKind::Range | BoundKind::Pointwise if value < 0.0 => {
                bad("the bound must not be negative")
            }
            BoundKind::Range if value > 1.0 => bad(
                "the bound must be at most 1 (the whole range); for a bound in units of the data use \
                 abs",
            ),
            BoundKind::Pointwise if value >= 1.0 => bad("the bound must be below 1"),
            BoundKind::Psnr if value <= 0.0 => bad("the target must be above 0 dB"),
            BoundKind::Ratio if value < 1.0 => bad("the target must be at least 1"),
            BoundKind::Precision if !(1.0..=64.0).contains(&value) || value.fract() != 0.0 => {
                bad("the number of bits must be a whole number from 1 to 64")
            }
            BoundKind::Abs => Ok(Self::Abs(value)),
            BoundKind::Range => Ok(Self::Range(value)),
            BoundKind::Pointwise => Ok(Self::Pointwise(value)),
            BoundKind::Psnr => Ok(Self::Psnr(value)),
            BoundKind::Ratio => Ok(Self::Ratio(value)),
            BoundKind::Precision => Ok(Self::Precision(value as u32)),
            BoundKind::Lossless => Ok(Self::Lossless),
        }
    }

    /// Checks the number by the rules of [`Bound::new`].
    pub fn validate(self) -> Result<()> {
        Self::new(self.kind(), self.value()).map(|_| ())
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lossless => f.write_str("lossless"),
            _ => write!(f, "{} {:e}", self.kind().name(), self.value()),
        }
    }
}

/// A bound resolved to a condition on single values.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tolerance {
    /// |x − x′| ≤ e; e is finite and above 0.
    Abs(f64),
    /// |x − x′| ≤ e · |x|; e is above 0 and below 1.
    Pointwise(f64),
    /// Bit planes or mantissa bits to keep; at least 1.
    Precision(u32),
    /// Bit-exact.
    Lossless,
}

impl From<Tolerance> for Bound {
    fn from(tolerance: Tolerance) -> Self {
        match tolerance {
            Tolerance::Abs(e) => Self::Abs(e),
            Tolerance::Pointwise(e) => Self::Pointwise(e),
            Tolerance::Precision(n) => Self::Precision(n),
            Tolerance::Lossless => Self::Lossless,
        }
    }
}
