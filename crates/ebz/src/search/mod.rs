//! `ratio` and `psnr`: searches for the absolute bound that meets a target, for every codec that
//! supports `abs`.
//!
//! Input: an array and a target. Output: the array encoded with a bound that meets it. The search
//! encodes the array with a sequence of bounds and keeps the best result. It starts from a sample,
//! or in a series from the previous frame. If the curve jumps, it tries bounds beside the jump.

mod bracketing;
mod one_pass;
mod outcome;
mod psnr;
mod sample;
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

/// Maximum number of trials on the whole array until the curve turns out to jump.
const MAX_TRIALS: usize = 16;
/// Maximum number of trials beside a jump.
const MAX_TRIALS_AT_A_JUMP: usize = 8;
/// Maximum number of trials on a sample to find a starting bound.
const SAMPLE_TRIALS: usize = 8;
/// Smallest bound to try, as a fraction of the range, which huge fill values may inflate.
const MIN_BOUND_OF_RANGE: f64 = 1e-45;
/// Largest bound to try, as a multiple of the range. With a bound of exactly the range, values at
/// its ends may fail by a rounding error.
const MAX_BOUND_OF_RANGE: f64 = 1.0625;

/// Result of the search for a frame, from which the search for the next one starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    target: Target,
    tolerance: Tolerance,
    /// The ratio or PSNR with this tolerance, if known.
    found: Option<f64>,
    slope: Option<f64>,
}

impl Last {
    /// From a frame of a file, if it was written with the same options.
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

/// Encodes an array so that it meets the `ratio` or `psnr` of the options; `file_size` returns the
/// size of a file with only this frame.
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
    // All values are identical, or none counts for the range: any bound is lossless.
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
    let mut bracketing = whole.search_from(&starts, slope, MAX_TRIALS)?;
    let mut open = false;
    if !whole.is_close() && !whole.is_met_exactly()? {
        open = whole.try_beside_jump(&mut bracketing)?;
    }
    whole.end(Some(bracketing.slope()), open)
}

/// An array, the trials on it, and the best of them.
struct Search<'a, T> {
    values: &'a [T],
    shape: &'a [usize],
    options: &'a Options,
    target: Target,
    range: f64,
    /// The detected fill values.
    fill: FoundFill,
    pool: &'a mut Pool,
    file_size: &'a dyn Fn(&EncodedFrame) -> usize,
    /// Number of times that this array was encoded, and a sample of it.
    codings: usize,
    sampled: usize,
    trials: Vec<Trial>,
    /// The best of the trials that meet the target.
    best: Option<(EncodedFrame, Trial)>,
}

impl<T: Element> Search<'_, T> {
    /// A bracketing search over the range of bounds for this array.
    fn bracketing(&self, slope: Option<f64>) -> Bracketing {
        let most = (self.range * MAX_BOUND_OF_RANGE).min(f64::MAX);
        let least = (self.range * MIN_BOUND_OF_RANGE).max(1e-290).min(most);
        let bracketing = Bracketing::new(self.target, least, most);
        match slope {
            Some(slope) => bracketing.with_slope(slope),
            None => bracketing,
        }
    }

    /// Tries the starting bounds, then bounds chosen by bracketing, until one is close or the curve
    /// turns out to jump.
    fn search_from(
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

    /// Tries a bound; returns whether it is close to the target.
    fn step(&mut self, bracketing: &mut Bracketing, bound: f64) -> Result<bool> {
        let found = self.measure(Tolerance::Abs(bound))?;
        bracketing.note(bound, found);
        Ok(self.target.is_close(found))
    }

    /// Tries bounds where the curve jumps over the target: ratios may jump back, and a PSNR is
    /// continuous except for stairs. Returns whether promising bounds are left.
    fn try_beside_jump(&mut self, bracketing: &mut Bracketing) -> Result<bool> {
        for _ in 0..MAX_TRIALS_AT_A_JUMP {
            let next = match self.target {
                Target::Ratio { .. } => bracketing.nearby(),
                Target::Psnr(_) => bracketing.halfway(),
            };
            let Some(bound) = next else {
                return Ok(false);
            };
            if self.step(bracketing, bound)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Encodes the array; returns its ratio or PSNR.
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

    /// Whether the best trial is close to the target.
    fn is_close(&self) -> bool {
        let close = |(_, best): &(_, Trial)| self.target.is_close(best.found);
        self.best.as_ref().is_some_and(close)
    }

    /// The best trial, or an error if none meets the target; `open` if promising trials were left.
    fn end(mut self, slope: Option<f64>, open: bool) -> Result<Found> {
        if self.best.is_none() {
            self.fall_back()?;
        }
        let (frame, best) = self
            .best
            .ok_or_else(|| Error::invalid("a lossless encoding does not meet this PSNR"))?;
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

    /// Falls back to a lossless encoding, which meets any PSNR. If neither it nor the largest bound
    /// meets the ratio, none does.
    fn fall_back(&mut self) -> Result<()> {
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
                 (lossless) to {most:.3} (errors as large as its range): use a smaller ratio or \
                 another codec"
            ),
            false => format!(
                "ratio {ratio} cannot be reached with codec {codec}: this array allows {exact:.3}, \
                 since all of its numbers are equal and any bound is lossless: use a smaller ratio"
            ),
        }))
    }

    /// Whether a lossless encoding meets the ratio, so that no bound is needed.
    fn is_met_exactly(&mut self) -> Result<bool> {
        Ok(match self.target {
            Target::Ratio { .. } => self.target.is_met(self.measured(Tolerance::Lossless)?),
            Target::Psnr(_) => false,
        })
    }

    /// The ratio or PSNR with a tolerance; encodes the array only if it is not known.
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

    /// A starting bound from the model.
    fn first_guess(&self) -> f64 {
        match self.target {
            // Assume uniformly distributed errors.
            Target::Psnr(decibels) => self.range * (3f64.sqrt() * 10f64.powf(-decibels / 20.0)),
            Target::Ratio { .. } => match median_difference(self.values) {
                Some(difference) => ratio_guess(self.target, difference),
                None => 1e-3 * self.range,
            },
        }
    }
}

/// The bound at which differences of this size take the bits per value of the target.
fn ratio_guess(target: Target, difference: f64) -> f64 {
    match target {
        Target::Ratio { ratio, bits } => difference * (2.0 - bits / ratio).exp2(),
        Target::Psnr(_) => difference,
    }
}

/// The median of the nonzero differences of sampled neighbours. Unlike the range, it is robust
/// against fill values.
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
