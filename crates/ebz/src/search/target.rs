//! What is to be met, and the CEAZ paper's model of it: a bound twice as large saves one bit per
//! value, and costs 6 dB.

use crate::bound::Bound;
use crate::error::{Error, Result};

/// What is to be met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// Raw size over compressed size, of elements of so many bits. Larger bounds have more.
    Ratio { ratio: f64, bits: f64 },
    /// dB. Larger bounds have less.
    Psnr(f64),
}

/// Below so many bits per value, real arrays save less than the model says: the ratio grows about
/// as the square root of the bound.
const MODEL_BITS: f64 = 2.0 / std::f64::consts::LN_2;

impl Target {
    /// The target of a bound, for elements of so many bytes.
    pub fn of(bound: Bound, size: usize) -> Result<Self> {
        match bound {
            Bound::Ratio(ratio) => Ok(Self::Ratio {
                ratio,
                bits: 8.0 * size as f64,
            }),
            Bound::Psnr(decibels) => Ok(Self::Psnr(decibels)),
            other => Err(Error::invalid(format!("{other} needs no search"))),
        }
    }

    pub fn is_met(self, found: f64) -> bool {
        match self {
            Self::Ratio { ratio, .. } => found >= ratio,
            Self::Psnr(decibels) => found >= decibels,
        }
    }

    /// Met, and not by much more than asked.
    pub fn is_close(self, found: f64) -> bool {
        self.is_met(found)
            && match self {
                Self::Ratio { ratio, .. } => found <= ratio * 1.05,
                Self::Psnr(decibels) => found <= decibels + 1.0,
            }
    }

    /// The quantity that grows with [`Target::place`] as the model says.
    pub fn level(self, found: f64) -> f64 {
        match self {
            Self::Ratio { bits, .. } => match bits / found {
                bits if bits > MODEL_BITS => (MODEL_BITS - bits) * std::f64::consts::LN_2,
                bits => 2.0 * (MODEL_BITS / bits).ln(),
            },
            // Exact copies have an infinite PSNR.
            Self::Psnr(_) => 0.05 * std::f64::consts::LN_10 * found.clamp(-1e3, 1e3),
        }
    }

    /// What has a level: undoes [`Target::level`].
    pub fn found(self, level: f64) -> f64 {
        match self {
            Self::Ratio { bits, .. } => match level {
                level if level < 0.0 => bits / (MODEL_BITS - level / std::f64::consts::LN_2),
                level => bits / (MODEL_BITS * (-0.5 * level).exp()),
            },
            Self::Psnr(_) => level / (0.05 * std::f64::consts::LN_10),
        }
    }

    /// The ratio or the decibels that were asked for.
    pub fn value(self) -> f64 {
        match self {
            Self::Ratio { ratio, .. } => ratio,
            Self::Psnr(decibels) => decibels,
        }
    }

    /// The level of just that.
    pub fn goal(self) -> f64 {
        self.level(self.value())
    }

    /// Whether something is that close to the target, on either side.
    pub fn is_within(self, found: f64, share: f64) -> bool {
        (found / self.value() - 1.0).abs() <= share
    }

    /// The level to go for: met, with as much room on either side.
    pub fn aim(self) -> f64 {
        self.level(match self {
            Self::Ratio { ratio, .. } => ratio * 1.024,
            Self::Psnr(decibels) => decibels + 0.3,
        })
    }

    /// How far from the aim a level is still its neighbour.
    pub fn near(self) -> f64 {
        let above = self.level(match self {
            Self::Ratio { ratio, .. } => ratio * 1.3,
            Self::Psnr(decibels) => decibels + 2.8,
        });
        above - self.aim()
    }

    /// How far from the aim a level may be and still be close.
    pub fn width(self) -> f64 {
        let above = self.level(match self {
            Self::Ratio { ratio, .. } => ratio * 1.05,
            Self::Psnr(decibels) => decibels + 1.0,
        });
        above - self.aim()
    }

    /// Whether so many bits per value are left that bounds come close to the last digits of the
    /// values.
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Ratio { ratio, bits } if bits / ratio > 3.0)
    }

    /// Where a bound lies on the axis along which levels grow.
    pub fn place(self, bound: f64) -> f64 {
        match self {
            Self::Ratio { .. } => bound.ln(),
            Self::Psnr(_) => -bound.ln(),
        }
    }

    /// The bound at a place.
    pub fn bound(self, place: f64) -> f64 {
        match self {
            Self::Ratio { .. } => place.exp(),
            Self::Psnr(_) => (-place).exp(),
        }
    }
}
