//! `ratio` in one pass: the fixed-ratio mode of the CEAZ paper, section 3.1.
//!
//! Input: an array and a ratio. Output: the array encoded once, with about this ratio. Steps: 1 a
//! part of every slab is encoded with a few bounds, which gives the bound for the whole array and a
//! budget for each slab; 2 the slab with the largest budget is encoded with it, which shows how
//! slabs differ from their samples; 3 slabs are encoded in order, and their sizes correct the
//! bounds of later ones, by the paper's ε′ = 2^(B − B′) ε; 4 the frame records the largest bound.

use super::bracketing::Bracketing;
use super::outcome::{SearchOutcome, SearchStats};
use super::target::Target;
use super::{Found, Last, MAX_BOUND_OF_RANGE, MIN_BOUND_OF_RANGE, median_difference, ratio_guess};
use crate::array::{FoundFill, ValueScan, View};
use crate::bound::Tolerance;
use crate::chunk::{EncodedChunks, EncodedFrame, FramePlan, Piece, Pool, extents};
use crate::element::Element;
use crate::error::Result;
use crate::options::Options;
use crate::parallel;
use crate::simd::Level;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// One part in this many of each slab is sampled; and the minimum size of all samples.
const SAMPLE_SHARE: usize = 16;
const MIN_SAMPLE_BYTES: usize = 512 << 10;
/// Maximum number of trials on the sample.
const SAMPLE_TRIALS: usize = 5;
/// Relative distance from the target at which a sample is close enough: slabs differ from it by as
/// much.
const SAMPLE_TOLERANCE: f64 = 0.03;
/// Bytes of a record besides its body.
const RECORD_HEADER_BYTES: u64 = 12;
/// Maximum number of slabs encoded concurrently: the bound of a slab does not depend on this many
/// before it.
const MAX_LAG: usize = 64;
/// Decay of the weight of earlier slabs, and weight of the sample.
const SLAB_DECAY: f64 = 0.8;
const SAMPLE_WEIGHT: f64 = 0.5;

/// Encodes an array in one pass.
pub(super) fn frame<T: Element>(
    view: &View<'_, T>,
    options: &Options,
    pool: &mut Pool,
    file_size: &dyn Fn(&EncodedFrame) -> usize,
) -> Result<Found> {
    let mut pass = OnePass::new(view, options, pool)?;
    let whole: Vec<_> = view.shape().iter().map(|&n| 0..n).collect();
    let slabs = pass.plan.slabs();
    // A slab starts when all slabs that its bound depends on have been emitted.
    let threads = parallel::threads(options.threads).min(pass.lag());
    let (mut runs, mut fill) = (Vec::new(), FoundFill::default());
    let pass = Mutex::new(&mut pass);
    let lock = || pass.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = 0..slabs;
    pool.encode_pieces(
        (threads, options.simd),
        || {
            let Some(slab) = next.next() else {
                return Ok(None);
            };
            let plan = lock().next_plan();
            let region = plan.header().grid.slab_box(slab);
            Ok(Some(Piece {
                view: view.part(&region, &whole),
                chunks: plan.chunks_of(slab),
                region,
                plan,
            }))
        },
        |run| {
            lock().note(lengths(run));
            fill.join(&run.found());
            runs.push(std::mem::take(run));
            Ok(())
        },
    )?;
    let pass = pass.into_inner().unwrap_or_else(PoisonError::into_inner);
    let frame = EncodedFrame {
        plan: pass.finished(),
        runs,
    };
    let found = frame.plan.header().raw_bytes() as f64 / file_size(&frame) as f64;
    let tolerance = frame.plan.header().tolerance;
    Ok(Found {
        frame,
        fill,
        summary: SearchStats {
            found,
            outcome: SearchOutcome::OnePass,
            beyond: None,
            codings: 1,
            sampled: pass.sampled,
        },
        last: Last {
            target: pass.target,
            tolerance,
            found: Some(found),
            slope: None,
        },
    })
}

/// Chooses the bounds of the slabs of a frame, for a `ratio` in one pass.
///
/// [`OnePass::next_plan`] returns the plans of slabs in order, and [`OnePass::note`] records their
/// encoded sizes, in the same order. The bound of a slab depends on the slabs that precede it by
/// [`OnePass::lag`] or more.
#[derive(Debug)]
pub struct OnePass {
    plan: FramePlan,
    target: Target,
    /// `None` if the frame is lossless.
    control: Option<Control>,
    /// Number of times that the sample was encoded.
    sampled: usize,
}

impl OnePass {
    /// Samples every slab.
    pub(crate) fn new<T: Element>(
        view: &View<'_, T>,
        options: &Options,
        pool: &mut Pool,
    ) -> Result<Self> {
        let target = Target::of(options.bound, T::SIZE)?;
        let plan = FramePlan::new::<T>(view.shape(), Tolerance::Lossless, options)?;
        let samples = samples(view, &plan)?;
        let mut trials = Trials {
            samples: &samples,
            options,
            pool,
            count: 0,
        };
        let mut scan = ValueScan::new(options.fill);
        for sample in &samples {
            scan.add(&sample.values);
        }
        let range = scan.range().extent().min(f64::MAX);
        // All values are equal, or a lossless encoding suffices.
        let exact =
            range == 0.0 || target.is_met(ratio(&samples, &trials.code(Tolerance::Lossless)?));
        if exact {
            return Ok(Self {
                plan,
                target,
                control: None,
                sampled: trials.count,
            });
        }
        let (bracketing, position, sizes) = trials.bound(target, range)?;
        let raw = samples.iter().map(|sample| sample.slab_bytes as f64);
        let mut control = Control::new(target, bracketing, position, raw.collect(), &sizes);
        let sampled = trials.count;
        let tolerance = Tolerance::Abs(control.bracketing.bound(position));
        let plan = FramePlan::new::<T>(view.shape(), tolerance, options)?;
        control.calibrate(view, &plan, pool, options.simd)?;
        Ok(Self {
            plan,
            target,
            control: Some(control),
            sampled,
        })
    }

    /// Samples every slab of an array that is to be encoded with a `ratio` in one pass.
    pub fn of<T: Element>(view: &View<'_, T>, options: &Options) -> Result<Self> {
        Self::new(view, options, &mut Pool::default())
    }

    /// The distance from a slab to the last one before it that its bound depends on.
    pub fn lag(&self) -> usize {
        self.control.as_ref().map_or(MAX_LAG, |control| control.lag)
    }

    /// The plan to encode the next slab with.
    pub fn next_plan(&mut self) -> FramePlan {
        match &mut self.control {
            None => self.plan.clone(),
            Some(control) => self.plan.with_bound(control.next_bound()),
        }
    }

    /// Records the lengths of the bodies of the next slab, in order.
    pub fn note(&mut self, bodies: impl IntoIterator<Item = u64>) {
        if let Some(control) = &mut self.control {
            control.taken.push(stored(bodies));
        }
    }

    /// The plan of the frame; its bound is the largest of all slabs.
    pub fn finished(&self) -> FramePlan {
        let bounds = self.control.iter().flat_map(|control| &control.bounds);
        match bounds.copied().reduce(f64::max) {
            Some(largest) => self.plan.with_bound(largest),
            None => self.plan.clone(),
        }
    }
}

/// A part of a slab, and the size of the whole slab in bytes.
struct Sample<T> {
    values: Vec<T>,
    shape: Vec<usize>,
    slab_bytes: usize,
}

/// The middle of every slab, cut along its longest axis, so that values keep their neighbours along
/// the others; rows are cut only if there is no other axis.
fn samples<T: Element>(view: &View<'_, T>, plan: &FramePlan) -> Result<Vec<Sample<T>>> {
    let whole: Vec<_> = view.shape().iter().map(|&n| 0..n).collect();
    let sample = |slab| {
        let slab_region = plan.header().grid.slab_box(slab);
        let slab_bytes = plan.slab_len(slab) * T::SIZE;
        let mut region = slab_region.clone();
        let slow = region.len().saturating_sub(1).max(1);
        let longest = region.iter_mut().take(slow).max_by_key(|range| range.len());
        if let Some(range) = longest {
            let least = MIN_SAMPLE_BYTES / plan.slabs();
            let part = range.len() as f64 * least as f64 / slab_bytes as f64;
            let length = range.len().div_ceil(SAMPLE_SHARE).max(part.ceil() as usize);
            *range = middle(range, length);
        }
        let shape = extents(&region).into_vec();
        let values = view.part(&region, &whole).to_contiguous().into_owned();
        Ok(Sample {
            values,
            shape,
            slab_bytes,
        })
    };
    (0..plan.slabs()).map(sample).collect()
}

/// The middle of a range, of at most this length.
fn middle(range: &Range<usize>, length: usize) -> Range<usize> {
    let length = length.min(range.len());
    let start = range.start + (range.len() - length) / 2;
    start..start + length
}

fn lengths(run: &EncodedChunks) -> impl Iterator<Item = u64> {
    run.bodies().map(|body| body.bytes.len() as u64)
}

/// Bytes of records whose bodies have these lengths.
fn stored(bodies: impl IntoIterator<Item = u64>) -> f64 {
    let records = bodies
        .into_iter()
        .map(|length| length + RECORD_HEADER_BYTES);
    records.sum::<u64>() as f64
}

/// The ratio of the slabs, if they compress like their samples, given the sizes of these.
fn ratio<T>(samples: &[Sample<T>], sizes: &[f64]) -> f64 {
    let raw: usize = samples.iter().map(|sample| sample.slab_bytes).sum();
    raw as f64 / sizes.iter().sum::<f64>().max(1.0)
}

/// Trials on the samples.
struct Trials<'a, T> {
    samples: &'a [Sample<T>],
    options: &'a Options,
    pool: &'a mut Pool,
    count: usize,
}

impl<T: Element> Trials<'_, T> {
    /// Estimated sizes of the slabs, from their samples.
    fn code(&mut self, tolerance: Tolerance) -> Result<Vec<f64>> {
        let options = Options {
            chunk: None,
            ..self.options.clone()
        };
        self.count += 1;
        let threads = parallel::threads(options.threads).min(self.samples.len());
        let mut sizes = Vec::new();
        let mut next = self.samples.iter();
        let mut order = self.samples.iter();
        self.pool.encode_pieces(
            (threads.max(1), options.simd),
            || {
                let Some(sample) = next.next() else {
                    return Ok(None);
                };
                let plan = FramePlan::new::<T>(&sample.shape, tolerance, &options)?;
                Ok(Some(Piece {
                    view: View::new(&sample.values, &sample.shape)?,
                    chunks: 0..plan.chunks(),
                    region: sample.shape.iter().map(|&n| 0..n).collect(),
                    plan,
                }))
            },
            |run| {
                let sample = order.next().map_or((0, 1), |sample| {
                    (sample.slab_bytes, sample.values.len() * T::SIZE)
                });
                sizes.push(stored(lengths(run)) * sample.0 as f64 / sample.1 as f64);
                Ok(())
            },
        )?;
        Ok(sizes)
    }

    /// The trials, the position of the bound that meets the target, and the estimated sizes of the
    /// slabs with it.
    fn bound(&mut self, target: Target, range: f64) -> Result<(Bracketing, f64, Vec<f64>)> {
        let most = (range * MAX_BOUND_OF_RANGE).min(f64::MAX);
        let least = (range * MIN_BOUND_OF_RANGE).max(1e-290).min(most);
        let mut bracketing = Bracketing::new(target, least, most);
        let difference = self
            .samples
            .iter()
            .find_map(|s| median_difference(&s.values));
        let start = difference.map_or(1e-3 * range, |d| ratio_guess(target, d));
        let mut bound = bracketing.rounded(start);
        let mut best: Option<(f64, f64, Vec<f64>)> = None;
        for _ in 0..SAMPLE_TRIALS {
            let sizes = self.code(Tolerance::Abs(bound))?;
            let found = ratio(self.samples, &sizes);
            bracketing.note(bound, found);
            let miss = target.level(found) - target.goal();
            if best.as_ref().is_none_or(|best| miss.abs() < best.1.abs()) {
                best = Some((bound, miss, sizes));
            }
            match bracketing.next() {
                Some(next) if !target.is_within(found, SAMPLE_TOLERANCE) => bound = next,
                _ => break,
            }
        }
        let (bound, miss, sizes) = best.unwrap_or((bound, 0.0, Vec::new()));
        let position = target.position(bound) - miss.clamp(-1.0, 1.0) / bracketing.slope();
        Ok((bracketing, position, sizes))
    }
}

/// Chooses the bounds of slabs.
#[derive(Debug)]
struct Control {
    target: Target,
    /// Limits of bounds.
    bracketing: Bracketing,
    lag: usize,
    /// Position of the bound that meets the target on the sample, and slope of the level.
    position: f64,
    slope: f64,
    /// How much higher the level of slabs is than that of their samples, as known before the first
    /// slab.
    surplus: f64,
    /// Miss of the last calibration, and its position.
    closest: Option<(f64, f64)>,
    /// Raw size and planned size of each slab.
    raw: Vec<f64>,
    planned: Vec<f64>,
    /// Sizes of finished slabs, and bounds of started ones.
    taken: Vec<f64>,
    bounds: Vec<f64>,
}

impl Control {
    fn new(
        target: Target,
        bracketing: Bracketing,
        position: f64,
        raw: Vec<f64>,
        sizes: &[f64],
    ) -> Self {
        let budget: f64 = raw.iter().map(|raw| raw / target.value()).sum();
        let expected: f64 = sizes.iter().sum();
        Self {
            target,
            lag: (raw.len() / 4).clamp(1, MAX_LAG),
            position,
            slope: bracketing.slope(),
            bracketing,
            surplus: 0.0,
            closest: None,
            planned: sizes.iter().map(|size| size * budget / expected).collect(),
            raw,
            taken: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Encodes the slab with the largest planned size and discards the result, to see how slabs
    /// differ from their samples.
    fn calibrate<T: Element>(
        &mut self,
        view: &View<'_, T>,
        plan: &FramePlan,
        pool: &mut Pool,
        simd: Level,
    ) -> Result<()> {
        let whole: Vec<_> = view.shape().iter().map(|&n| 0..n).collect();
        for _ in 0..self.calibrations() {
            let (slab, bound) = (self.largest(), self.bracketing.bound(self.first_position()));
            let plan = plan.with_bound(bound);
            let region = plan.header().grid.slab_box(slab);
            let mut piece = Some(Piece {
                view: view.part(&region, &whole),
                chunks: plan.chunks_of(slab),
                region,
                plan,
            });
            let mut bytes = 0.0;
            pool.encode_pieces(
                (1, simd),
                || Ok(piece.take()),
                |run| {
                    bytes = stored(lengths(run));
                    Ok(())
                },
            )?;
            if self.calibrated(bound, bytes) {
                break;
            }
        }
        Ok(())
    }

    /// The slab with the largest planned size.
    fn largest(&self) -> usize {
        let planned = self.planned.iter().enumerate();
        planned
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(slab, _)| slab)
    }

    /// Maximum number of calibrations; small frames, of which a slab is a large part, get two.
    fn calibrations(&self) -> usize {
        match self.raw.len() {
            0..4 => 2,
            _ => 1,
        }
    }

    /// Position of the bound before the first slab.
    fn first_position(&self) -> f64 {
        self.position - self.surplus / self.slope
    }

    /// Records the size of the calibrated slab; returns whether another calibration is not needed.
    fn calibrated(&mut self, bound: f64, bytes: f64) -> bool {
        let (slab, position) = (self.largest(), self.target.position(bound));
        let miss = (bytes / self.planned[slab]).ln().abs();
        match self.closest.replace((miss, position)) {
            // The curve jumps, or the model does not hold.
            Some((closest, position)) if closest <= miss => {
                self.surplus = (self.position - position) * self.slope;
                true
            }
            _ => {
                let level = self.target.level(self.raw[slab] / bytes.max(1.0));
                let surplus = level - self.expected(slab, position);
                self.surplus = surplus.clamp(-2.0, 2.0);
                miss < SAMPLE_TOLERANCE
            }
        }
    }

    /// The level of a slab with a bound, according to its sample.
    fn expected(&self, slab: usize, position: f64) -> f64 {
        let planned = self.target.level(self.raw[slab] / self.planned[slab]);
        planned + self.slope * (position - self.position)
    }

    /// The bound of the next slab.
    fn next_bound(&mut self) -> f64 {
        // Calls after the last slab are treated like the last one.
        let slab = self.bounds.len().min(self.planned.len().saturating_sub(1));
        let known = (slab + 1).saturating_sub(self.lag);
        let known = known.min(self.taken.len()).min(slab);
        // 1. How much higher the level of slabs is than expected; larger slabs have more weight.
        let mean = self.planned.iter().sum::<f64>() / self.planned.len() as f64;
        let (mut weights, mut sum) = (SAMPLE_WEIGHT, SAMPLE_WEIGHT * self.surplus);
        for done in 0..known {
            let weight = SLAB_DECAY.powi((known - done) as i32) * self.planned[done] / mean;
            let level = self
                .target
                .level(self.raw[done] / self.taken[done].max(1.0));
            let surplus = level - self.expected(done, self.target.position(self.bounds[done]));
            weights += weight;
            sum += weight * surplus.clamp(-2.0, 2.0);
        }
        let surplus = sum / weights;
        // 2. The rest of the budget relative to the plan.
        let in_flight: f64 = (known..slab)
            .map(|slab| {
                let level = self.expected(slab, self.target.position(self.bounds[slab])) + surplus;
                self.raw[slab] / self.target.found(level)
            })
            .sum();
        let spent: f64 = self.taken[..known].iter().sum();
        let rest: f64 = self.planned[slab..].iter().sum();
        let left = self.planned.iter().sum::<f64>() - spent - in_flight;
        let share = (left / rest).clamp(0.5, 2.0);
        // 3. The bound that meets this budget.
        let goal = self.target.level(self.target.value() / share);
        let position = self.position + (goal - self.target.goal() - surplus) / self.slope;
        let bound = self.bracketing.bound(position);
        self.bounds.push(bound);
        bound
    }
}
