//! Fill values, which mark missing data: stored exactly and excluded from the range.

use crate::error::{Error, Result};

/// Maximum number of fill values per array.
pub const MAX_FILL_VALUES: usize = 8;

/// Which values mark missing data.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Fill {
    /// Detected. If the bound needs a scan of all values, the scan finds them
    /// ([`ValueScan`](crate::ValueScan)); otherwise each chunk detects its own.
    #[default]
    Auto,
    /// None: every finite value is data.
    None,
    /// The given values, plus detected ones.
    AutoAnd(FillValues),
    /// The given values.
    Values(FillValues),
    /// Values found by a scan.
    Found(FillValues),
}

impl Fill {
    /// The fill values known so far.
    pub fn values(&self) -> FillValues {
        match self {
            Self::Auto | Self::None => FillValues::NONE,
            Self::Values(values) | Self::AutoAnd(values) | Self::Found(values) => *values,
        }
    }

    /// Whether fill values are still to be detected.
    pub const fn is_auto(&self) -> bool {
        matches!(self, Self::Auto | Self::AutoAnd(_))
    }

    /// Adds fill values.
    pub fn and(self, more: FillValues) -> Result<Self> {
        let values = self.values().and(more)?;
        Ok(match self {
            _ if more.is_empty() => self,
            Self::Auto | Self::AutoAnd(_) => Self::AutoAnd(values),
            Self::Found(_) => Self::Found(values),
            Self::None | Self::Values(_) => Self::Values(values),
        })
    }
}

impl From<FillValues> for Fill {
    fn from(values: FillValues) -> Self {
        Self::Values(values)
    }
}

impl From<f64> for Fill {
    fn from(value: f64) -> Self {
        Self::Values(FillValues::from(value))
    }
}

impl std::str::FromStr for Fill {
    type Err = Error;

    /// `auto`, `none`, or numbers separated by commas; `auto` among them detects further values.
    fn from_str(text: &str) -> Result<Self> {
        let (mut auto, mut values) = (false, FillValues::NONE);
        if text == "none" {
            return Ok(Self::None);
        }
        for part in text.split(',').map(str::trim) {
            match (part, part.parse()) {
                ("auto", _) => auto = true,
                (_, Ok(value)) => values.push(value)?,
                (_, Err(_)) => {
                    return Err(Error::invalid(format!(
                        "fill '{part}': use auto, none or numbers"
                    )));
                }
            }
        }
        match auto {
            true => Self::Auto.and(values),
            false => Ok(Self::Values(values)),
        }
    }
}

impl std::fmt::Display for Fill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::AutoAnd(values) => write!(f, "auto, {values}"),
            Self::Values(values) | Self::Found(values) if !values.is_empty() => values.fmt(f),
            _ => f.write_str("none"),
        }
    }
}

/// A list of fill values. NaN and infinities need not be listed: they are always stored exactly and
/// never count for the range.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct FillValues {
    /// Unused slots hold NaN.
    values: [f64; MAX_FILL_VALUES],
    count: usize,
}

impl Default for FillValues {
    fn default() -> Self {
        Self::NONE
    }
}

impl FillValues {
    /// No values.
    pub const NONE: Self = Self {
        values: [f64::NAN; MAX_FILL_VALUES],
        count: 0,
    };

    /// A list of these values; an error if there are more than [`MAX_FILL_VALUES`].
    pub fn new(values: &[f64]) -> Result<Self> {
        let mut all = Self::NONE;
        for &value in values {
            all.push(value)?;
        }
        Ok(all)
    }

    /// The union of both lists.
    pub fn and(mut self, more: Self) -> Result<Self> {
        for &value in more.as_slice() {
            self.push(value)?;
        }
        Ok(self)
    }

    /// The values of at most this magnitude.
    pub(crate) fn within(&self, most: f64) -> Self {
        let mut near = Self::NONE;
        for &value in self.as_slice().iter().filter(|v| v.abs() <= most) {
            near.values[near.count] = value;
            near.count += 1;
        }
        near
    }

    /// Adds a value unless it is listed already.
    pub fn push(&mut self, value: f64) -> Result<()> {
        if !value.is_finite() || self.as_slice().contains(&value) {
            return Ok(());
        }
        let Some(place) = self.values.get_mut(self.count) else {
            return Err(Error::invalid(format!(
                "at most {MAX_FILL_VALUES} fill values are supported"
            )));
        };
        *place = value;
        self.count += 1;
        Ok(())
    }

    /// The values.
    pub fn as_slice(&self) -> &[f64] {
        &self.values[..self.count]
    }

    /// Whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The list converted to an element type.
    pub(crate) fn typed<T: Copy + PartialEq>(&self, convert: impl Fn(f64) -> T) -> TypedFill<T> {
        TypedFill {
            values: self.values.map(convert),
            count: self.count,
        }
    }
}

impl PartialEq for FillValues {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl From<f64> for FillValues {
    fn from(value: f64) -> Self {
        let mut all = Self::NONE;
        if value.is_finite() {
            (all.values[0], all.count) = (value, 1);
        }
        all
    }
}

impl TryFrom<Vec<f64>> for FillValues {
    type Error = Error;

    fn try_from(values: Vec<f64>) -> Result<Self> {
        Self::new(&values)
    }
}

impl From<FillValues> for Vec<f64> {
    fn from(values: FillValues) -> Self {
        values.as_slice().to_vec()
    }
}

impl std::fmt::Debug for FillValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl std::fmt::Display for FillValues {
    /// As single precision, which is shorter, where that is exact.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, &value) in self.as_slice().iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            let plain = value == 0.0 || (1e-3..1e6).contains(&value.abs());
            let single = value as f32;
            match (f64::from(single) == value, plain) {
                (true, true) => write!(f, "{single}")?,
                (true, false) => write!(f, "{single:e}")?,
                (false, true) => write!(f, "{value}")?,
                (false, false) => write!(f, "{value:e}")?,
            }
        }
        Ok(())
    }
}

/// The list as elements of one type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypedFill<T> {
    values: [T; MAX_FILL_VALUES],
    count: usize,
}

impl<T: Copy + PartialEq> TypedFill<T> {
    /// Number of values.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether the list is empty.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first value; the converted NaN if the list is empty.
    #[inline(always)]
    pub const fn first(&self) -> T {
        self.values[0]
    }

    /// All values but the first.
    pub fn others(&self) -> &[T] {
        self.values[..self.count].get(1..).unwrap_or_default()
    }

    /// Whether the list contains a value.
    #[inline(always)]
    pub fn contains(&self, x: T) -> bool {
        self.values[..self.count].contains(&x)
    }

    /// Whether the test is true for any value.
    pub fn any(&self, test: impl FnMut(T) -> bool) -> bool {
        self.values[..self.count].iter().copied().any(test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        for (text, shown) in [
            ("auto", "auto"),
            ("none", "none"),
            ("-999", "-999"),
            (
                "9.96920996838687e36,-999, 1e20",
                "9.96920996838687e36, -999, 1e20",
            ),
            ("9.969209968386869e36", "9.96921e36"),
            ("auto,-999,1e20", "auto, -999, 1e20"),
            ("-999, auto", "auto, -999"),
            ("nan", "none"),
        ] {
            assert_eq!(text.parse::<Fill>().unwrap().to_string(), shown);
        }
        assert!("many".parse::<Fill>().is_err());
        assert!("1,2,3,4,5,6,7,8,9".parse::<Fill>().is_err());
        assert!("1,2,3,4,5,6,7,8,8".parse::<Fill>().is_ok());
    }

    #[test]
    fn json_round_trip() {
        for fill in [
            Fill::Auto,
            Fill::None,
            Fill::from(1e20),
            Fill::AutoAnd(1e15.into()),
            Fill::Found(FillValues::from(-1.0)),
        ] {
            let text = serde_json::to_string(&fill).unwrap();
            assert_eq!(serde_json::from_str::<Fill>(&text).unwrap(), fill, "{text}");
        }
    }
}
