//! Estimates the cost of each mode from a sample of original values, without encoding anything.
//!
//! The variance of the prediction error in a window of adjacent values gives the entropy of the
//! residuals. The decoder predicts from reconstructed values, whose errors add noise that cannot be
//! sampled and is modelled by a formula. Forecasts are accurate to about a third; [`super::choose`]
//! decides by trial what they leave open.
//!
//! Only multiplications, additions and square roots: every machine must make the same choice.

#[cfg(target_arch = "x86_64")]
mod avx2;

use super::geometry::Extents;
use super::kernel::Kernel;
use super::number::{Number, Step};
use super::pack::{Pack, WIDTH, build, each, zip};
use super::plan::{Source, arrange};
use crate::simd::{Avx2, Level as Isa};

/// Number of windows for neighbours at distance 1, 2, 4, …: few values are predicted from far.
const WINDOWS: [usize; 5] = [48, 32, 24, 16, 8];
/// Number of windows for Lorenzo mode.
const LORENZO_WINDOWS: usize = 96;
/// Number of levels within planes that are forecast separately.
const PLANE_LEVELS: usize = 3;
/// Mean squared error of a reconstruction, in squared steps.
const ROUNDING: f32 = 1.0 / 12.0;
/// Sum of the squared weights of linear and cubic interpolation.
const NOISE: [f32; 2] = [0.5, 0.640_625];
/// Residuals of at least this many steps are ignored.
const SPIKE_STEPS: f32 = 1e6;

/// Forecast sizes in bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forecast {
    pub(super) isotropic: f32,
    /// By axis; infinite if there are no planes to interpolate between.
    pub(super) packet: [f32; 3],
    pub(super) lorenzo: f32,
    /// The best axes of Lorenzo mode, as bits of a class.
    pub(super) lorenzo_axes: u8,
    /// Whether the sample has values that cannot be quantized, such as fill values: next to them, the
    /// forecasts of the other modes are far too low.
    pub(super) masked: bool,
}

/// Computes a [`Forecast`] for an axis order; the last axis has at least [`WIDTH`] values.
pub(super) struct Sampler<'a, 'b, T> {
    source: &'a Source<'b, T>,
    extents: Extents,
    strides: Extents,
    step: Step<T>,
    avx2: Option<Avx2>,
}

impl<'a, 'b, T: Number> Sampler<'a, 'b, T> {
    /// A sampler for an axis order; `None` if rows are too short or steps too small.
    pub(super) fn new(isa: Isa, source: &'a Source<'b, T>, order: usize) -> Option<Self> {
        let (extents, strides) = arrange(order, source.dims);
        let step = Step::new(source.bound, 1.0)?;
        (extents[2] >= WIDTH).then_some(Self {
            source,
            extents,
            strides,
            step,
            avx2: isa.avx2(),
        })
    }
}

impl<T: Number> Kernel for Sampler<'_, '_, T> {
    type Output = Forecast;

    #[inline(always)]
    fn run(self) -> Forecast {
        let mut isotropic = 0.0;
        let mut packet = [Packet::default(); 3];
        for (level, &windows) in WINDOWS.iter().enumerate().rev() {
            let reach = self.extents.map(|n| Reach::new(n, 1 << level));
            // Windows must fit into the last axis.
            let last = Reach::new(self.extents[2].saturating_sub(WIDTH - 1), 1 << level);
            let scale = Scale {
                level,
                windows,
                reach: [reach[0], reach[1], last],
            };
            if scale.reach.iter().any(|r| r.kinds > 0) {
                isotropic += self.isotropic(&scale);
                for (axis, packet) in packet.iter_mut().enumerate() {
                    self.packet(&scale, axis, packet);
                }
            }
        }
        Forecast {
            isotropic,
            packet: packet.map(|p| if p.begun { p.bits } else { f32::INFINITY }),
            ..self.lorenzo()
        }
    }
}

/// Windows with neighbours at one distance.
struct Scale {
    level: usize,
    windows: usize,
    reach: [Reach; 3],
}

/// Distance that windows keep from both ends of an axis.
#[derive(Clone, Copy)]
struct Reach {
    margin: usize,
    /// Available interpolations: 0: none; 1: linear; 2: also cubic.
    kinds: usize,
    inside: usize,
}

impl Reach {
    #[inline(always)]
    fn new(count: usize, distance: usize) -> Self {
        let fits = |margin: usize| count > 2 * margin;
        let (margin, kinds) = match (fits(3 * distance), fits(distance)) {
            (true, _) => (3 * distance, 2),
            (_, true) => (distance, 1),
            _ => (0, 0),
        };
        Self {
            margin,
            kinds,
            inside: count - 2 * margin,
        }
    }
}

/// Packet mode along one axis, from coarse planes to fine ones.
#[derive(Clone, Copy, Default)]
struct Packet {
    bits: f32,
    begun: bool,
    /// Mean squared error of the planes so far.
    error: f32,
}

/// Number of predictors evaluated together.
const PREDICTORS: usize = 8;

/// One value per predictor.
type Each<T> = [T; PREDICTORS];

/// Bits and errors of each predictor, summed over windows.
#[derive(Clone, Copy, Default)]
struct Tally {
    bits: Each<f32>,
    error: Each<f32>,
}

impl Tally {
    /// Adds a window, given the sums of squared residuals and the `noise` from the reconstruction
    /// of neighbours.
    #[inline(always)]
    fn add(&mut self, squares: Each<f32>, tightening: f32, noise: Each<f32>) {
        let variance = each(squares, |s| s * (tightening * tightening / WIDTH as f32));
        self.bits = zip(self.bits, zip(variance, noise, bits), |a, b| a + b);
        let error = zip(variance, noise, |v, n| f32::min(v + n, ROUNDING));
        self.error = zip(self.error, error, |a, b| a + b);
    }
}

/// For each prediction, scaled by its share, the sum of squared residuals in steps of 1 /
/// `inverse`. NaN and spikes count as 0.
#[inline(always)]
fn sums_of_squares<T: Number>(
    target: &Pack<T>,
    predictions: &Each<Pack<T>>,
    shares: &Each<T>,
    inverse: T,
) -> Each<f32> {
    build(|k| {
        let residuals = zip(*target, predictions[k], |t, p| t - p * shares[k]);
        let steps = each(residuals, |r| (r * inverse).to_f32());
        let squares = each(steps, |s| if s.abs() < SPIKE_STEPS { s * s } else { 0.0 });
        let eight: [f32; 8] = build(|i| squares[i] + squares[i + 8]);
        let four: [f32; 4] = build(|i| eight[i] + eight[i + 4]);
        (four[0] + four[1]) + (four[2] + four[3])
    })
}

/// Entropy of a residual. Small noise alone never causes a nonzero residual.
#[inline(always)]
fn bits(variance: f32, noise: f32) -> f32 {
    let v = variance + noise * f32::min(1.0, 9.0 * noise);
    let square = v * v;
    0.5 * log2(1.0 + 17.08 * v) * (square / (square + 0.004))
}

/// Approximate binary logarithm of a positive number.
#[inline(always)]
fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let mantissa = f32::from_bits(bits & 0x7f_ffff | 0x3f80_0000);
    exponent as f32 + (mantissa * (2.0 - mantissa / 3.0) - 5.0 / 3.0)
}

/// Number of even and odd positions among every 2^level-th of `count` values.
#[inline(always)]
fn halves(count: usize, level: usize) -> [usize; 2] {
    let rest = count.div_ceil(1 << level);
    [rest.div_ceil(2), rest / 2]
}

/// `base` to the power of `exponent`, but at most `cap`.
#[inline(always)]
fn capped(base: f32, exponent: usize, cap: f32) -> f32 {
    (0..exponent).fold(1.0, |value, _| f32::min(value * base, cap))
}

#[inline(always)]
fn add<T: Number>(a: Pack<T>, b: Pack<T>) -> Pack<T> {
    zip(a, b, |a, b| a + b)
}

/// Linear and cubic interpolation from the sums of the near and the far neighbours.
#[inline(always)]
fn weigh<T: Number>(near: Pack<T>, far: Pack<T>) -> [Pack<T>; 2] {
    let [half, inner, outer] = [0.5, 0.5625, 0.0625].map(T::from_f64);
    [
        each(near, |n| half * n),
        zip(near, far, |n, f| inner * n - outer * f),
    ]
}

/// A window: the index of its first value.
type Place = usize;

impl<T: Number> Sampler<'_, '_, T> {
    /// The position of a window of a scale.
    #[inline(always)]
    fn place(&self, reach: &[Reach; 3], number: usize) -> Place {
        let mut at = 0;
        for (axis, reach) in reach.iter().enumerate() {
            // Multiples of an irrational number are evenly distributed.
            let factor = [0x9e37_79b9u32, 0xc13f_a9a9, 0x91e1_0da5][axis];
            let fraction = (2 * number as u32 + 1).wrapping_mul(factor);
            let within = (u64::from(fraction) * reach.inside as u64) >> 32;
            at += (reach.margin + within as usize) * self.strides[axis];
        }
        at
    }

    /// The values of a window without a copy, if they are contiguous.
    #[inline(always)]
    fn adjacent(&self, place: Place) -> Option<&Pack<T>> {
        let values = self.source.values.get(place..)?;
        values.first_chunk().filter(|_| self.strides[2] == 1)
    }

    /// The values of a window.
    #[inline(always)]
    fn window(&self, place: Place) -> Pack<T> {
        if let Some(values) = self.adjacent(place) {
            return *values;
        }
        let mut row = [T::default(); WIDTH];
        let values = self.source.values[place..].iter();
        for (value, &v) in row.iter_mut().zip(values.step_by(self.strides[2])) {
            *value = v;
        }
        row
    }

    /// See [`sums_of_squares`].
    #[inline(always)]
    fn squares(
        &self,
        target: &Pack<T>,
        predictions: &Each<Pack<T>>,
        shares: &Each<T>,
    ) -> Each<f32> {
        let inverse = self.step.inverse;
        match self.avx2 {
            // SAFETY: the token exists only where the machine has these instructions.
            #[cfg(target_arch = "x86_64")]
            Some(_) => unsafe { avx2::sums_of_squares(target, predictions, shares, inverse) },
            _ => sums_of_squares(target, predictions, shares, inverse),
        }
    }

    /// The sum of the windows `distance` before and after. (A closure would not be inlined.)
    #[inline(always)]
    fn around(&self, place: Place, distance: usize) -> Pack<T> {
        let (before, behind) = (place - distance, place + distance);
        match (self.adjacent(before), self.adjacent(behind)) {
            (Some(a), Some(b)) => build(|i| a[i] + b[i]),
            _ => add(self.window(before), self.window(behind)),
        }
    }

    /// Linear and cubic interpolation between the windows at `distance` and three times `distance`.
    #[inline(always)]
    fn interpolate(&self, place: Place, distance: usize, kinds: usize) -> [Pack<T>; 2] {
        let near = self.around(place, distance);
        if kinds < 2 {
            let half = T::from_f64(0.5);
            return [each(near, |n| half * n); 2];
        }
        weigh(near, self.around(place, 3 * distance))
    }

    /// Differences of a window to the interpolation between planes.
    #[inline(always)]
    fn difference(&self, place: Place, between: usize, kinds: usize) -> Pack<T> {
        let near = (
            self.adjacent(place - between),
            self.adjacent(place + between),
        );
        if let (Some(v), (Some(a), Some(b)), true) = (self.adjacent(place), near, kinds > 1)
            && let Some(c) = self.adjacent(place - 3 * between)
            && let Some(d) = self.adjacent(place + 3 * between)
        {
            let [inner, outer] = [0.5625, 0.0625].map(T::from_f64);
            return build(|i| v[i] - (inner * (a[i] + b[i]) - outer * (c[i] + d[i])));
        }
        let [_, base] = self.interpolate(place, between, kinds);
        zip(self.window(place), base, |v, b| v - b)
    }

    /// Bits of one level in isotropic mode.
    #[inline(always)]
    fn isotropic(&self, scale: &Scale) -> f32 {
        let tightening = capped(1.15, scale.level, 1.4);
        // By kind; predictors are sets of axes; the empty set is not used.
        let mut tallies = [Tally::default(); 2];
        let weights: Each<f32> = build(|set| 1.0 / set.count_ones().max(1) as f32);
        let shares = each(weights, |w| T::from_f64(f64::from(w)));
        for number in 0..scale.windows {
            let place = self.place(&scale.reach, number);
            let target = self.window(place);
            let mut parts = [[[T::default(); WIDTH]; 3]; 2];
            for (axis, reach) in scale.reach.iter().enumerate() {
                if reach.kinds > 0 {
                    let distance = self.strides[axis] << scale.level;
                    let [linear, cubic] = self.interpolate(place, distance, reach.kinds);
                    parts[0][axis] = linear;
                    parts[1][axis] = cubic;
                }
            }
            for (kind, [z, y, x]) in parts.into_iter().enumerate() {
                let (zy, nothing) = (add(z, y), [T::default(); WIDTH]);
                let sums = [nothing, x, y, add(y, x), z, add(z, x), zy, add(zy, x)];
                let squares = self.squares(&target, &sums, &shares);
                let noise = each(weights, |w| ROUNDING * NOISE[kind] * w);
                tallies[kind].add(squares, tightening, noise);
            }
        }
        // Each class uses the best subset of its axes.
        let possible = (0..3).filter(|&a| scale.reach[a].kinds > 0);
        let possible: usize = possible.map(|a| 4 >> a).sum();
        let sizes = self.extents.map(|n| halves(n, scale.level));
        let mut bits = 0.0;
        for class in 1..8usize {
            let odd = |a: usize| usize::from(class & 4 >> a != 0);
            let size = sizes[0][odd(0)] * sizes[1][odd(1)] * sizes[2][odd(2)];
            let usable = (1..8).filter(|set| set & !(class & possible) == 0);
            let costs = usable.flat_map(|set| [tallies[0].bits[set], tallies[1].bits[set]]);
            let least = costs.fold(f32::INFINITY, f32::min);
            if least.is_finite() {
                bits += size as f32 * least / scale.windows as f32;
            }
        }
        bits
    }

    /// Adds the planes of one level in packet mode.
    #[inline(always)]
    fn packet(&self, scale: &Scale, axis: usize, packet: &mut Packet) {
        let kinds = scale.reach[axis].kinds;
        if kinds == 0 {
            return;
        }
        let [even, odd] = halves(self.extents[axis], scale.level);
        let mut planes = odd;
        if !packet.begun {
            // This level accounts for all coarser planes.
            *packet = Packet {
                bits: 0.0,
                begun: true,
                error: ROUNDING,
            };
            planes = even + odd;
        }
        let base_noise = packet.error * NOISE[kinds - 1];
        let others = [(axis + 1) % 3, (axis + 2) % 3];
        // By level within planes and kind; predictors are sets of axes (set 0 predicts zero), with
        // full weight and then with half.
        let mut tallies = [[Tally::default(); 2]; PLANE_LEVELS];
        let weights: Each<f32> = build(|slot| if slot < 4 { 1.0 } else { 0.5 });
        let shares = each(weights, |w| T::from_f64(f64::from(w)));
        // The empty set is the same for both kinds.
        let possible = |level: usize, kind: usize, set: usize| {
            let margin = (1 + 2 * kind) << level;
            (kind == 0 || set > 0)
                && (0..2).all(|k| set >> k & 1 == 0 || scale.reach[others[k]].margin >= margin)
        };
        let between = self.strides[axis] << scale.level;
        let mean = T::from_f64(0.5);
        for number in 0..scale.windows {
            let place = self.place(&scale.reach, number);
            let target = self.difference(place, between, kinds);
            for (level, tallies) in tallies.iter_mut().enumerate() {
                let tightening = capped(1.07, scale.level, 1.2) * capped(1.07, level, 1.2);
                let mut parts = [[[T::default(); WIDTH]; 2]; 2];
                for (k, part) in parts.iter_mut().enumerate() {
                    if possible(level, 0, 1 << k) {
                        let distance = self.strides[others[k]] << level;
                        // At `distance` and, for cubic interpolation, at three times `distance`.
                        let mut pairs = [[T::default(); WIDTH]; 2];
                        let far = usize::from(possible(level, 1, 1 << k));
                        for (i, pair) in pairs.iter_mut().enumerate().take(1 + far) {
                            let distance = (1 + 2 * i) * distance;
                            let (left, right) = (place - distance, place + distance);
                            let left = self.difference(left, between, kinds);
                            let right = self.difference(right, between, kinds);
                            *pair = add(left, right);
                        }
                        *part = weigh(pairs[0], pairs[1]);
                    }
                }
                for (kind, tally) in tallies.iter_mut().enumerate() {
                    if kind > 0 && !possible(level, kind, 1) && !possible(level, kind, 2) {
                        continue;
                    }
                    let [a, b] = [parts[0][kind], parts[1][kind]];
                    let (both, zero) = (zip(a, b, |a, b| mean * (a + b)), [T::default(); WIDTH]);
                    let sums = [zero, a, b, both, zero, a, b, both];
                    let squares = self.squares(&target, &sums, &shares);
                    let noise = build(|slot| {
                        let (set, weight) = (slot % 4, weights[slot]);
                        let axes = set.count_ones() as f32;
                        let noise = NOISE[kind] * weight * weight / f32::max(axes, 1.0);
                        let inner = if set == 0 { 0.0 } else { noise };
                        // Errors of neighbouring differences cancel partly.
                        base_noise + packet.error * 0.5 * inner
                    });
                    tally.add(squares, tightening, noise);
                }
            }
        }
        let (mut bits, mut error, mut count) = (0.0, 0.0, 0.0);
        for (level, tallies) in tallies.iter().enumerate() {
            let [a, b] = others.map(|q| halves(self.extents[q], level));
            let sizes = [0usize, a[1] * b[0], a[0] * b[1], a[1] * b[1]];
            let odd: usize = sizes.iter().sum();
            // The last level accounts for all coarser ones.
            let coarser = if level + 1 == PLANE_LEVELS {
                a[0] * b[0]
            } else {
                0
            };
            for (class, &class_size) in sizes.iter().enumerate().skip(1) {
                let mut best = (f32::INFINITY, 0.0);
                for (kind, tally) in tallies.iter().enumerate() {
                    for slot in (0..PREDICTORS).filter(|slot| (slot % 4) & !class == 0) {
                        if possible(level, kind, slot % 4) && tally.bits[slot] < best.0 {
                            best = (tally.bits[slot], tally.error[slot]);
                        }
                    }
                }
                if class_size == 0 {
                    continue;
                }
                let share = class_size as f32 / odd as f32;
                let size = planes as f32 * share * (odd + coarser) as f32;
                bits += size * best.0;
                error += size * best.1;
                count += size;
            }
        }
        let windows = scale.windows as f32;
        packet.bits += bits / windows;
        if count > 0.0 {
            packet.error = error / (windows * count);
        }
    }

    /// The forecast of Lorenzo mode alone.
    #[inline(always)]
    fn lorenzo(&self) -> Forecast {
        // Windows whose values have preceding neighbours, except along axes of length 1.
        let mut reach = self.extents.map(|n| Reach {
            margin: usize::from(n > 1),
            kinds: 0,
            inside: n - usize::from(n > 1),
        });
        reach[2].inside = (self.extents[2] - 1).saturating_sub(WIDTH - 1).max(1);
        let mut totals = [0.0f32; 8];
        let (mut exact, mut masked) = (0, false);
        for number in 0..LORENZO_WINDOWS {
            let place = self.place(&reach, number);
            exact += self.without_coordinate(place);
            // The corners of the cube that ends at each value, indexed by the axes along which they
            // precede it; then differences along one axis after the other.
            // Differences that include a value without coordinate count as 0.
            let mut sums = [[0i32; WIDTH]; 8];
            let mut known = [[-1i32; WIDTH]; 8];
            for (back, (sum, known)) in sums.iter_mut().zip(&mut known).enumerate() {
                let moved = |a: usize| match back & 4 >> a {
                    0 => 0,
                    _ => reach[a].margin * self.strides[a],
                };
                let window = self.window(place - (0..3).map(moved).sum::<usize>());
                let numbers = each(window, |v| self.step.quantize(v));
                *sum = numbers.map(|n| n.unwrap_or(0));
                *known = numbers.map(|n| -i32::from(n.is_some()));
            }
            for bit in [1, 2, 4] {
                // Sets without this axis keep their value.
                for set in (0..8).filter(|set| set & bit != 0) {
                    let front = set & !bit;
                    sums[set] = zip(sums[front], sums[set], i32::wrapping_sub);
                    known[set] = zip(known[front], known[set], |a, b| a & b);
                }
            }
            masked |= known[0].contains(&0);
            let means: Each<f32> = build(|set| {
                let known = zip(sums[set], known[set], |s, known| s & known);
                let sizes: u64 = known.iter().map(|s| u64::from(s.unsigned_abs())).sum();
                sizes as f32 / WIDTH as f32
            });
            totals = zip(totals, each(means, geometric), |a, b| a + b);
        }
        let long: usize = (0..3)
            .filter(|&a| reach[a].margin > 0)
            .map(|a| 4 >> a)
            .sum();
        let mut best = 0;
        for axes in (0..8usize).filter(|axes| axes & !long == 0) {
            if totals[axes] <= totals[best] {
                best = axes;
            }
        }
        let count: usize = self.extents.iter().product();
        let bits = totals[best] + (exact * 8 * T::SIZE / WIDTH) as f32;
        Forecast {
            isotropic: f32::INFINITY,
            packet: [f32::INFINITY; 3],
            lorenzo: bits / LORENZO_WINDOWS as f32 * count as f32,
            lorenzo_axes: best as u8,
            masked,
        }
    }

    /// Number of values in a window that only Lorenzo mode must store exactly: they are too many
    /// steps from zero.
    #[inline(always)]
    fn without_coordinate(&self, place: Place) -> usize {
        let window = self.window(place);
        let far = |v: &&T| self.step.quantize(**v).is_none();
        let regular = |v: &&T| v.is_finite() && !self.source.fill.contains(**v);
        match window.iter().any(|v| far(&v)) {
            true => window.iter().filter(far).filter(regular).count(),
            false => 0,
        }
    }
}

/// Entropy of a two-sided geometric distribution of this mean magnitude.
#[inline(always)]
fn geometric(mean: f32) -> f32 {
    let ratio = mean / (1.0 + (1.0 + mean * mean).sqrt());
    let ratio = ratio.clamp(5e-7, 0.999_999);
    let bits = log2((1.0 + ratio) / (1.0 - ratio)) - mean * log2(ratio);
    if mean < 1e-6 { 0.0 } else { bits }
}
