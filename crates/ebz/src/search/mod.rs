//! `ratio` and `psnr`: the absolute bound that meets a target, for every codec that offers `abs`.
//!
//! In: an array and a target. Out: the array coded with a bound that meets it. The search codes the
//! array with bounds that come closer and closer, and keeps the best of what it coded. It starts
//! from a sample, or in a series from the frame before.

mod psnr;
mod target;
mod walk;

use crate::array::{FiniteRange, View};
use crate::bound::Tolerance;
use crate::container::{CodedFrame, Coders, Frame, FramePlan, Source};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::options::Options;
use target::Target;
use walk::Walk;

/// Bounds that are tried on the whole array at most.
const MOST_TRIALS: usize = 24;
/// Bounds that are tried on a sample.
const SAMPLE_TRIALS: usize = 8;
/// Smallest share of the range that is tried as a bound. Ranges may be spoilt by huge values that
/// mark missing data.
const SMALLEST: f64 = 1e-45;

/// How a bound was found for a `ratio` or a `psnr`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Searched {
    /// The ratio or PSNR of the frame, as if it were alone in its file.
    pub found: f64,
    /// The largest ratio or PSNR below the target that the search came across.
    pub below: Option<f64>,
    /// Whether `found` is the target or a little above: at most 5 % for a ratio, 1 dB for a PSNR.
    /// Where it is not, no bound that does better was found.
    pub close: bool,
    /// How often the whole array was coded.
    pub codings: usize,
}

/// How the search for a frame ended, from which the search for the next one starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    target: Target,
    tolerance: Tolerance,
    /// What the tolerance gave, if known.
    found: Option<f64>,
    slope: Option<f64>,
}

impl Last {
    /// From a frame of a file, if it was made with the same options.
    pub fn of<S: Source>(frame: &Frame<'_, S>, options: &Options) -> Option<Self> {
        let header = frame.header();
        let target = Target::of(options.bound, header.element.size()).ok()?;
        let same = header.asked == options.bound && header.params == options.params;
        let codec = crate::codec::by_id(header.codec).ok()?;
        (same && codec.info.name == options.codec).then(|| Self {
            target,
            tolerance: header.tolerance,
            found: match target {
                Target::Ratio { .. } => {
                    Some(header.raw_bytes() as f64 / frame.stored_bytes() as f64)
                }
                Target::Psnr(_) => None,
            },
            slope: None,
        })
    }
}

/// A frame that meets its target.
pub(crate) struct Found {
    pub frame: CodedFrame,
    pub summary: Searched,
    pub last: Last,
}

/// Codes an array as frame number `number` so that it meets the `ratio` or `psnr` of the options.
pub(crate) fn frame<T: Element>(
    view: &View<'_, T>,
    number: u32,
    options: &Options,
    coders: &mut Coders,
    last: Option<Last>,
) -> Result<Found> {
    let target = Target::of(options.bound, T::SIZE)?;
    let values = view.to_contiguous();
    let range = FiniteRange::of(&values, options.fill).extent();
    let mut whole = Search {
        values: &values,
        shape: view.shape(),
        options,
        target,
        range,
        number,
        coders,
        codings: 0,
        best: None,
        below: None,
    };
    // Nothing to lose: constant values, or none that count.
    if !(range > 0.0 && range.is_finite()) {
        whole.measure(Tolerance::Lossless)?;
        return whole.end(None);
    }
    let (mut start, mut slope) = (whole.first_guess(), None);
    match last.filter(|last| last.target == target) {
        Some(last) => match last.tolerance {
            Tolerance::Abs(bound) => {
                slope = last.slope;
                let walk = whole.walk(slope);
                start = last.found.map_or(bound, |found| walk.from(bound, found));
            }
            exact => {
                if target.is_met(whole.measure(exact)?) {
                    return whole.end(None);
                }
            }
        },
        None => {
            if let Some(sample) = whole.sample() {
                (start, slope) = whole.search_sample(sample)?;
            }
        }
    }
    let slope = whole.walk_from(start, slope, MOST_TRIALS)?;
    whole.end(Some(slope))
}

/// An array on which bounds are tried, and the best of them.
struct Search<'a, T> {
    values: &'a [T],
    shape: &'a [usize],
    options: &'a Options,
    target: Target,
    range: f64,
    number: u32,
    coders: &'a mut Coders,
    codings: usize,
    /// What meets the target by the least, with what it gives.
    best: Option<(CodedFrame, f64)>,
    /// What misses the target by the least.
    below: Option<f64>,
}

impl<'a, T: Element> Search<'a, T> {
    /// A walk over the bounds that make sense for the array.
    fn walk(&self, slope: Option<f64>) -> Walk {
        let least = (self.range * SMALLEST).max(1e-290);
        let walk = Walk::new(self.target, least, self.range);
        match slope {
            Some(slope) => walk.with_slope(slope),
            None => walk,
        }
    }

    /// Tries bounds until one is close, or no other promises to be; the slope of the curve.
    fn walk_from(&mut self, start: f64, slope: Option<f64>, trials: usize) -> Result<f64> {
        let mut walk = self.walk(slope);
        let mut bound = walk.rounded(start);
        for trial in 1..=trials {
            let found = self.measure(Tolerance::Abs(bound))?;
            walk.note(bound, found);
            if self.target.is_close(found) {
                break;
            }
            // A ratio that is still too large may be one that an exact copy has.
            let larger = trial == 2 && self.below.is_none();
            if larger && matches!(self.target, Target::Ratio { .. }) {
                let exact = self.measure(Tolerance::Lossless)?;
                if self.target.is_met(exact) {
                    break;
                }
            }
            match walk.next() {
                Some(next) => bound = next,
                None => break,
            }
        }
        Ok(walk.slope())
    }

    /// Codes the array; what that gives.
    fn measure(&mut self, tolerance: Tolerance) -> Result<f64> {
        let (threads, simd) = (self.options.threads, self.options.simd);
        let plan = FramePlan::new::<T>(self.shape, tolerance, self.options)?;
        let view = View::new(self.values, self.shape)?;
        let frame = CodedFrame::new(plan, self.number, &view, self.coders, threads, simd)?;
        self.codings += 1;
        let found = match self.target {
            Target::Ratio { .. } => (self.values.len() * T::SIZE) as f64 / frame.file_size() as f64,
            Target::Psnr(_) => {
                psnr::of(&frame, self.number, self.values, self.range, self.options)?
            }
        };
        if !self.target.is_met(found) {
            self.below = Some(self.below.map_or(found, |below| below.max(found)));
        } else if tolerance == Tolerance::Lossless
            || self.best.as_ref().is_none_or(|(_, best)| found < *best)
        {
            self.best = Some((frame, found));
        }
        Ok(found)
    }

    /// The best that was coded, or why there is none.
    fn end(mut self, slope: Option<f64>) -> Result<Found> {
        if self.best.is_none() {
            let exact = self.measure(Tolerance::Lossless)?;
            if let (None, Target::Ratio { ratio, .. }) = (&self.best, self.target) {
                let loosest = match self.range {
                    range if range > 0.0 && range.is_finite() => {
                        self.measure(Tolerance::Abs(range))?
                    }
                    _ => exact,
                };
                let most = self.below.map_or(loosest, |below| below.max(loosest));
                return Err(Error::invalid(format!(
                    "ratio {ratio} cannot be reached with codec {}: this array allows {exact:.3} \
                     (every bit kept) to {most:.3} (errors as large as its range): ask for less, \
                     or take another codec",
                    self.options.codec
                )));
            }
        }
        let (frame, found) = self
            .best
            .ok_or_else(|| Error::invalid("an exact copy does not meet this PSNR"))?;
        Ok(Found {
            last: Last {
                target: self.target,
                tolerance: frame.plan.header().tolerance,
                found: Some(found),
                slope,
            },
            frame,
            summary: Searched {
                found,
                below: self.below,
                close: self.target.is_close(found),
                codings: self.codings,
            },
        })
    }

    /// The middle sixteenth of large arrays along their slowest axis.
    fn sample(&self) -> Option<(&'a [T], Vec<usize>)> {
        const PARTS: usize = 16;
        let (&slow, rest) = self.shape.split_first()?;
        let rows = slow / PARTS;
        let row: usize = rest.iter().product();
        if rows * row * T::SIZE < 1 << 20 {
            return None;
        }
        let first = (slow - rows) / 2;
        let mut shape = self.shape.to_vec();
        shape[0] = rows;
        Some((&self.values[first * row..(first + rows) * row], shape))
    }

    /// The bound that is best for a sample, and the slope of its curve.
    fn search_sample(&mut self, sample: (&[T], Vec<usize>)) -> Result<(f64, Option<f64>)> {
        let (values, shape) = sample;
        let mut part = Search {
            values,
            shape: &shape,
            coders: &mut *self.coders,
            best: None,
            ..*self
        };
        let start = part.first_guess();
        let slope = part.walk_from(start, None, SAMPLE_TRIALS)?;
        let bound = match part.best.map(|(frame, _)| frame.plan.header().tolerance) {
            Some(Tolerance::Abs(bound)) => bound,
            _ => start,
        };
        Ok((bound, Some(slope)))
    }

    /// A bound to start from, by the model.
    fn first_guess(&self) -> f64 {
        match self.target {
            // Errors that are spread evenly between the bounds.
            Target::Psnr(decibels) => self.range * 3f64.sqrt() * 10f64.powf(-decibels / 20.0),
            // Neighbours differ by so much that the bits which the target allows would code it.
            Target::Ratio { ratio, bits } => match self.difference() {
                Some(difference) => difference * (2.0 - bits / ratio).exp2(),
                None => 1e-3 * self.range,
            },
        }
    }

    /// The median of the differences of some thousand neighbours, of those that differ. Unlike the
    /// range, it is not spoilt by values that mark missing data.
    fn difference(&self) -> Option<f64> {
        const PAIRS: usize = 4096;
        let stride = (self.values.len() / PAIRS).max(1);
        let pairs = self.values.windows(2).step_by(stride);
        let mut differences: Vec<f64> = pairs
            .map(|pair| (pair[1].to_f64() - pair[0].to_f64()).abs())
            .filter(|difference| *difference > 0.0 && difference.is_finite())
            .collect();
        differences.sort_unstable_by(f64::total_cmp);
        differences.get(differences.len() / 2).copied()
    }
}
