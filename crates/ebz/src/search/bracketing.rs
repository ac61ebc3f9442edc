//! Which bound to try next, from what others gave.
//!
//! A larger bound mostly gives a larger ratio and a smaller PSNR, but not always: on some arrays
//! the curve has stairs, and where a codec chooses between ways to predict it may go up and down
//! from one bound to the next. So no trial rules out the bounds on one side of it. The bracketing goes
//! outward until the target lies between two trials, and closes in on it until it is met, or the
//! curve turns out to jump over it there.

use super::target::Target;

/// Trials closer together than this (relative to the bound) have hardly anything in between.
pub(super) const NARROW: f64 = 0.02;

/// Bounds that were tried, and where to go from there.
#[derive(Debug, Clone)]
pub(super) struct Bracketing {
    target: Target,
    /// Growth of the level with the place; 1 by the model.
    slope: f64,
    /// Bounds that are worth trying.
    limits: (f64, f64),
    /// By growing place.
    tried: Vec<Tried>,
    /// How many of the last trials all met the target, or all missed it.
    alike: usize,
    last_met: bool,
}

#[derive(Debug, Clone, Copy)]
struct Tried {
    place: f64,
    level: f64,
    met: bool,
}

impl Bracketing {
    /// A bracketing between two bounds.
    pub fn new(target: Target, least: f64, most: f64) -> Self {
        Self {
            target,
            slope: 1.0,
            limits: (least, most),
            tried: Vec::new(),
            alike: 0,
            last_met: false,
        }
    }

    /// The measured growth instead of the model's, as far as it is credible.
    pub fn with_slope(mut self, slope: f64) -> Self {
        self.slope = credible(slope);
        self
    }

    /// How the level grew over all trials; what was expected where they are too close to tell.
    pub fn slope(&self) -> f64 {
        match &self.tried[..] {
            [first, .., last] if last.place - first.place > 10.0 * NARROW => {
                credible((last.level - first.level) / (last.place - first.place))
            }
            _ => self.slope,
        }
    }

    /// What a bound gave.
    pub fn note(&mut self, bound: f64, found: f64) {
        let new = Tried {
            place: self.target.place(bound),
            level: self.target.level(found),
            met: self.target.is_met(found),
        };
        let at = self.tried.partition_point(|tried| tried.place < new.place);
        self.tried.insert(at, new);
        self.alike = match new.met == self.last_met {
            true => self.alike + 1,
            false => 1,
        };
        self.last_met = new.met;
    }

    /// The bound that the model and the slope expect to hit the target, from one that gave `found`.
    pub fn from(&self, bound: f64, found: f64) -> f64 {
        let step = (self.target.aim() - self.target.level(found)) / self.slope;
        self.bound(self.target.place(bound) + step)
    }

    /// A bound that the bracketing may try, next to this one.
    pub fn rounded(&self, bound: f64) -> f64 {
        self.bound(self.target.place(bound))
    }

    /// The next bound to try; `None` if none is left that promises anything.
    pub fn next(&self) -> Option<f64> {
        let missed = self.tried.iter().any(|tried| !tried.met);
        let met = self.tried.iter().any(|tried| tried.met);
        let place = match (missed, met) {
            (true, true) => self.power().or_else(|| self.crossing()),
            (true, false) => self.outward(self.tried.last()?),
            (false, true) => self.outward(self.tried.first()?),
            (false, false) => None,
        };
        place.map(|place| self.bound(place))
    }

    /// A bound that the bracketing may try, at a place.
    pub fn bound(&self, place: f64) -> f64 {
        match self.target.bound(place) {
            bound if bound >= self.limits.1 => self.limits.1,
            // Few binary digits, so that the last one of a logarithm decides nothing.
            bound => {
                let rounded = (bound.to_bits() + (1 << 31)) & !0xffff_ffff;
                f64::from_bits(rounded).clamp(self.limits.0, self.limits.1)
            }
        }
    }

    /// Beyond the outermost trial, with larger and larger strides.
    fn outward(&self, from: &Tried) -> Option<f64> {
        let expected = (self.target.aim() - from.level) / self.slope();
        let step = match self.tried.len() {
            1 => expected,
            trials => {
                let stride = 0.6 * 2f64.powi(trials as i32 - 1);
                (expected.abs() * stride)
                    .max(5.0 * NARROW)
                    .copysign(expected)
            }
        };
        let end = self.target.place(self.bound(from.place + step));
        ((end - from.place).abs() > 1e-9).then_some(from.place + step)
    }

    /// Neighbours of which one meets the target and the other misses it, most promising first.
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

    /// Where the target was passed most closely.
    pub fn middle(&self) -> Option<f64> {
        let (from, to) = *self.crossings().first()?;
        Some(0.5 * (from.place + to.place))
    }

    /// Whether the curve jumps between two trials.
    fn is_steep(&self, (from, to): &(Tried, Tried)) -> bool {
        (to.level - from.level).abs() > 4.0 * self.slope * (to.place - from.place)
    }

    fn is_power(&self, tried: &Tried) -> bool {
        let power = self.target.bound(tried.place).log2();
        self.target.is_fine() && (power - power.round()).abs() < 1e-9
    }

    /// Bounds near the last digits of the values make the curve jump, except where they are powers
    /// of two, whose multiples few digits hold exactly.
    fn power(&self) -> Option<f64> {
        let crossings = self.crossings();
        let (_, above) = crossings
            .first()
            .filter(|pair| self.target.is_fine() && self.is_steep(pair))
            .filter(|(from, to)| to.place - from.place < std::f64::consts::LN_2)?;
        let highest = self.target.bound(above.place).log2().floor();
        for steps in 0..4 {
            let place = self.target.place((highest - f64::from(steps)).exp2());
            let same = |tried: &&Tried| (tried.place - place).abs() < 1e-9;
            match self.tried.iter().find(same) {
                None => return Some(place),
                Some(tried) if tried.met => {}
                Some(_) => return None,
            }
        }
        None
    }

    /// Between neighbours of which one meets the target and the other misses it.
    fn crossing(&self) -> Option<f64> {
        let aim = self.target.aim();
        let open = |(from, to): &(Tried, Tried)| to.place - from.place > 0.5 * NARROW;
        let pair = self.crossings().into_iter().next().filter(open)?;
        let (from, to) = pair;
        let width = to.place - from.place;
        // Half way where the curve jumps, or a line has led nowhere.
        if (self.is_steep(&pair) && width < 10.0 * NARROW) || self.alike > 2 {
            return Some(from.place + 0.5 * width);
        }
        // Otherwise along a straight line. Where that ended up on the same side again and again, the
        // other end counts for less and less (the Illinois method).
        let less = 0.5f64.powi(self.alike as i32 - 1);
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
        Some(from.place + share * (to.place - from.place))
    }

    /// Half way between the neighbours on either side of the target, however close they are.
    pub fn halfway(&self) -> Option<f64> {
        let (from, to) = *self.crossings().first()?;
        let bound = self.bound(0.5 * (from.place + to.place));
        let apart = |tried: &Tried| (tried.place - self.target.place(bound)).abs() > 1e-7;
        (apart(&from) && apart(&to)).then_some(bound)
    }

    /// Where trials that came near say that the target is, or a little beside that.
    pub fn nearby(&self) -> Option<f64> {
        let aim = self.target.aim();
        let slope = self.slope();
        let mut near: Vec<_> = self.tried.iter().collect();
        near.retain(|tried| (tried.level - aim).abs() < self.target.near());
        near.sort_by(|a, b| (a.level - aim).abs().total_cmp(&(b.level - aim).abs()));
        let beside = [0.0, 1.3, -1.3, 3.1, -3.1].map(|steps| steps * NARROW);
        let expected = beside.into_iter().flat_map(|beside| {
            let place = move |tried: &&Tried| tried.place + (aim - tried.level) / slope + beside;
            near.iter().map(place)
        });
        expected.map(|place| self.bound(place)).find(|&bound| {
            let place = self.target.place(bound);
            let apart = |tried: &Tried| (tried.place - place).abs() > 0.2 * NARROW;
            bound < self.limits.1 && self.tried.iter().all(apart)
        })
    }
}

/// A measured growth, within a factor of the model's.
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

    /// The trials that it takes to get close on a curve, and what the best of them gave.
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
    fn the_model_is_followed_in_a_few_steps() {
        for target in [2.0, 4.0, 10.0] {
            for start in [1e-6, 1e-2, 10.0] {
                // Five bits more than the bound takes away.
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
    fn half_way_ends_where_bounds_do_not_differ() {
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
    fn a_jump_is_found_to_be_one() {
        let curve = |bound: f64| if bound < 0.37 { 5.0 } else { 40.0 };
        let (_, found) = search_curve(ratio(8.0), 1e-3, curve);
        assert_eq!(found, 40.0);
    }

    #[test]
    fn curves_that_go_up_and_down_are_met() {
        // Every other step of the bound loses a tenth.
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
    fn out_of_reach_ends_at_the_limits() {
        let (trials, found) = search_curve(ratio(100.0), 1e-3, |bound| 2.0 + bound.min(10.0));
        assert_eq!(found, f64::INFINITY);
        assert!(trials < 16);
        let (_, found) = search_curve(ratio(1.5), 1e-3, |bound| 2.0 + bound);
        assert!(found < 2.01);
    }
}
