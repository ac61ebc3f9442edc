//! Detection of fill values among the extreme values of an array.
//!
//! A wrong guess never breaks a bound, but it changes what a `range` bound refers to. A fill value
//! is therefore either a conventional one, separated from the data by a fraction of its extent, or
//! any repeated round number separated by many times the extent.

use super::extremes::Extremes;
use crate::element::{Element, ElementType, with_type};
use crate::fill::FillValues;

/// Conventional fill values that are used with either sign.
const EITHER_SIGN: [f64; 20] = [
    // netCDF default, exact and as often written; CF and CMIP; GRIB; Ferret, GrADS.
    9.969_209_968_386_869e36,
    9.96921e36,
    1e20,
    9.999e20,
    1e34,
    9.99e33,
    9.99e8,
    1e10,
    1e15,
    1e30,
    1e31,
    1e35,
    1e36,
    1e37,
    1e38,
    f32::MAX as f64,
    f64::MAX,
    999.0,
    9999.0,
    99999.0,
];
/// Conventional fill values that are used with this sign only.
const ONE_SIGN: [f64; 15] = [
    -99.0,
    -99.9,
    -99.99,
    -888.0,
    -999.25,
    -999.9,
    -999.99,
    -8888.0,
    -9999.9,
    -999_999.0,
    -32767.0,
    -32768.0,
    32767.0,
    -2_147_483_647.0,
    -2_147_483_648.0,
];

/// All conventional fill values have at least this magnitude.
const MIN_KNOWN: f64 = 99.0;

/// Conventional fill values of at least this magnitude cannot be mistaken for data.
const MIN_UNAMBIGUOUS: f64 = 1e8;

/// Minimum distance from the data as a fraction of its extent: of conventional values, of negative
/// ones where the data is not negative, of ones that occur once, and of unconventional values.
const MIN_GAP: f64 = 1.0 / 16.0;
const MIN_GAP_OTHER_SIGN: f64 = 1.0 / 1024.0;
const MIN_GAP_SINGLE: f64 = 2.0;
const MIN_GAP_UNKNOWN: f64 = 100.0;

/// Minimum magnitude of an unconventional fill value, and minimum number of distinct data values.
const MIN_UNKNOWN: f64 = 90.0;
const MIN_DISTINCT_DATA: usize = 3;

/// Maximum number of digits of an unconventional fill value: people choose round numbers, whereas
/// physical constants, such as a mass that all particles share, have more digits.
const MAX_UNKNOWN_DIGITS: usize = 3;

/// Whether this is a conventional fill value in double or single precision or, in 16-bit arrays,
/// rounded to their type.
pub(crate) fn is_known(value: f64, element: Option<ElementType>) -> bool {
    let narrow = element.filter(|element| element.size() == 2);
    let same = |known: f64| {
        value == known
            || value == f64::from(known as f32)
            || narrow.is_some_and(|t| with_type!(t, T => value == T::from_f64(known).to_f64()))
    };
    EITHER_SIGN.iter().any(|&known| same(known) || same(-known))
        || ONE_SIGN.iter().any(|&known| same(known))
}

/// Whether an interval contains a conventional fill value in single or double precision.
pub(super) fn any_known(low: f64, high: f64) -> bool {
    if low > -MIN_KNOWN && high < MIN_KNOWN {
        return false;
    }
    let inside = |known: f64| (low..=high).contains(&known);
    let either = |known: f64| inside(known) || inside(f64::from(known as f32));
    EITHER_SIGN
        .iter()
        .any(|&known| either(known) || either(-known))
        || ONE_SIGN.iter().any(|&known| either(known))
}

/// Whether a number has few decimal digits in single or double precision.
fn is_round(value: f64) -> bool {
    let few = |text: String| {
        let mantissa = text.split('e').next().unwrap_or_default();
        mantissa.chars().filter(char::is_ascii_digit).count() <= MAX_UNKNOWN_DIGITS
    };
    let single = value as f32;
    few(format!("{value:e}")) || f64::from(single) == value && few(format!("{single:e}"))
}

/// The remaining extremes, outermost first: the end that is examined, and the opposite one.
struct Rest<'a> {
    here: &'a [(f64, u64)],
    there: &'a [(f64, u64)],
    element: Option<ElementType>,
}

impl Rest<'_> {
    /// Distance from the innermost of the first `count` values here to the data, and the extent of
    /// the data; `None` without data.
    fn gap(&self, count: usize) -> Option<(f64, f64)> {
        let inner = self.here.get(count.checked_sub(1)?)?.0;
        let (near, far) = (self.here.get(count)?.0, self.there.first()?.0);
        // The data lies between these two, on the inner side.
        let is_between = (inner < near) == (near <= far);
        (is_between || near == far).then(|| ((inner - near).abs(), (near - far).abs()))
    }

    /// How many of the outermost values here are fill values.
    fn missing(&self) -> usize {
        let is_known = |(value, _): &&(f64, u64)| is_known(*value, self.element);
        let known = self.here.iter().take_while(is_known);
        let known = known.count();
        if let Some(count) = (1..=known).find(|&count| self.is_far(count)) {
            return count;
        }
        usize::from(known == 0 && self.is_unknown_fill())
    }

    /// Whether the first `count` values, all conventional, are far enough from the data.
    fn is_far(&self, count: usize) -> bool {
        let Some((gap, extent)) = self.gap(count) else {
            return false;
        };
        let values = &self.here[..count];
        let others = [self.here[count].0, self.there[0].0];
        let apart = |value: f64| value < 0.0 && others.iter().all(|&other| other >= 0.0);
        let needed = if values.iter().any(|&(_, times)| times < 2) {
            MIN_GAP_SINGLE
        } else if values.iter().all(|&(value, _)| apart(value)) {
            MIN_GAP_OTHER_SIGN
        } else {
            MIN_GAP
        };
        // An array of two distinct values may be a mask.
        let telling = |value: f64| !(0.0..MIN_UNAMBIGUOUS).contains(&value);
        let varied = extent > 0.0 || values.iter().all(|&(value, _)| telling(value));
        varied && gap >= needed * extent
    }

    /// Whether the outermost value is an unconventional fill value.
    fn is_unknown_fill(&self) -> bool {
        let Some((gap, extent)) = self.gap(1) else {
            return false;
        };
        let (value, times) = self.here[0];
        let (near, far) = (self.here[1].0, self.there[0].0);
        let between = |other: f64| (near.min(far)..=near.max(far)).contains(&other);
        let others = self.here[1..].iter().filter(|(other, _)| between(*other));
        times >= 2
            && extent > 0.0
            && gap >= MIN_GAP_UNKNOWN * extent
            && value.abs() >= MIN_UNKNOWN
            && is_round(value)
            && value.abs() > near.abs().max(far.abs())
            && others.count() >= MIN_DISTINCT_DATA
    }
}

/// Detects at most `room` fill values; also returns the extremes of the data.
pub(super) fn find(extremes: &Extremes, room: usize) -> (FillValues, Extremes) {
    let mut rest = extremes.clone();
    let mut found = FillValues::NONE;
    loop {
        let element = extremes.element;
        let missing = |here, there| {
            let rest = Rest {
                here,
                there,
                element,
            };
            rest.missing()
        };
        let high = missing(&rest.high, &rest.low);
        let low = match high {
            0 => missing(&rest.low, &rest.high),
            _ => 0,
        };
        if high + low == 0 {
            return (found, rest);
        }
        let mut more = found;
        let values = rest.high[..high].iter().chain(&rest.low[..low]);
        let full = values
            .into_iter()
            .any(|(value, _)| more.push(*value).is_err());
        if full || more.as_slice().len() > room {
            return (found, rest);
        }
        found = more;
        rest.high.drain(..high);
        rest.low.drain(..low);
    }
}

/// The conventional fill values at either end, at most `room`.
pub(super) fn known(extremes: &Extremes, room: usize) -> FillValues {
    let ends = [&extremes.high, &extremes.low];
    let is_known = |(value, _): &&(f64, u64)| is_known(*value, extremes.element);
    let known = |end: &Vec<(f64, u64)>| end.iter().take_while(is_known).count();
    let mut values = FillValues::NONE;
    for &(value, _) in ends.iter().flat_map(|end| &end[..known(end)]) {
        if values.as_slice().len() == room || values.push(value).is_err() {
            break;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Vec<f64> {
        let mut extremes = Extremes::default();
        extremes.add(values);
        find(&extremes, 8).0.as_slice().to_vec()
    }

    fn with(marks: &[f64], range: (f64, f64)) -> Vec<f64> {
        let step = (range.1 - range.0) / 99.0;
        let mut values: Vec<f64> = (0..100).map(|i| range.0 + step * f64::from(i)).collect();
        values.extend(marks.iter().chain(marks));
        values
    }

    #[test]
    fn several_fill_values_are_found() {
        let ocean = (-2.0, 35.0);
        assert_eq!(found(&with(&[-999.0, 1e20], ocean)), [1e20, -999.0]);
        assert_eq!(
            found(&with(&[-32768.0, -32767.0], ocean)),
            [-32768.0, -32767.0]
        );
        assert_eq!(found(&with(&[1e20, -1e20], ocean)), [1e20, -1e20]);
        assert_eq!(
            found(&with(&[-999.0, -9999.0, 9999.0, 1e15], ocean)),
            [1e15, 9999.0, -9999.0, -999.0]
        );
        // If there is no room for all, the others count for the range.
        let mut extremes = Extremes::default();
        extremes.add(&with(&[-999.0, 1e20, -1e30], ocean));
        let (few, rest) = find(&extremes, 1);
        assert_eq!(few.as_slice(), [-1e30]);
        assert_eq!(rest.range().max, 1e20);
    }

    #[test]
    fn conventional_values_are_found_in_intervals() {
        for known in EITHER_SIGN.iter().chain(&ONE_SIGN) {
            for known in [*known, f64::from(*known as f32)] {
                assert!(any_known(known, known) && is_known(known, None));
                assert!(any_known(known.next_down(), known.next_up()));
            }
        }
        for sure in [0.0, 35.0, -12345.0, 998.5] {
            assert!(!any_known(sure - 0.4, sure + 0.4));
        }
    }

    #[test]
    fn fill_values_need_a_gap() {
        assert_eq!(found(&with(&[-999.0], (-998.0, 0.0))), [] as [f64; 0]);
        assert_eq!(found(&with(&[-999.0], (0.0, 20_000.0))), [-999.0]);
        assert_eq!(found(&with(&[-999.0], (-500.0, 20_000.0))), [] as [f64; 0]);
        assert_eq!(found(&with(&[9999.0], (0.0, 9998.0))), [] as [f64; 0]);
        // A value that occurs once needs a larger gap.
        let mut once = with(&[], (0.0, 1000.0));
        once.push(-999.0);
        assert_eq!(found(&once), [] as [f64; 0]);
        once.retain(|x| *x < 400.0);
        assert_eq!(found(&once), [-999.0]);
    }

    #[test]
    fn unconventional_values_must_repeat_and_be_far_away() {
        assert_eq!(found(&with(&[-12300.0], (-2.0, 35.0))), [-12300.0]);
        assert_eq!(
            found(&with(&[3e33f32.into()], (-2.0, 35.0))),
            [f64::from(3e33f32)]
        );
        assert_eq!(found(&with(&[-12345.0], (-2.0, 35.0))), [] as [f64; 0]);
        assert_eq!(found(&with(&[-1234.0], (-2.0, 35.0))), [] as [f64; 0]);
        assert_eq!(found(&with(&[50.0], (-0.1, 0.1))), [] as [f64; 0]);
        let mut once = with(&[], (-2.0, 35.0));
        once.push(-12300.0);
        assert_eq!(found(&once), [] as [f64; 0]);
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let values: Vec<f32> = (0..5000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 20) as f32)
            .collect();
        let mut whole = Extremes::default();
        whole.add(&values);
        let mut joined = Extremes::default();
        for part in values.chunks(321).rev() {
            let mut extremes = Extremes::default();
            extremes.add(part);
            joined.join(&extremes);
        }
        assert_eq!(joined, whole);
        let mut sorted = values.clone();
        sorted.sort_by(f32::total_cmp);
        for (value, times) in whole.low.iter().chain(&whole.high) {
            let expected = sorted.iter().filter(|x| f64::from(**x) == *value).count();
            assert_eq!(*times, expected as u64);
        }
        sorted.dedup();
        let low: Vec<f64> = sorted[..6].iter().map(|&x| x.into()).collect();
        assert_eq!(whole.low.iter().map(|end| end.0).collect::<Vec<_>>(), low);
    }
}
