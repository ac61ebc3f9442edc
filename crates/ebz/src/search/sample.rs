//! A sample of a sixteenth of an array, for cheaper trials.

use super::target::Target;
use super::{SAMPLE_TRIALS, Search};
use crate::bound::Tolerance;
use crate::element::Element;
use crate::error::Result;

/// A part of an array, stored as an array.
pub(super) struct Sample<T> {
    values: Vec<T>,
    shape: Vec<usize>,
}

/// One part in this many of an array is sampled.
const SAMPLE_SHARE: usize = 16;
/// Minimum sample size to estimate the lossless ratio, and to estimate the effect of bounds.
const MIN_SAMPLE_BYTES: usize = 8 << 10;
const FINE_SAMPLE_BYTES: usize = 64 << 10;

impl<T: Element> Sample<T> {
    /// A sixteenth of the rows along the slowest axis that is long enough, in runs spread over it;
    /// `None` if that is too small to be useful.
    fn of(whole: &Search<'_, T>, least: usize) -> Option<Self> {
        let (values, shape) = (whole.values, whole.shape);
        let axis = shape.iter().position(|&extent| extent >= SAMPLE_SHARE)?;
        let rows = shape[axis].div_ceil(SAMPLE_SHARE);
        let runs = match whole.target {
            // Long runs: the size depends on neighbours.
            Target::Ratio { .. } => (rows / 4).clamp(1, 4),
            // Short runs: errors depend less on neighbours than on values.
            Target::Psnr(_) => (rows / 2).clamp(1, 8),
        };
        let run = rows / runs;
        let row: usize = shape[axis + 1..].iter().product();
        let mut sampled = shape.to_vec();
        sampled[axis] = runs * run;
        let count: usize = sampled.iter().product();
        if count * T::SIZE < least {
            return None;
        }
        let mut sample = Vec::with_capacity(count);
        for part in values.chunks_exact(shape[axis] * row) {
            for number in 0..runs {
                // The middle of each section.
                let middle = (2 * number + 1) * shape[axis] / (2 * runs);
                let first = (middle - run / 2) * row;
                sample.extend_from_slice(&part[first..first + run * row]);
            }
        }
        Some(Self {
            values: sample,
            shape: sampled,
        })
    }
}

impl<T: Element> Search<'_, T> {
    /// A sample for trials.
    pub(super) fn sample(&self) -> Option<Sample<T>> {
        Sample::of(self, FINE_SAMPLE_BYTES)
    }

    /// The same search on a sample.
    pub(super) fn part<'p>(&'p mut self, sample: &'p Sample<T>) -> Search<'p, T> {
        Search {
            values: &sample.values,
            shape: &sample.shape,
            pool: &mut *self.pool,
            codings: 0,
            trials: Vec::new(),
            best: None,
            ..*self
        }
    }

    /// Whether a lossless encoding of the sample nearly meets the ratio, so that one of the whole
    /// array may.
    pub(super) fn may_be_met_exactly(&mut self) -> Result<bool> {
        let Target::Ratio { ratio, .. } = self.target else {
            return Ok(false);
        };
        let Some(sample) = Sample::of(self, MIN_SAMPLE_BYTES) else {
            return Ok(true);
        };
        self.sampled += 1;
        Ok(self.part(&sample).measure(Tolerance::Lossless)? > 0.6 * ratio)
    }

    /// The best bound for a sample, also the one on the other side of the target if its curve jumps
    /// there, and the slope of the curve.
    pub(super) fn starts_of_sample(&mut self) -> Result<(Vec<f64>, Option<f64>)> {
        let Some(sample) = self.sample() else {
            return Ok((Vec::new(), None));
        };
        let start = self.first_guess();
        let mut part = self.part(&sample);
        let bracketing = part.search_from(&[start], None, SAMPLE_TRIALS)?;
        let mut starts = Vec::new();
        if let Some((_, best)) = &part.best {
            starts.push(best.bound());
            if !part.is_close() {
                let beyond = best.beyond(&part.trials, part.target);
                starts.extend(beyond.map(|(bound, _)| bound));
            }
        }
        self.sampled += part.codings;
        Ok((starts, Some(bracketing.slope())))
    }
}
