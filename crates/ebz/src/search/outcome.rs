//! What a search found, and what that says about the array.

use super::target::Target;
use crate::bound::Tolerance;
use std::cmp::Ordering;

/// How a bound was found for a `ratio` or a `psnr`.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SearchStats {
    /// The ratio or PSNR of the frame, as if it were alone in its file.
    pub found: f64,
    /// Where that is, seen from the target.
    pub outcome: SearchOutcome,
    /// The bound that misses the target next to the one that was taken, of those that were tried, and
    /// what it gives. For a ratio it is smaller, for a PSNR larger; 0 stands for an exact copy.
    pub beyond: Option<(f64, f64)>,
    /// How often the whole array was coded.
    pub codings: usize,
    /// How often a sixteenth of it was coded, to know what to try.
    pub sampled: usize,
}

/// Where the result of a search is, seen from its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchOutcome {
    /// The target or a little above: at most 5 % for a ratio, 1 dB for a PSNR.
    Close,
    /// Farther above, as an exact copy: of a ratio that it has, no bound is smaller; a PSNR has no
    /// larger one.
    Exact,
    /// Farther above, and every larger bound gives the same: this is the least PSNR there is.
    Least,
    /// Farther above, because the curve jumps over the target: no bound that was tried gives less.
    Jump,
    /// Farther above, when the search was given up: there may be a bound that comes closer.
    Open,
    /// Where one pass came to, above or below.
    OnePass,
}

/// A bound that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    pub tolerance: Tolerance,
    pub found: f64,
}

impl Trial {
    /// The bound; none is smaller than that of an exact copy.
    pub fn bound(&self) -> f64 {
        match self.tolerance {
            Tolerance::Abs(bound) => bound,
            _ => 0.0,
        }
    }

    /// Whether to take this rather than the best so far: what is close, and of what is as close the
    /// smallest bound for a ratio, the largest for a PSNR.
    pub fn is_better(&self, best: Option<Self>, target: Target) -> bool {
        let rank = |trial: &Self| (target.is_close(trial.found), -target.place(trial.bound()));
        target.is_met(self.found) && best.is_none_or(|best| rank(self) > rank(&best))
    }

    /// The nearest trial that misses the target, on the side where bounds should miss it if any of
    /// that side does.
    pub fn beyond(&self, trials: &[Self], target: Target) -> Option<(f64, f64)> {
        let ahead = |trial: &Self| target.place(trial.bound()) - target.place(self.bound());
        let missed = trials.iter().filter(|trial| !target.is_met(trial.found));
        let rank = |trial: &Self| (ahead(trial) > 0.0, ahead(trial).abs());
        missed
            .min_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal))
            .map(|trial| (trial.bound(), trial.found))
    }

    /// Where this is, as the best of all trials on an array of this range.
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
