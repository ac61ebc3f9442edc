//! Physical limits: values that decoders give lie between them wherever the original's did.
//!
//! A value outside of the limits is moved to the nearer one when it is decoded, which brings it closer
//! to any original value between them: no bound is broken. Only values that lie closer to a limit than
//! an error can take them are moved, so that fill values and infinities stay.

use crate::array::FiniteRange;
use crate::bound::Tolerance;
use crate::element::Element;
use crate::error::{Error, Result};

/// Errors beyond a limit that decoders mend, in multiples of the largest there can be: one would do,
/// but for roundings.
const MENDED: f64 = 2.0;
/// Where the original may have no values beyond a limit, in the same unit: far enough that none of
/// them is mended, whatever its own error and the roundings of its type.
const RESERVED: f64 = 16.0;

/// Which limits to keep.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Clip {
    /// None below zero, where a pass over all values finds that zero is the smallest. Bounds without
    /// such a pass have no limits.
    #[default]
    Auto,
    /// No limits.
    None,
    /// Smallest and largest value of the data, for which all values are looked at first.
    Data,
    /// These; an infinity is no limit.
    Between(f64, f64),
}

impl Clip {
    /// These limits; an error if they leave no room or limit nothing.
    pub fn between(min: f64, max: f64) -> Result<Self> {
        match (ValueLimits { min, max }).is_valid() {
            true => Ok(Self::Between(min, max)),
            false => Err(Error::invalid(format!(
                "{min} to {max} are not limits of values"
            ))),
        }
    }

    /// The same, once the range of the values is known.
    pub fn resolve(self, range: FiniteRange) -> Self {
        match self {
            Self::Auto if range.min == 0.0 => Self::Between(0.0, f64::INFINITY),
            Self::Data if range.min <= range.max => Self::Between(range.min, range.max),
            Self::Auto | Self::Data => Self::None,
            other => other,
        }
    }

    /// The limits for values with this guarantee, if there are any: exact values need none.
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

    /// `auto`, `none`, `data`, or limits as in `0..1`, of which one may be missing.
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

/// The limits of a frame; an infinity is none.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ValueLimits {
    /// No value is below.
    pub min: f64,
    /// No value is above.
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
    /// Whether they leave room, and limit something.
    pub(crate) fn is_valid(&self) -> bool {
        let open = self.min == f64::NEG_INFINITY && self.max == f64::INFINITY;
        let ordered =
            self.min <= self.max && self.min < f64::INFINITY && self.max > f64::NEG_INFINITY;
        ordered && !open
    }

    /// Brings decoded values between the limits.
    pub(crate) fn apply<T: Element>(&self, tolerance: Tolerance, values: &mut [T]) {
        let edges = self.edges::<T>(tolerance, MENDED);
        for x in values {
            if edges.is_just_below(*x) {
                *x = edges.min;
            }
            if edges.is_just_above(*x) {
                *x = edges.max;
            }
        }
    }

    /// The values that decoders would take for errors, although the original has them.
    pub(crate) fn conflicts<T: Element>(
        &self,
        tolerance: Tolerance,
        values: &[T],
    ) -> impl Iterator<Item = T> {
        let edges = self.edges::<T>(tolerance, RESERVED);
        let conflict = move |x: T| edges.is_just_below(x) | edges.is_just_above(x);
        // Most often there are none, which a loop without branches finds fastest.
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

/// The limits, and how far beyond them values count as errors.
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
    fn text_comes_back() {
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
    fn only_errors_are_mended() {
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
        // A window that reaches infinity does not take infinities in.
        let mut values = [f64::NEG_INFINITY, -1e308, 0.5];
        limits.apply(Tolerance::Abs(f64::MAX), &mut values);
        assert_eq!(values, [f64::NEG_INFINITY, 0.0, 0.5]);
    }
}
