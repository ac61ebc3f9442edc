//! Physical limits: decoded values stay within them wherever the original values did.
//!
//! The decoder clamps a value that lies just outside of the limits. This only brings it closer to
//! any original value within them, so the error bound still holds. Values farther away than an
//! error can reach are left alone, so that fill values and infinities survive.

use crate::array::FiniteRange;
use crate::bound::Tolerance;
use crate::element::Element;
use crate::error::{Error, Result};

/// Width of the window beyond a limit in which decoders clamp, in multiples of the largest possible
/// error. 1 would do but for rounding.
const CLAMP_WINDOW: f64 = 2.0;
/// Width of the window in which encoders store original values exactly, in the same unit: wide
/// enough that no original value decodes into the clamp window, whatever its error and rounding.
const EXACT_WINDOW: f64 = 16.0;

/// Which limits decoded values respect.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Clip {
    /// At least zero, if the bound needs a scan of all values and their minimum is zero; otherwise
    /// no limits.
    #[default]
    Auto,
    /// No limits.
    None,
    /// Minimum and maximum of the data; needs a scan of all values.
    Data,
    /// The given limits; an infinity means no limit.
    Between(f64, f64),
}

impl Clip {
    /// The given limits; an error if they are empty or limit nothing.
    pub fn between(min: f64, max: f64) -> Result<Self> {
        match (ValueLimits { min, max }).is_valid() {
            true => Ok(Self::Between(min, max)),
            false => Err(Error::invalid(format!(
                "{min}..{max} is not a valid range of values"
            ))),
        }
    }

    /// Resolves `Auto` and `Data` once the range of the values is known.
    pub fn resolve(self, range: FiniteRange) -> Self {
        match self {
            Self::Auto if range.min == 0.0 => Self::Between(0.0, f64::INFINITY),
            Self::Data if range.min <= range.max => Self::Between(range.min, range.max),
            Self::Auto | Self::Data => Self::None,
            other => other,
        }
    }

    /// The limits to apply under this tolerance; lossless values need none.
    pub fn limits(self, tolerance: Tolerance) -> Option<ValueLimits> {
        match (self, tolerance) {
            (Self::Between(min, max), Tolerance::Abs(_) | Tolerance::Pointwise(_)) => {
                Some(ValueLimits { min, max })
            }
            _ => None,
        }
    }
}

impl std::str::FromStr for Clip {
    type Err = Error;

    /// `auto`, `none`, `data`, or limits such as `0..1`, of which one may be omitted.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::invalid(format!(
                "clip '{text}': use auto, none, data or limits as in 0..1, 0.. or ..100"
            ))
        };
        match text {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            "data" => return Ok(Self::Data),
            _ => (),
        }
        let (min, max) = text.split_once("..").ok_or_else(wrong)?;
        let limit = |text: &str, open: f64| match text.trim() {
            "" => Ok(open),
            text => text.parse().map_err(|_| wrong()),
        };
        let (min, max) = (limit(min, f64::NEG_INFINITY)?, limit(max, f64::INFINITY)?);
        Self::between(min, max).map_err(|_| wrong())
    }
}

impl std::fmt::Display for Clip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Data => f.write_str("data"),
            Self::Between(min, max) => ValueLimits { min, max }.fmt(f),
        }
    }
}

/// The limits of a frame; an infinity means no limit.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ValueLimits {
    /// Lower limit.
    pub min: f64,
    /// Upper limit.
    pub max: f64,
}

impl std::fmt::Display for ValueLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.min.is_finite() {
            write!(f, "{}", self.min)?;
        }
        f.write_str("..")?;
        if self.max.is_finite() {
            write!(f, "{}", self.max)?;
        }
        Ok(())
    }
}

impl ValueLimits {
    /// Whether the interval is not empty and limits something.
    pub(crate) fn is_valid(&self) -> bool {
        let open = self.min == f64::NEG_INFINITY && self.max == f64::INFINITY;
        let ordered =
            self.min <= self.max && self.min < f64::INFINITY && self.max > f64::NEG_INFINITY;
        ordered && !open
    }

    /// Clamps decoded values that lie just outside of the limits.
    pub(crate) fn apply<T: Element>(&self, tolerance: Tolerance, values: &mut [T]) {
        let edges = self.edges::<T>(tolerance, CLAMP_WINDOW);
        for x in values {
            if edges.is_just_below(*x) {
                *x = edges.min;
            }
            if edges.is_just_above(*x) {
                *x = edges.max;
            }
        }
    }

    /// Original values outside of the limits that decoders could clamp.
    pub(crate) fn conflicts<T: Element>(
        &self,
        tolerance: Tolerance,
        values: &[T],
    ) -> impl Iterator<Item = T> {
        let edges = self.edges::<T>(tolerance, EXACT_WINDOW);
        let conflict = move |x: T| edges.is_just_below(x) | edges.is_just_above(x);
        // There are usually none, which a branch-free loop finds fastest.
        let any = values.iter().fold(false, |any, &x| any | conflict(x));
        let all = if any { values } else { &[] };
        all.iter().copied().filter(move |&x| conflict(x))
    }

    fn edges<T: Element>(&self, tolerance: Tolerance, errors: f64) -> Edges<T> {
        let largest_error = |limit: f64| match tolerance {
            Tolerance::Abs(e) => e,
            Tolerance::Pointwise(e) if limit.is_finite() => limit.abs() * e / (1.0 - e),
            _ => 0.0,
        };
        let below = self.min - errors * largest_error(self.min);
        let above = self.max + errors * largest_error(self.max);
        Edges {
            below: T::from_f64(below),
            min: T::from_f64(self.min),
            max: T::from_f64(self.max),
            above: T::from_f64(above),
        }
    }
}

/// The limits, and the ends of the windows beyond them.
#[derive(Clone, Copy)]
struct Edges<T> {
    below: T,
    min: T,
    max: T,
    above: T,
}

impl<T: Element> Edges<T> {
    #[inline(always)]
    fn is_just_below(&self, x: T) -> bool {
        (x < self.min) & (x >= self.below) & x.is_finite()
    }

    #[inline(always)]
    fn is_just_above(&self, x: T) -> bool {
        (x > self.max) & (x <= self.above) & x.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        for text in ["auto", "none", "data", "0..1", "-1.5..", "..100"] {
            assert_eq!(text.parse::<Clip>().unwrap().to_string(), text);
        }
        for text in [
            "", "..", "1..0", "a..b", "nan..1", "0", "inf..inf", "1..nan",
        ] {
            assert!(text.parse::<Clip>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_values_near_a_limit_are_clamped() {
        let limits = ValueLimits { min: 0.0, max: 1.0 };
        let specials = [
            f32::NEG_INFINITY,
            -999.0,
            -0.25,
            0.5,
            1.25,
            1e20,
            f32::INFINITY,
        ];
        let mut values = specials.to_vec();
        values.extend([-0.1, 1.1, -0.0, f32::NAN]);
        limits.apply(Tolerance::Abs(0.1), &mut values);
        assert_eq!(values[..7], specials);
        assert_eq!(values[7..10], [0.0, 1.0, 0.0]);
        assert!(values[10].is_nan());
        let conflicts: Vec<_> = limits.conflicts(Tolerance::Abs(0.1), &specials).collect();
        assert_eq!(conflicts, [-0.25, 1.25]);
        // A window that extends to infinity does not include it.
        let mut values = [f64::NEG_INFINITY, -1e308, 0.5];
        limits.apply(Tolerance::Abs(f64::MAX), &mut values);
        assert_eq!(values, [f64::NEG_INFINITY, 0.0, 0.5]);
    }
}
