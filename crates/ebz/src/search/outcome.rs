//! Result of a search.

use super::target::Target;
use crate::bound::Tolerance;
use std::cmp::Ordering;

/// How a bound was found for a `ratio` or a `psnr`.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SearchStats {
    /// The ratio or PSNR of the frame, as if it were alone in its file.
    pub found: f64,
    /// How it relates to the target.
    pub outcome: SearchOutcome,
    /// The closest bound tried that misses the target, and its ratio or PSNR. It is smaller than
    /// the chosen one for a ratio, larger for a PSNR; 0 stands for a lossless encoding.
    pub beyond: Option<(f64, f64)>,
    /// Number of times that the whole array was encoded.
    pub codings: usize,
    /// Number of times that a sample (a sixteenth) was encoded.
    pub sampled: usize,
}

/// How the result of a search relates to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchOutcome {
    /// At most 5 % (ratio) or 1 dB (PSNR) above the target.
    Close,
    /// Farther above: lossless. Either a lossless encoding already meets the ratio, or no lossy one
    /// meets the PSNR.
    Exact,
    /// Farther above: the lowest PSNR of this array; every larger bound gives the same.
    Least,
    /// Farther above: the curve jumps over the target; no bound tried gives less.
    Jump,
    /// Farther above: the search ended early; there may be a closer bound.
    Open,
    /// The result of one pass, above or below the target.
    OnePass,
}

/// A bound that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    pub tolerance: Tolerance,
    pub found: f64,
}

impl Trial {
    /// The bound; 0 for a lossless encoding.
    pub fn bound(&self) -> f64 {
        match self.tolerance {
            Tolerance::Abs(bound) => bound,
            _ => 0.0,
        }
    }

    /// Whether this is better than the best so far: close ones first, then the smallest bound for a
    /// ratio, the largest for a PSNR.
    pub fn is_better(&self, best: Option<Self>, target: Target) -> bool {
        let rank = |trial: &Self| {
            (
                target.is_close(trial.found),
                -target.position(trial.bound()),
            )
        };
        target.is_met(self.found) && best.is_none_or(|best| rank(self) > rank(&best))
    }

    /// The nearest trial that misses the target, preferably on the side where bounds should miss
    /// it.
    pub fn beyond(&self, trials: &[Self], target: Target) -> Option<(f64, f64)> {
        let ahead = |trial: &Self| target.position(trial.bound()) - target.position(self.bound());
        let missed = trials.iter().filter(|trial| !target.is_met(trial.found));
        let rank = |trial: &Self| (ahead(trial) > 0.0, ahead(trial).abs());
        missed
            .min_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal))
            .map(|trial| (trial.bound(), trial.found))
    }

    /// The outcome, if this is the best of all trials on an array of this range.
    pub fn outcome(&self, target: Target, range: f64, open: bool) -> SearchOutcome {
        match target {
            _ if target.is_close(self.found) => SearchOutcome::Close,
            _ if self.tolerance == Tolerance::Lossless => SearchOutcome::Exact,
            Target::Psnr(_) if self.bound() >= range => SearchOutcome::Least,
            _ if open => SearchOutcome::Open,
            _ => SearchOutcome::Jump,
        }
    }
}
