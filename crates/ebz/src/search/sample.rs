//! A sixteenth of an array, which tells nearly as much as the whole at a sixteenth of the price.

use super::target::Target;
use super::{SAMPLE_TRIALS, Search};
use crate::bound::Tolerance;
use crate::element::Element;
use crate::error::Result;

/// A part of an array that is an array of its own.
pub(super) struct Sample<T> {
    values: Vec<T>,
    shape: Vec<usize>,
}

/// The part of an array that is taken.
const SAMPLE_SHARE: usize = 16;
/// Bytes that tell how well values can be coded at all, and at which bound how well.
const MIN_SAMPLE_BYTES: usize = 8 << 10;
const FINE_SAMPLE_BYTES: usize = 64 << 10;

impl<T: Element> Sample<T> {
    /// A sixteenth of the rows along the slowest axis that has enough, in runs that are spread over
    /// it; `None` if that is too little to tell anything.
    fn of(whole: &Search<'_, T>, least: usize) -> Option<Self> {
        let (values, shape) = (whole.values, whole.shape);
        let axis = shape.iter().position(|&extent| extent >= SAMPLE_SHARE)?;
        let rows = shape[axis].div_ceil(SAMPLE_SHARE);
        let runs = match whole.target {
            // What a codec makes of neighbours should be seen.
            Target::Ratio { .. } => (rows / 4).clamp(1, 4),
            // Errors depend less on neighbours than on values.
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
                // The middle of each share.
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
    /// A sample in which bounds can be tried.
    pub(super) fn sample(&self) -> Option<Sample<T>> {
        Sample::of(self, FINE_SAMPLE_BYTES)
    }

    /// The search for the same target in a sample.
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

    /// Whether an exact copy of a sample has nearly the ratio, so that one of the whole may have it.
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

    /// The bound that is best for a sample, the one on the other side of the target if the curve of
    /// the sample jumps, and the slope of that curve.
    pub(super) fn starts_of_sample(&mut self) -> Result<(Vec<f64>, Option<f64>)> {
        let Some(sample) = self.sample() else {
            return Ok((Vec::new(), None));
        };
        let start = self.first_guess();
        let mut part = self.part(&sample);
        let bracketing = part.bracketing_from(&[start], None, SAMPLE_TRIALS)?;
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
