//! Targets, and the model of the CEAZ paper: doubling the bound saves one bit per value and costs
//! 6 dB.

use crate::bound::Bound;
use crate::error::{Error, Result};

/// The target of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// Raw size / compressed size, for elements of this many bits. Grows with the bound.
    Ratio { ratio: f64, bits: f64 },
    /// dB. Falls with the bound.
    Psnr(f64),
}

/// Below this many bits per value, real arrays save less than the model predicts: the ratio grows
/// with about the square root of the bound.
const MODEL_BITS: f64 = 2.0 / std::f64::consts::LN_2;

impl Target {
    /// The target of a bound, for elements of this many bytes.
    pub fn of(bound: Bound, size: usize) -> Result<Self> {
        match bound {
            Bound::Ratio(ratio) => Ok(Self::Ratio {
                ratio,
                bits: 8.0 * size as f64,
            }),
            Bound::Psnr(decibels) => Ok(Self::Psnr(decibels)),
            other => Err(Error::invalid(format!("{other} does not need a search"))),
        }
    }

    pub fn is_met(self, found: f64) -> bool {
        match self {
            Self::Ratio { ratio, .. } => found >= ratio,
            Self::Psnr(decibels) => found >= decibels,
        }
    }

    /// Met, and not exceeded by much.
    pub fn is_close(self, found: f64) -> bool {
        self.is_met(found)
            && match self {
                Self::Ratio { ratio, .. } => found <= ratio * 1.05,
                Self::Psnr(decibels) => found <= decibels + 1.0,
            }
    }

    /// A function of the result that the model predicts to be linear in [`Target::position`], with
    /// slope 1.
    pub fn level(self, found: f64) -> f64 {
        match self {
            Self::Ratio { bits, .. } => match bits / found {
                bits if bits > MODEL_BITS => (MODEL_BITS - bits) * std::f64::consts::LN_2,
                bits => 2.0 * (MODEL_BITS / bits).ln(),
            },
            // The PSNR of a lossless encoding is infinite.
            Self::Psnr(_) => 0.05 * std::f64::consts::LN_10 * found.clamp(-1e3, 1e3),
        }
    }

    /// The ratio or PSNR of a level: the inverse of [`Target::level`].
    pub fn found(self, level: f64) -> f64 {
        match self {
            Self::Ratio { bits, .. } => match level {
                level if level < 0.0 => bits / (MODEL_BITS - level / std::f64::consts::LN_2),
                level => bits / (MODEL_BITS * (-0.5 * level).exp()),
            },
            Self::Psnr(_) => level / (0.05 * std::f64::consts::LN_10),
        }
    }

    /// The requested ratio or PSNR.
    pub fn value(self) -> f64 {
        match self {
            Self::Ratio { ratio, .. } => ratio,
            Self::Psnr(decibels) => decibels,
        }
    }

    /// The level of the requested value.
    pub fn goal(self) -> f64 {
        self.level(self.value())
    }

    /// Whether a result is within this relative distance of the target, on either side.
    pub fn is_within(self, found: f64, share: f64) -> bool {
        (found / self.value() - 1.0).abs() <= share
    }

    /// The level to aim for: well within the range that counts as close.
    pub fn aim(self) -> f64 {
        self.level(match self {
            Self::Ratio { ratio, .. } => ratio * 1.024,
            Self::Psnr(decibels) => decibels + 0.3,
        })
    }

    /// Largest distance from the aim that counts as nearby.
    pub fn near(self) -> f64 {
        let above = self.level(match self {
            Self::Ratio { ratio, .. } => ratio * 1.3,
            Self::Psnr(decibels) => decibels + 2.8,
        });
        above - self.aim()
    }

    /// Whether so many bits per value remain that bounds are close to the last digits of the
    /// values.
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Ratio { ratio, bits } if bits / ratio > 3.0)
    }

    /// Position of a bound: its logarithm, with the sign that makes levels increase.
    pub fn position(self, bound: f64) -> f64 {
        match self {
            Self::Ratio { .. } => bound.ln(),
            Self::Psnr(_) => -bound.ln(),
        }
    }

    /// The bound at a position.
    pub fn bound(self, position: f64) -> f64 {
        match self {
            Self::Ratio { .. } => position.exp(),
            Self::Psnr(_) => (-position).exp(),
        }
    }
}
