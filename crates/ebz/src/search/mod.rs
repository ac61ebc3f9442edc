//! `ratio` and `psnr`: the absolute bound that meets a target, for every codec that offers `abs`.
//!
//! In: an array and a target. Out: the array coded with a bound that meets it. The search codes the
//! array with bounds that come closer and closer, and keeps the best of what it coded. It starts
//! from a sample, or in a series from the frame before. Where the curve jumps, a sample tells which
//! other bounds are worth a trial.

mod bracketing;
mod one_pass;
mod outcome;
mod psnr;
mod sample;
mod scan;
mod target;

use crate::array::{FoundFill, ValueScan, View};
use crate::bound::Tolerance;
use crate::chunk::{EncodedFrame, FrameHeader, FramePlan, Pool};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::options::Options;
use bracketing::Bracketing;
pub use one_pass::OnePass;
use outcome::Trial;
pub use outcome::{SearchOutcome, SearchStats};
use target::Target;

/// Bounds that are tried on the whole array at most, before a sample is asked.
const MOST_TRIALS: usize = 16;
/// Bounds that are tried on a sample to find a start.
const SAMPLE_TRIALS: usize = 8;
/// Smallest share of the range that is tried as a bound. Ranges may be spoilt by huge values that
/// mark missing data.
const SMALLEST: f64 = 1e-45;
/// Largest one. At a bound of just the range, the values at its ends may fail by a rounding.
const LARGEST: f64 = 1.0625;

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
    pub fn of(header: &FrameHeader, stored: u64, options: &Options) -> Option<Self> {
        let target = Target::of(options.bound, header.element.size()).ok()?;
        let same = header.asked == options.bound && header.params == options.params;
        let codec = crate::codec::by_name(&options.codec).ok()?;
        (same && codec.info.id == header.codec).then(|| Self {
            target,
            tolerance: header.tolerance,
            found: match target {
                Target::Ratio { .. } => Some(header.raw_bytes() as f64 / stored as f64),
                Target::Psnr(_) => None,
            },
            slope: None,
        })
    }
}

/// A frame that meets its target.
pub(crate) struct Found {
    pub frame: EncodedFrame,
    pub fill: FoundFill,
    pub summary: SearchStats,
    pub last: Last,
}

/// Encodes an array so that it meets the `ratio` or `psnr` of the options; `file_size` tells the bytes of
/// a file that holds a frame alone.
pub(crate) fn frame<T: Element>(
    view: &View<'_, T>,
    options: &Options,
    pool: &mut Pool,
    last: Option<Last>,
    file_size: &dyn Fn(&EncodedFrame) -> usize,
) -> Result<Found> {
    if options.one_pass {
        return one_pass::frame(view, options, pool, file_size);
    }
    let target = Target::of(options.bound, T::SIZE)?;
    let values = view.to_contiguous();
    let scan = ValueScan::of(&values, options.fill);
    let options = &Options {
        fill: scan.fill(),
        clip: options.clip.resolve(scan.range()),
        ..options.clone()
    };
    let mut whole = Search {
        values: &values,
        shape: view.shape(),
        options,
        target,
        range: scan.range().extent().min(f64::MAX),
        fill: scan.found(),
        pool,
        file_size,
        codings: 0,
        sampled: 0,
        trials: Vec::new(),
        best: None,
    };
    // Nothing to lose: constant values, or none that count.
    if whole.range == 0.0 {
        whole.measure(Tolerance::Lossless)?;
        return whole.end(None, false);
    }
    let (mut starts, mut slope) = (Vec::new(), None);
    match last.filter(|last| last.target == target) {
        Some(last) => match last.tolerance {
            Tolerance::Abs(bound) => {
                slope = last.slope;
                let bracketing = whole.bracketing(slope);
                starts.push(
                    last.found
                        .map_or(bound, |found| bracketing.from(bound, found)),
                );
            }
            exact => {
                if target.is_met(whole.measure(exact)?) {
                    return whole.end(None, false);
                }
            }
        },
        None => {
            if whole.may_be_met_exactly()? && whole.is_met_exactly()? {
                return whole.end(None, false);
            }
            (starts, slope) = whole.starts_of_sample()?;
        }
    }
    if starts.is_empty() {
        starts.push(whole.first_guess());
    }
    let mut bracketing = whole.bracketing_from(&starts, slope, MOST_TRIALS)?;
    let mut open = false;
    if !whole.is_close() && !whole.is_met_exactly()? {
        open = whole.scan(&mut bracketing)?;
    }
    whole.end(Some(bracketing.slope()), open)
}

/// An array on which bounds are tried, and the best of them.
struct Search<'a, T> {
    values: &'a [T],
    shape: &'a [usize],
    options: &'a Options,
    target: Target,
    range: f64,
    /// What was found to mark missing data.
    fill: FoundFill,
    pool: &'a mut Pool,
    file_size: &'a dyn Fn(&EncodedFrame) -> usize,
    /// How often this array was coded, and a sample of it.
    codings: usize,
    sampled: usize,
    trials: Vec<Trial>,
    /// The best of the trials that meet the target.
    best: Option<(EncodedFrame, Trial)>,
}

impl<T: Element> Search<'_, T> {
    /// A bracketing over the bounds that make sense for the array.
    fn bracketing(&self, slope: Option<f64>) -> Bracketing {
        let most = (self.range * LARGEST).min(f64::MAX);
        let least = (self.range * SMALLEST).max(1e-290).min(most);
        let bracketing = Bracketing::new(self.target, least, most);
        match slope {
            Some(slope) => bracketing.with_slope(slope),
            None => bracketing,
        }
    }

    /// Tries bounds until one is close, or the curve turns out to jump: some to start with, and then
    /// what follows from them.
    fn bracketing_from(
        &mut self,
        starts: &[f64],
        slope: Option<f64>,
        trials: usize,
    ) -> Result<Bracketing> {
        let mut bracketing = self.bracketing(slope);
        let mut starts = starts.iter();
        for _ in 0..trials {
            let next = starts.next().map(|&start| bracketing.rounded(start));
            let Some(bound) = next.or_else(|| bracketing.next()) else {
                break;
            };
            if self.step(&mut bracketing, bound)? {
                break;
            }
        }
        Ok(bracketing)
    }

    /// Tries a bound; whether it is close.
    fn step(&mut self, bracketing: &mut Bracketing, bound: f64) -> Result<bool> {
        let found = self.measure(Tolerance::Abs(bound))?;
        bracketing.note(bound, found);
        Ok(self.target.is_close(found))
    }

    /// Codes the array; what that gives.
    fn measure(&mut self, tolerance: Tolerance) -> Result<f64> {
        let plan = FramePlan::new::<T>(self.shape, tolerance, self.options)?;
        let view = View::new(self.values, self.shape)?;
        let frame = EncodedFrame::new(
            plan,
            &view,
            self.pool,
            (self.options.threads, self.options.simd),
        )?;
        self.codings += 1;
        let found = match self.target {
            Target::Ratio { .. } => {
                (self.values.len() * T::SIZE) as f64 / (self.file_size)(&frame) as f64
            }
            Target::Psnr(_) => psnr::of(&frame, self.values, self.range, self.options)?,
        };
        let trial = Trial { tolerance, found };
        self.trials.push(trial);
        let best = self.best.as_ref().map(|(_, best)| *best);
        if trial.is_better(best, self.target) {
            self.best = Some((frame, trial));
        }
        Ok(found)
    }

    /// Whether a bound was found that is met and not by much more than asked.
    fn is_close(&self) -> bool {
        let close = |(_, best): &(_, Trial)| self.target.is_close(best.found);
        self.best.as_ref().is_some_and(close)
    }

    /// The best that was coded, or why there is none; `open` if trials were left that promised more.
    fn end(mut self, slope: Option<f64>, open: bool) -> Result<Found> {
        if self.best.is_none() {
            self.last_resort()?;
        }
        let (frame, best) = self
            .best
            .ok_or_else(|| Error::invalid("an exact copy does not meet this PSNR"))?;
        Ok(Found {
            last: Last {
                target: self.target,
                tolerance: best.tolerance,
                found: Some(best.found),
                slope,
            },
            frame,
            fill: self.fill,
            summary: SearchStats {
                found: best.found,
                outcome: best.outcome(self.target, self.range, open),
                beyond: best.beyond(&self.trials, self.target),
                codings: self.codings,
                sampled: self.sampled,
            },
        })
    }

    /// An exact copy has any PSNR; where neither it nor the largest bound has the ratio, none has.
    fn last_resort(&mut self) -> Result<()> {
        let exact = self.measured(Tolerance::Lossless)?;
        let Target::Ratio { ratio, .. } = self.target else {
            return Ok(());
        };
        let mut most = exact;
        if self.best.is_none() && self.range > 0.0 {
            let largest = self.bracketing(None).rounded(f64::MAX);
            most = most.max(self.measured(Tolerance::Abs(largest))?);
        }
        if self.best.is_some() {
            return Ok(());
        }
        let codec = &self.options.codec;
        Err(Error::invalid(match self.range > 0.0 {
            true => format!(
                "ratio {ratio} cannot be reached with codec {codec}: this array allows {exact:.3} \
                 (every bit kept) to {most:.3} (errors as large as its range): ask for less, or \
                 take another codec"
            ),
            false => format!(
                "ratio {ratio} cannot be reached with codec {codec}: this array allows {exact:.3}, \
                 since no two of its numbers differ and any bound keeps every bit: ask for less"
            ),
        }))
    }

    /// Whether an exact copy has the ratio, so that no bound can be smaller.
    fn is_met_exactly(&mut self) -> Result<bool> {
        Ok(match self.target {
            Target::Ratio { .. } => self.target.is_met(self.measured(Tolerance::Lossless)?),
            Target::Psnr(_) => false,
        })
    }

    /// What a tolerance gives, coding the array only if that is not known.
    fn measured(&mut self, tolerance: Tolerance) -> Result<f64> {
        let known = self
            .trials
            .iter()
            .find(|trial| trial.tolerance == tolerance);
        match known {
            Some(trial) => Ok(trial.found),
            None => self.measure(tolerance),
        }
    }

    /// A bound to start from, by the model.
    fn first_guess(&self) -> f64 {
        match self.target {
            // Errors that are spread evenly between the bounds.
            Target::Psnr(decibels) => self.range * (3f64.sqrt() * 10f64.powf(-decibels / 20.0)),
            Target::Ratio { .. } => match median_difference(self.values) {
                Some(difference) => ratio_guess(self.target, difference),
                None => 1e-3 * self.range,
            },
        }
    }
}

/// Neighbours differ by so much that the bits which the target allows would code it.
fn ratio_guess(target: Target, difference: f64) -> f64 {
    match target {
        Target::Ratio { ratio, bits } => difference * (2.0 - bits / ratio).exp2(),
        Target::Psnr(_) => difference,
    }
}

/// The median of the differences of some thousand neighbours, of those that differ. Unlike the
/// range, it is not spoilt by values that mark missing data.
fn median_difference<T: Element>(values: &[T]) -> Option<f64> {
    const PAIRS: usize = 4096;
    let stride = (values.len() / PAIRS).max(1);
    let pairs = values.windows(2).step_by(stride);
    let mut differences: Vec<f64> = pairs
        .map(|pair| (pair[1].to_f64() - pair[0].to_f64()).abs())
        .filter(|difference| *difference > 0.0 && difference.is_finite())
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences.get(differences.len() / 2).copied()
}
