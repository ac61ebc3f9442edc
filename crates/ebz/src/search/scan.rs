//! Scans a sample for bounds to try where the curve is erratic.
//!
//! On some arrays (few distinct values, undeclared fill values) ratio and PSNR jump up and down
//! from one bound to the next, so that trials say nothing about the bounds between them. Samples
//! mostly jump at the same bounds.

use super::bracketing::{Bracketing, MIN_WIDTH};
use super::sample::Sample;
use super::target::Target;
use super::{Search, Trial};
use crate::bound::Tolerance;
use crate::element::Element;
use crate::error::Result;

/// Bounds scanned in the sample on either side of the miss.
const SCANNED_PER_SIDE: usize = 12;
/// Spacing of the scanned bounds.
const STEP: f64 = 1.5 * MIN_WIDTH;
/// Crossings of the target in the sample that are bisected.
const MAX_CROSSINGS: usize = 4;
/// Bisection steps per crossing.
const BISECTIONS: usize = 18;
/// Bounds suggested by the sample that are tried on the whole array.
const MAX_TRIALS: usize = 8;
/// Neighbouring bounds that are tried on the whole array.
const MAX_NEARBY_TRIALS: usize = 3;
/// Give up on the sample after this many trials without progress.
const MAX_TRIALS_WITHOUT_PROGRESS: usize = 4;
/// Bounds tried on the whole array that are also tried in the sample, for comparison.
const MAX_PAIRS: usize = 6;
/// Trials farther from the target than this are not used for the comparison.
const MAX_DISTANCE: f64 = 3.0;

impl<T: Element> Search<'_, T> {
    /// Tries bounds that the sample suggests; returns whether promising ones are left.
    pub(super) fn scan(&mut self, bracketing: &mut Bracketing) -> Result<bool> {
        let Some(middle) = bracketing.middle() else {
            return Ok(false);
        };
        let sample = self.sample();
        let nearby = match (self.target, &sample) {
            (_, None) => MAX_TRIALS,
            // Unlike errors, sizes depend on how the array is chunked.
            (Target::Ratio { .. }, _) => MAX_NEARBY_TRIALS,
            (Target::Psnr(_), _) => 0,
        };
        for _ in 0..nearby {
            let Some(bound) = bracketing.nearby() else {
                break;
            };
            if self.step(bracketing, bound)? {
                return Ok(false);
            }
        }
        let Some(sample) = sample else {
            return Ok(bracketing.nearby().is_some());
        };
        // Scan around the jump; if that makes progress, scan more finely around the best trial.
        for (middle, step) in [(Some(middle), STEP), (None, 0.2 * STEP)] {
            let gap = self.gap();
            let middle = middle.unwrap_or_else(|| self.nearest());
            if self.try_suggested(&sample, bracketing, middle, step)? {
                return Ok(false);
            }
            if self.gap() == gap {
                return self.bisect(bracketing);
            }
        }
        Ok(true)
    }

    /// Tries the bounds that a scan suggests; returns whether one is close.
    fn try_suggested(
        &mut self,
        sample: &Sample<T>,
        bracketing: &Bracketing,
        middle: f64,
        step: f64,
    ) -> Result<bool> {
        let mut guide = self.guide(sample, bracketing, middle, step)?;
        let gap = self.gap();
        for trial in 0..MAX_TRIALS {
            // A representative sample narrows the gap soon.
            if trial == MAX_TRIALS_WITHOUT_PROGRESS && self.gap() == gap {
                break;
            }
            let Some((position, level)) = guide.next(self.target) else {
                break;
            };
            let found = self.measured(Tolerance::Abs(bracketing.bound(position)))?;
            if self.target.is_close(found) {
                return Ok(true);
            }
            guide.pairs.push((level, self.target.level(found)));
        }
        Ok(false)
    }

    /// Bisects a crossing of the PSNR, which is continuous except for stairs; returns whether
    /// promising trials are left.
    fn bisect(&mut self, bracketing: &mut Bracketing) -> Result<bool> {
        if matches!(self.target, Target::Ratio { .. }) {
            return Ok(false);
        }
        let mut stairs = 0;
        for _ in 0..MAX_TRIALS {
            let Some(bound) = bracketing.halfway() else {
                return Ok(false);
            };
            let known = self.trials.len();
            let close = self.step(bracketing, bound)?;
            let (before, new) = self.trials.split_at(known);
            let same = |trial: &Trial| (trial.found - new[0].found).abs() < 1e-6;
            stairs += usize::from(before.iter().any(same));
            if close || stairs == 2 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Position of the trial closest to the target.
    fn nearest(&self) -> f64 {
        let target = self.target;
        let miss = |trial: &&Trial| (target.level(trial.found) - target.aim()).abs();
        let bounds = self.trials.iter().filter(|trial| trial.bound() > 0.0);
        let nearest = bounds.min_by(|a, b| miss(a).total_cmp(&miss(b)));
        target.position(nearest.map_or(self.range, Trial::bound))
    }

    /// The largest result below the target and the smallest above it.
    fn gap(&self) -> (f64, f64) {
        let found = self.trials.iter().map(|trial| trial.found);
        let (above, below): (Vec<_>, Vec<_>) = found.partition(|&found| self.target.is_met(found));
        let most = below.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (most, above.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// Scans a sample around a position.
    fn guide(
        &mut self,
        sample: &Sample<T>,
        bracketing: &Bracketing,
        middle: f64,
        step: f64,
    ) -> Result<Guide> {
        let target = self.target;
        let tried = self.trials.clone();
        let mut part = self.part(sample);
        let mut level = |position: f64| -> Result<f64> {
            let bound = bracketing.bound(position);
            Ok(target.level(part.measured(Tolerance::Abs(bound))?))
        };
        let mut guide = Guide::default();
        // 1. Bounds tried on the whole array, for comparison.
        let apart = |bound: f64| (target.position(bound) - middle).abs();
        let mut near: Vec<_> = tried.iter().filter(|t| apart(t.bound()) < 1.0).collect();
        near.sort_by(|a, b| apart(a.bound()).total_cmp(&apart(b.bound())));
        for trial in near.iter().take(MAX_PAIRS) {
            let position = target.position(trial.bound());
            guide
                .pairs
                .push((level(position)?, target.level(trial.found)));
        }
        // 2. Regular steps.
        for index in 0..=2 * SCANNED_PER_SIDE {
            let position = middle + (index as f64 - SCANNED_PER_SIDE as f64) * step;
            guide.known.push((position, level(position)?));
        }
        // 3. Bisect the steps that cross the target.
        let (base, growth) = guide.line(target);
        let aim = (target.aim() - base) / growth;
        let pairs = guide.known.windows(2).map(|pair| (pair[0], pair[1]));
        let mut passes: Vec<_> = pairs
            .filter(|(from, to)| (from.1 < aim) != (to.1 < aim))
            .collect();
        passes.sort_by(|a, b| (a.0.0 - middle).abs().total_cmp(&(b.0.0 - middle).abs()));
        for (mut from, mut to) in passes.into_iter().take(MAX_CROSSINGS) {
            for _ in 0..BISECTIONS {
                let position = 0.5 * (from.0 + to.0);
                let new = (position, level(position)?);
                guide.known.push(new);
                if (new.1 - aim).abs() * growth < 0.5 * target.width() {
                    break;
                }
                match (new.1 < aim) == (from.1 < aim) {
                    true => from = new,
                    false => to = new,
                }
            }
        }
        self.sampled += part.codings;
        Ok(guide)
    }
}

/// Results on the sample, and their relation to the whole array.
#[derive(Debug, Default)]
struct Guide {
    /// Positions not yet tried on the whole array, and the levels of the sample there.
    known: Vec<(f64, f64)>,
    /// Levels of the sample and of the whole array at the same bounds.
    pairs: Vec<(f64, f64)>,
}

impl Guide {
    /// Linear fit from levels of the sample to those of the whole array: base and growth.
    fn line(&self, target: Target) -> (f64, f64) {
        let mut pairs = self.pairs.clone();
        pairs.retain(|(_, whole)| (whole - target.aim()).abs() < MAX_DISTANCE);
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            pairs.iter().map(of).sum::<f64>() / pairs.len().max(1) as f64
        };
        let (sample, whole) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let square = mean(&|pair| (pair.0 - sample).powi(2));
        let product = mean(&|pair| (pair.0 - sample) * (pair.1 - whole));
        let growth = match target {
            Target::Ratio { .. } if square > target.width().powi(2) => {
                (product / square).clamp(0.5, 3.0)
            }
            _ => 1.0,
        };
        let mut bases: Vec<_> = pairs.iter().map(|pair| pair.1 - growth * pair.0).collect();
        bases.sort_by(f64::total_cmp);
        (bases.get(bases.len() / 2).copied().unwrap_or(0.0), growth)
    }

    /// Removes the position that is expected to be closest to the target, if it is expected to be
    /// close.
    fn next(&mut self, target: Target) -> Option<(f64, f64)> {
        let (base, growth) = self.line(target);
        let miss = |&(_, level): &(f64, f64)| (base + growth * level - target.aim()).abs();
        let misses = self.known.iter().map(miss).enumerate();
        let (best, miss) = misses.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (miss < 1.5 * target.width()).then(|| self.known.swap_remove(best))
    }
}
