//! The extreme values of an array and their counts, in one pass that can be parallelized.

use super::FiniteRange;
use crate::element::{Element, ElementType};
use crate::fill::FillValues;

/// Distinct values tracked at either end.
const MAX_DISTINCT_VALUES: usize = 6;

/// Values processed at a time; a block fits the L1 cache.
const BLOCK_VALUES: usize = 1024;

/// The largest and smallest distinct finite values with their counts, outermost first.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Extremes {
    pub high: Vec<(f64, u64)>,
    pub low: Vec<(f64, u64)>,
    /// Element type, once values were added.
    pub element: Option<ElementType>,
}

impl Extremes {
    /// Adds values; NaN and infinities are ignored.
    #[inline(always)]
    pub fn add<T: Element>(&mut self, values: &[T]) {
        self.element = Some(T::TYPE);
        for block in values.chunks(BLOCK_VALUES) {
            let range = FiniteRange::of(block, &FillValues::NONE);
            if range.min > range.max {
                continue;
            }
            absorb(&mut self.high, block, range.max, |x, y| x > y, |a, b| a > b);
            absorb(&mut self.low, block, range.min, |x, y| x < y, |a, b| a < b);
        }
    }

    /// Merges the extremes of another part of the array.
    pub fn join(&mut self, other: &Self) {
        self.element = self.element.or(other.element);
        for &(value, times) in &other.high {
            enter(&mut self.high, value, times, |a, b| a > b);
        }
        for &(value, times) in &other.low {
            enter(&mut self.low, value, times, |a, b| a < b);
        }
    }

    /// Serializes: id of the element type (0 without values), number of large values, then all
    /// values with their counts.
    pub fn to_words(&self) -> Vec<u64> {
        let both = self.high.iter().chain(&self.low);
        let pairs = both.flat_map(|&(value, times)| [value.to_bits(), times]);
        let element = self.element.map_or(0, |element| element as u64);
        let counts = [element, self.high.len() as u64];
        counts.into_iter().chain(pairs).collect()
    }

    /// Parses the words of [`Self::to_words`].
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (&[element, high], words) = words.split_first_chunk()?;
        let element = match element {
            0 => None,
            id => Some(ElementType::from_id(u8::try_from(id).ok()?).ok()?),
        };
        let (pairs, []) = words.as_chunks::<2>() else {
            return None;
        };
        let ends = pairs.split_at_checked(usize::try_from(high).ok()?)?;
        let end = |pairs: &[[u64; 2]]| {
            let pairs = pairs.iter();
            pairs.map(|&[v, n]| (f64::from_bits(v), n)).collect()
        };
        Some(Self {
            high: end(ends.0),
            low: end(ends.1),
            element,
        })
    }

    /// Total count of the given values among the extremes.
    pub fn times(&self, values: &FillValues) -> u64 {
        let times = |&value: &f64| {
            let same = |end: &&(f64, u64)| end.0 == value;
            let seen = self.high.iter().find(same);
            seen.or_else(|| self.low.iter().find(same))
                .map_or(0, |&(_, times)| times)
        };
        values.as_slice().iter().map(times).sum()
    }

    /// The range of all finite values.
    pub fn range(&self) -> FiniteRange {
        match (self.low.first(), self.high.first()) {
            (Some(low), Some(high)) => FiniteRange {
                min: low.0,
                max: high.0,
            },
            _ => FiniteRange::EMPTY,
        }
    }
}

/// Whether a value is, or could become, one of the tracked values.
fn may_enter(end: &[(f64, u64)], value: f64, further: impl Fn(f64, f64) -> bool) -> bool {
    let last = end.get(MAX_DISTINCT_VALUES - 1);
    last.is_none_or(|&(last, _)| !further(last, value))
}

/// Adds the outermost values of a block, of which `first` is the outermost.
#[inline(always)]
fn absorb<T: Element>(
    end: &mut Vec<(f64, u64)>,
    block: &[T],
    first: f64,
    further: impl Fn(T, T) -> bool,
    further_double: impl Fn(f64, f64) -> bool + Copy,
) {
    let innermost = match further_double(1.0, 0.0) {
        true => T::from_f64(f64::NEG_INFINITY),
        false => T::from_f64(f64::INFINITY),
    };
    let mut value = T::from_f64(first);
    for _ in 0..MAX_DISTINCT_VALUES {
        if value == innermost || !may_enter(end, value.to_f64(), further_double) {
            return;
        }
        let times: u32 = block.iter().map(|&x| u32::from(x == value)).sum();
        enter(end, value.to_f64(), u64::from(times), further_double);
        value = next_inwards(block, value, innermost, &further);
    }
}

/// The outermost value that lies strictly inside of `value`; `innermost` (an infinity) if there is
/// none.
#[inline(always)]
fn next_inwards<T: Element>(
    block: &[T],
    value: T,
    innermost: T,
    further: impl Fn(T, T) -> bool,
) -> T {
    const LANES: usize = 16;
    let mut best = [innermost; LANES];
    let mut take = |lane: usize, x: T| {
        // NaN fails both comparisons, each infinity fails one.
        let better = further(value, x) & further(x, best[lane]);
        best[lane] = if better { x } else { best[lane] };
    };
    let (blocks, rest) = block.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &x) in block.iter().enumerate() {
            take(lane, x);
        }
    }
    for &x in rest {
        take(0, x);
    }
    let outer = |a, b| if further(b, a) { b } else { a };
    best.into_iter().fold(innermost, outer)
}

/// Counts a value if it is one of the outermost.
fn enter(end: &mut Vec<(f64, u64)>, value: f64, times: u64, further: impl Fn(f64, f64) -> bool) {
    let place = end.iter().take_while(|(other, _)| further(*other, value));
    let place = place.count();
    match end.get_mut(place) {
        Some(same) if same.0 == value => same.1 += times,
        _ if place == MAX_DISTINCT_VALUES => {}
        _ => {
            end.insert(place, (value, times));
            end.truncate(MAX_DISTINCT_VALUES);
        }
    }
}
