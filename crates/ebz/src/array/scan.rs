//! A scan of all values of an array: range and fill values.

use super::extremes::Extremes;
use super::{FiniteRange, missing};
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues, MAX_FILL_VALUES};
use crate::simd::Level;

/// Values filtered at a time.
const BLOCK_VALUES: usize = 4096;

/// The result of a scan. Parts of an array can be scanned separately and joined in any order.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueScan {
    fill: Fill,
    /// The range, if no fill values are to be detected.
    range: FiniteRange,
    /// The extremes without named fill values, if others are to be detected.
    extremes: Extremes,
}

/// Fill values that were detected.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct FoundFill {
    /// The values; empty if none were detected.
    pub values: FillValues,
    /// How many elements of the array have one of these values.
    pub count: u64,
    /// Values that are separated from the data in at least one part of the array.
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

    /// Drops values that chunks stored exactly but that are not separated from the data in any of
    /// them.
    pub(crate) fn confirmed(self) -> Self {
        match self.confirmed.is_empty() {
            true => Self::default(),
            false => Self {
                values: self.confirmed,
                ..self
            },
        }
    }

    /// Adds what was detected in another part of the array. If the list is full, further values are
    /// not reported; their chunk stores them exactly anyway.
    pub(crate) fn join(&mut self, other: &Self) {
        if other.values.is_empty() && other.confirmed.is_empty() {
            return;
        }
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
    /// A scan without values yet.
    pub fn new(fill: Fill) -> Self {
        Self {
            fill,
            range: FiniteRange::EMPTY,
            extremes: Extremes::default(),
        }
    }

    /// Scans these values.
    pub fn of<T: Element>(values: &[T], fill: Fill) -> Self {
        let mut scan = Self::new(fill);
        scan.add(values);
        scan
    }

    /// Adds values.
    pub fn add<T: Element>(&mut self, values: &[T]) {
        Level::detect().run(
            #[inline(always)]
            || self.add_here(values),
        );
    }

    /// [`Self::add`] with the instruction set of the caller.
    #[inline(always)]
    fn add_here<T: Element>(&mut self, values: &[T]) {
        let named = self.fill.values();
        if !self.fill.is_auto() {
            self.range = self.range.join(FiniteRange::of(values, &named));
        } else if named.is_empty() {
            self.extremes.add(values);
        } else {
            let named = named.typed(T::from_f64);
            let mut others = Vec::with_capacity(BLOCK_VALUES);
            for block in values.chunks(BLOCK_VALUES) {
                others.clear();
                others.extend(block.iter().copied().filter(|&x| !named.contains(x)));
                self.extremes.add(&others);
            }
        }
    }

    /// Joins the scan of another part of the same array.
    pub fn join(&mut self, other: &Self) {
        self.range = self.range.join(other.range);
        self.extremes.join(&other.extremes);
    }

    /// Serializes the scan, for another process to [join](Self::join_words).
    pub fn to_words(&self) -> Vec<u64> {
        let range = [self.range.min, self.range.max].map(f64::to_bits);
        [range.to_vec(), self.extremes.to_words()].concat()
    }

    /// Joins the scan of another process, from [`Self::to_words`].
    pub fn join_words(&mut self, words: &[u64]) -> Result<()> {
        let wrong = || Error::corrupt("invalid words of a value scan");
        let (range, extremes) = words.split_first_chunk::<2>().ok_or_else(wrong)?;
        let [min, max] = range.map(f64::from_bits);
        self.range = self.range.join(FiniteRange { min, max });
        let extremes = Extremes::from_words(extremes).ok_or_else(wrong)?;
        self.extremes.join(&extremes);
        Ok(())
    }

    /// The range of the data, fill values excluded.
    pub fn range(&self) -> FiniteRange {
        match self.fill.is_auto() {
            true => self.find().1.range(),
            false => self.range,
        }
    }

    /// The fill values, given or detected.
    pub fn fill(&self) -> Fill {
        match self.fill.is_auto() {
            // `find` leaves room for them.
            true => Fill::Found(self.fill.values())
                .and(self.find().0)
                .unwrap_or(self.fill),
            false => self.fill,
        }
    }

    /// The detected fill values, without given ones.
    pub fn found(&self) -> FoundFill {
        match self.fill.is_auto() {
            true => FoundFill::of(self.find().0, &self.extremes),
            false => FoundFill::default(),
        }
    }

    /// Detects fill values; also returns the extremes of the data.
    fn find(&self) -> (FillValues, Extremes) {
        let named = self.fill.values().as_slice().len();
        missing::find(&self.extremes, MAX_FILL_VALUES - named)
    }
}

/// Whether [`chunk_fill`] can find anything in a chunk whose minimum and maximum lie in these
/// intervals.
pub(crate) fn may_have_fill(extremes: Option<[(f64, f64); 2]>) -> bool {
    let may_be_known = |(low, high)| missing::any_known(low, high);
    extremes.is_none_or(|ends| ends.into_iter().any(may_be_known))
}

/// Whether a chunk with this range may contain fill values that `chunk_fill` finds.
pub fn may_be_missing(range: FiniteRange, element: ElementType) -> bool {
    let is_known = |value| missing::is_known(value, Some(element));
    is_known(range.min) || is_known(range.max)
}

/// Detects fill values in a single chunk, besides the given ones: conventional values at either
/// end. They need no gap from the data, since no range depends on them.
pub(crate) fn chunk_fill<T: Element>(level: Level, values: &[T], named: &FillValues) -> FoundFill {
    let range = FiniteRange::at_level(level, values, named);
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
