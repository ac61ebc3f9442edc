//! The preference of `auto` between speed and ratio.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The preference of `auto`: how much smaller an array must become to justify twice the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Favor {
    /// Half the size.
    Speed,
    /// 10 % smaller.
    #[default]
    Balanced,
    /// Any reduction: time does not matter.
    Ratio,
}

impl Favor {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Speed, Self::Balanced, Self::Ratio];

    /// Its name in all front ends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Balanced => "balanced",
            Self::Ratio => "ratio",
        }
    }

    /// Weight of a byte from a codec that takes 2^(quarters / 4) times as long as the fastest.
    /// Computed by multiplications only, so that it is the same on all machines.
    pub(crate) fn weight(self, quarters: u32) -> f64 {
        // The fourth roots of 2, 1 / 0.9 and 1.
        let quarter = match self {
            Self::Speed => 1.189_207_115,
            Self::Balanced => 1.026_690_096,
            Self::Ratio => 1.0,
        };
        (0..quarters).fold(1.0, |weight, _| weight * quarter)
    }
}

impl fmt::Display for Favor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Favor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|favor| favor.name() == text)
            .ok_or_else(|| Error::invalid(format!("favor {text}: use speed, balanced or ratio")))
    }
}
