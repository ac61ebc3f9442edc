//! A pass over all values of an array: their range, and which of them mark missing data.

use super::extremes::Extremes;
use super::{FiniteRange, missing};
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues, MAX_FILL_VALUES};
use crate::simd::Level;

/// Values that are sorted out at once.
const BLOCK: usize = 4096;

/// What a pass over all values tells. Parts of an array can be scanned apart, in any order.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueScan {
    fill: Fill,
    /// Where nothing is looked for.
    range: FiniteRange,
    /// Where something is: of the values that are not named.
    extremes: Extremes,
}

/// Values that were found to mark missing data.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct FoundFill {
    /// These values; none if empty.
    pub values: FillValues,
    /// How many values of the array they are.
    pub count: u64,
    /// Those that lie outside of all others in at least one part of the array.
    #[serde(skip)]
    confirmed: FillValues,
}

impl FoundFill {
    fn of(values: FillValues, extremes: &Extremes) -> Self {
        Self {
            count: extremes.times(&values),
            values,
            confirmed: values,
        }
    }

    /// Without values that each part kept exactly, but that lie outside of the others in none.
    pub(crate) fn confirmed(self) -> Self {
        match self.confirmed.is_empty() {
            true => Self::default(),
            false => Self {
                values: self.confirmed,
                ..self
            },
        }
    }

    /// Adds what was found in another part of the array. A list that is full takes no more values,
    /// which each part keeps exactly all the same.
    pub(crate) fn join(&mut self, other: &Self) {
        self.count += other.count;
        for (all, more) in [
            (&mut self.values, &other.values),
            (&mut self.confirmed, &other.confirmed),
        ] {
            *all = all.and(*more).unwrap_or(*all);
        }
    }
}

impl ValueScan {
    /// A pass that has not seen any value, for an array whose missing data is marked like this.
    pub fn new(fill: Fill) -> Self {
        Self {
            fill,
            range: FiniteRange::EMPTY,
            extremes: Extremes::default(),
        }
    }

    /// A pass over these values.
    pub fn of<T: Element>(values: &[T], fill: Fill) -> Self {
        let mut scan = Self::new(fill);
        scan.add(values);
        scan
    }

    /// Adds values.
    pub fn add<T: Element>(&mut self, values: &[T]) {
        let named = self.fill.values();
        if !self.fill.is_auto() {
            self.range = self.range.join(FiniteRange::of(values, &named));
        } else if named.is_empty() {
            self.extremes.add(values);
        } else {
            let named = named.typed(T::from_f64);
            let mut others = Vec::with_capacity(BLOCK);
            for block in values.chunks(BLOCK) {
                others.clear();
                others.extend(block.iter().copied().filter(|&x| !named.contains(x)));
                self.extremes.add(&others);
            }
        }
    }

    /// Adds what another pass saw of the same array.
    pub fn join(&mut self, other: &Self) {
        self.range = self.range.join(other.range);
        self.extremes.join(&other.extremes);
    }

    /// What was seen, as numbers that another process can [join](Self::join_words).
    pub fn to_words(&self) -> Vec<u64> {
        let range = [self.range.min, self.range.max].map(f64::to_bits);
        [range.to_vec(), self.extremes.to_words()].concat()
    }

    /// Adds what the pass of another process saw of the same array.
    pub fn join_words(&mut self, words: &[u64]) -> Result<()> {
        let wrong = || Error::corrupt("these are not the numbers of a pass over values");
        let (range, extremes) = words.split_first_chunk::<2>().ok_or_else(wrong)?;
        let [min, max] = range.map(f64::from_bits);
        self.range = self.range.join(FiniteRange { min, max });
        let extremes = Extremes::from_words(extremes).ok_or_else(wrong)?;
        self.extremes.join(&extremes);
        Ok(())
    }

    /// The range of the values that count.
    pub fn range(&self) -> FiniteRange {
        match self.fill.is_auto() {
            true => self.find().1.range(),
            false => self.range,
        }
    }

    /// What marks missing data, as it was named or found.
    pub fn fill(&self) -> Fill {
        match self.fill.is_auto() {
            // There is room for them.
            true => Fill::Found(self.fill.values())
                .and(self.find().0)
                .unwrap_or(self.fill),
            false => self.fill,
        }
    }

    /// What was found, besides what was named.
    pub fn found(&self) -> FoundFill {
        match self.fill.is_auto() {
            true => FoundFill::of(self.find().0, &self.extremes),
            false => FoundFill::default(),
        }
    }

    /// The values that mark missing data and were not named, and the extremes of the others.
    fn find(&self) -> (FillValues, Extremes) {
        let named = self.fill.values().as_slice().len();
        missing::find(&self.extremes, MAX_FILL_VALUES - named)
    }
}

/// Whether [`chunk_fill`] may find something in a chunk whose least and largest value lie in these intervals.
pub(crate) fn may_have_fill(extremes: Option<[(f64, f64); 2]>) -> bool {
    let may_be_known = |(low, high)| missing::any_known(low, high);
    extremes.is_none_or(|ends| ends.into_iter().any(may_be_known))
}

/// Whether a chunk of this range may hold values that mark missing data, where each chunk looks for its own.
pub fn may_be_missing(range: FiniteRange, element: ElementType) -> bool {
    let is_known = |value| missing::is_known(value, Some(element));
    is_known(range.min) || is_known(range.max)
}

/// The values of one chunk that mark missing data, by the chunk alone, besides those that are named:
/// numbers that conventions use, at either end. How far they lie from the others does not matter,
/// since no range depends on it.
pub(crate) fn chunk_fill<T: Element>(level: Level, values: &[T], named: &FillValues) -> FoundFill {
    let range = match named.is_empty() {
        true => FiniteRange::of_all(level, values),
        false => FiniteRange::of(values, named),
    };
    if !may_be_missing(range, T::TYPE) {
        return FoundFill::default();
    }
    let mut scan = ValueScan::new(Fill::AutoAnd(*named));
    scan.add(values);
    let room = MAX_FILL_VALUES - named.as_slice().len();
    FoundFill {
        confirmed: scan.found().values,
        ..FoundFill::of(missing::known(&scan.extremes, room), &scan.extremes)
    }
}
