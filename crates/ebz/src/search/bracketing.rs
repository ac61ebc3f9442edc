//! Chooses the next bound to try from the results of earlier trials.
//!
//! A larger bound mostly gives a larger ratio and a smaller PSNR, but not always: on some arrays
//! the curve is a staircase, and if a codec chooses between predictors, it may not be monotonic. So
//! no trial rules out all bounds on one side. The search expands until the target is between two
//! trials, and then narrows this bracket until the target is met, or the curve turns out to jump
//! over it.

use super::target::Target;

/// Width of a bracket (relative to the bound) within which the curve is assumed to have no detail.
const MIN_WIDTH: f64 = 0.02;

/// The trials so far, and the model that predicts the next one.
#[derive(Debug, Clone)]
pub(super) struct Bracketing {
    target: Target,
    /// Slope of the level over the position; 1 in the model.
    slope: f64,
    /// Smallest and largest bound to try.
    limits: (f64, f64),
    /// Trials by increasing position.
    tried: Vec<Tried>,
    /// Number of consecutive trials, up to the last, on the same side of the target.
    same_side: usize,
    last_met: bool,
}

#[derive(Debug, Clone, Copy)]
struct Tried {
    position: f64,
    level: f64,
    met: bool,
}

impl Bracketing {
    /// A bracketing search between two bounds.
    pub fn new(target: Target, least: f64, most: f64) -> Self {
        Self {
            target,
            slope: 1.0,
            limits: (least, most),
            tried: Vec::new(),
            same_side: 0,
            last_met: false,
        }
    }

    /// Replaces the slope of the model by a measured one, limited to plausible values.
    pub fn with_slope(mut self, slope: f64) -> Self {
        self.slope = credible(slope);
        self
    }

    /// The slope over all trials, or the assumed slope if they are too close together.
    pub fn slope(&self) -> f64 {
        match &self.tried[..] {
            [first, .., last] if last.position - first.position > 10.0 * MIN_WIDTH => {
                credible((last.level - first.level) / (last.position - first.position))
            }
            _ => self.slope,
        }
    }

    /// Records the result of a trial.
    pub fn note(&mut self, bound: f64, found: f64) {
        let new = Tried {
            position: self.target.position(bound),
            level: self.target.level(found),
            met: self.target.is_met(found),
        };
        let at = self
            .tried
            .partition_point(|tried| tried.position < new.position);
        self.tried.insert(at, new);
        self.same_side = match new.met == self.last_met {
            true => self.same_side + 1,
            false => 1,
        };
        self.last_met = new.met;
    }

    /// The bound expected to meet the target, extrapolated from one that gave `found`.
    pub fn from(&self, bound: f64, found: f64) -> f64 {
        let step = (self.target.aim() - self.target.level(found)) / self.slope;
        self.bound(self.target.position(bound) + step)
    }

    /// The nearest bound that the search may try.
    pub fn rounded(&self, bound: f64) -> f64 {
        self.bound(self.target.position(bound))
    }

    /// The next bound to try; `None` if no promising one is left.
    pub fn next(&self) -> Option<f64> {
        let missed = self.tried.iter().any(|tried| !tried.met);
        let met = self.tried.iter().any(|tried| tried.met);
        let position = match (missed, met) {
            (true, true) => self.power().or_else(|| self.crossing()),
            (true, false) => self.outward(self.tried.last()?),
            (false, true) => self.outward(self.tried.first()?),
            (false, false) => None,
        };
        position.map(|position| self.bound(position))
    }

    /// The bound to try at a position.
    pub fn bound(&self, position: f64) -> f64 {
        match self.target.bound(position) {
            bound if bound >= self.limits.1 => self.limits.1,
            // Round to few binary digits: results must not depend on the last digit of a logarithm.
            bound => {
                let rounded = (bound.to_bits() + (1 << 31)) & !0xffff_ffff;
                f64::from_bits(rounded).clamp(self.limits.0, self.limits.1)
            }
        }
    }

    /// Extrapolates beyond the outermost trial, with increasing strides.
    fn outward(&self, from: &Tried) -> Option<f64> {
        let expected = (self.target.aim() - from.level) / self.slope();
        let step = match self.tried.len() {
            1 => expected,
            trials => {
                let stride = 0.6 * 2f64.powi(trials as i32 - 1);
                (expected.abs() * stride)
                    .max(5.0 * MIN_WIDTH)
                    .copysign(expected)
            }
        };
        let end = self.target.position(self.bound(from.position + step));
        ((end - from.position).abs() > 1e-9).then_some(from.position + step)
    }

    /// Neighbouring trials on different sides of the target, closest to it first.
    fn crossings(&self) -> Vec<(Tried, Tried)> {
        let aim = self.target.aim();
        let distance = |(a, b): &(Tried, Tried)| (a.level - aim).abs() + (b.level - aim).abs();
        let crossings = |tried: &[Tried]| -> Vec<_> {
            let pairs = tried.windows(2).map(|pair| (pair[0], pair[1]));
            pairs.filter(|(a, b)| a.met != b.met).collect()
        };
        let mut regular = self.tried.clone();
        regular.retain(|tried| !self.is_power(tried));
        let mut crossings = match crossings(&regular) {
            none if none.is_empty() => crossings(&self.tried),
            some => some,
        };
        crossings.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        crossings
    }

    /// Whether the curve jumps between two trials.
    fn is_steep(&self, (from, to): &(Tried, Tried)) -> bool {
        (to.level - from.level).abs() > 4.0 * self.slope * (to.position - from.position)
    }

    fn is_power(&self, tried: &Tried) -> bool {
        let power = self.target.bound(tried.position).log2();
        self.target.is_fine() && (power - power.round()).abs() < 1e-9
    }

    /// Bounds close to the last digits of the values make the curve jump, except for powers of two,
    /// whose multiples have few digits.
    fn power(&self) -> Option<f64> {
        let crossings = self.crossings();
        let (_, above) = crossings
            .first()
            .filter(|pair| self.target.is_fine() && self.is_steep(pair))
            .filter(|(from, to)| to.position - from.position < std::f64::consts::LN_2)?;
        let highest = self.target.bound(above.position).log2().floor();
        for steps in 0..4 {
            let position = self.target.position((highest - f64::from(steps)).exp2());
            let same = |tried: &&Tried| (tried.position - position).abs() < 1e-9;
            match self.tried.iter().find(same) {
                None => return Some(position),
                Some(tried) if tried.met => {}
                Some(_) => return None,
            }
        }
        None
    }

    /// A position within the closest crossing.
    fn crossing(&self) -> Option<f64> {
        let aim = self.target.aim();
        let open = |(from, to): &(Tried, Tried)| to.position - from.position > 0.5 * MIN_WIDTH;
        let pair = self.crossings().into_iter().next().filter(open)?;
        let (from, to) = pair;
        let width = to.position - from.position;
        // Bisect if the curve jumps, or interpolation makes no progress.
        if (self.is_steep(&pair) && width < 10.0 * MIN_WIDTH) || self.same_side > 2 {
            return Some(from.position + 0.5 * width);
        }
        // Otherwise interpolate linearly. While trials stay on one side, reduce the weight of the
        // other end (Illinois method).
        let less = 0.5f64.powi(self.same_side as i32 - 1);
        let weight = |end: &Tried| {
            let distance = (end.level - aim).abs();
            match end.met == self.last_met {
                true => distance,
                false => distance * less,
            }
        };
        let share = match weight(&from) / (weight(&from) + weight(&to)) {
            share if share.is_finite() => share.clamp(0.1, 0.9),
            _ => 0.5,
        };
        Some(from.position + share * (to.position - from.position))
    }

    /// Bisects the closest crossing, however narrow it is.
    pub fn halfway(&self) -> Option<f64> {
        let (from, to) = *self.crossings().first()?;
        let bound = self.bound(0.5 * (from.position + to.position));
        let apart = |tried: &Tried| (tried.position - self.target.position(bound)).abs() > 1e-7;
        (apart(&from) && apart(&to)).then_some(bound)
    }

    /// A bound extrapolated from the closest trials, or one slightly beside it.
    pub fn nearby(&self) -> Option<f64> {
        let aim = self.target.aim();
        let slope = self.slope();
        let mut near: Vec<_> = self.tried.iter().collect();
        near.retain(|tried| (tried.level - aim).abs() < self.target.near());
        near.sort_by(|a, b| (a.level - aim).abs().total_cmp(&(b.level - aim).abs()));
        let beside = [0.0, 1.3, -1.3, 3.1, -3.1].map(|steps| steps * MIN_WIDTH);
        let expected = beside.into_iter().flat_map(|beside| {
            let position =
                move |tried: &&Tried| tried.position + (aim - tried.level) / slope + beside;
            near.iter().map(position)
        });
        expected
            .map(|position| self.bound(position))
            .find(|&bound| {
                let position = self.target.position(bound);
                let apart = |tried: &Tried| (tried.position - position).abs() > 0.2 * MIN_WIDTH;
                bound < self.limits.1 && self.tried.iter().all(apart)
            })
    }
}

/// Limits a measured slope to a factor of that of the model.
fn credible(slope: f64) -> f64 {
    match slope {
        slope if slope.is_finite() => slope.clamp(0.25, 4.0),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ratio: f64) -> Target {
        Target::Ratio { ratio, bits: 32.0 }
    }

    /// Number of trials to get close to the target on a curve, and the best result.
    fn search_curve(target: Target, start: f64, curve: impl Fn(f64) -> f64) -> (usize, f64) {
        let mut bracketing = Bracketing::new(target, 1e-9, 1e3);
        let (mut bound, mut best) = (start, f64::INFINITY);
        for trial in 1..=16 {
            let found = curve(bound);
            if target.is_met(found) {
                best = best.min(found);
            }
            bracketing.note(bound, found);
            if target.is_close(found) {
                return (trial, best);
            }
            match bracketing.next().or_else(|| bracketing.nearby()) {
                Some(next) => bound = next,
                None => return (trial, best),
            }
        }
        (16, best)
    }

    #[test]
    fn smooth_curves_take_few_trials() {
        for target in [2.0, 4.0, 10.0] {
            for start in [1e-6, 1e-2, 10.0] {
                // About one bit less for each doubling of the bound.
                let curve = |bound: f64| 32.0 / (5.0 - bound.log2() * 0.9).max(0.3);
                let (trials, found) = search_curve(ratio(target), start, curve);
                assert!(trials <= 6, "{target} from {start}: {trials}");
                assert!((target..=1.05 * target).contains(&found), "{found}");
            }
        }
        let (trials, found) = search_curve(Target::Psnr(60.0), 1e-5, |e| 4.77 - 20.0 * e.log10());
        assert!(trials <= 3 && (60.0..60.7).contains(&found), "{found}");
    }

    #[test]
    fn bisection_ends_when_bounds_are_equal() {
        let mut bracketing = Bracketing::new(Target::Psnr(60.0), 1e-9, 1e3);
        let curve = |bound: f64| if bound < 0.37 { 70.0 } else { 50.0 };
        for bound in [0.1, 1.0] {
            bracketing.note(bound, curve(bound));
        }
        let mut last = 0.0;
        for _ in 0..40 {
            let Some(bound) = bracketing.halfway() else {
                break;
            };
            bracketing.note(bound, curve(bound));
            last = bound;
        }
        assert!(bracketing.halfway().is_none());
        assert!((last / 0.37 - 1.0).abs() < 1e-5, "{last}");
    }

    #[test]
    fn jumps_are_detected() {
        let curve = |bound: f64| if bound < 0.37 { 5.0 } else { 40.0 };
        let (_, found) = search_curve(ratio(8.0), 1e-3, curve);
        assert_eq!(found, 40.0);
    }

    #[test]
    fn non_monotonic_curves_are_met() {
        // Every other step of the bound loses 10 %.
        for step in [0.006, 0.013, 0.03, 0.07] {
            let curve = |bound: f64| {
                let odd = (bound.ln() / step).rem_euclid(2.0) < 1.0;
                1000.0 * bound.powf(0.6) * if odd { 0.9 } else { 1.0 }
            };
            let (_, found) = search_curve(ratio(32.0), 1e-4, curve);
            assert!((32.0..=1.05 * 32.0).contains(&found), "{step}: {found}");
        }
    }

    #[test]
    fn unreachable_targets_end_at_the_limits() {
        let (trials, found) = search_curve(ratio(100.0), 1e-3, |bound| 2.0 + bound.min(10.0));
        assert_eq!(found, f64::INFINITY);
        assert!(trials < 16);
        let (_, found) = search_curve(ratio(1.5), 1e-3, |bound| 2.0 + bound);
        assert!(found < 2.01);
    }
}
