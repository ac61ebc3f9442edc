//! `ratio` in one pass: the fixed-ratio mode of the CEAZ paper, section 3.1.
//!
//! In: an array and a ratio. Out: the array coded once, about as small as asked. Steps: 1 a part of every
//! slab is coded with a few bounds, which tells the bound for the whole and what each slab is to take;
//! 2 the slab that is to take most is coded with it, which tells how slabs differ from their parts; 3 slabs are coded in
//! order, and what they took corrects the bound of those to come, by the paper's ε′ = 2^(B − B′) ε; 4 the
//! frame records the largest bound.

use super::bracketing::Bracketing;
use super::outcome::{SearchOutcome, SearchStats};
use super::target::Target;
use super::{Found, LARGEST, Last, SMALLEST, median_difference, ratio_guess};
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

/// The part of each slab that is sampled, and the least that is sampled of all of them.
const SAMPLE_SHARE: usize = 16;
const MIN_SAMPLE_BYTES: usize = 512 << 10;
/// Bounds that are tried on the sample.
const SAMPLE_TRIALS: usize = 5;
/// A sample that comes as close to the target is close enough: slabs differ from it by as much.
const SAMPLE_CLOSE: f64 = 0.03;
/// Bytes of a record besides its body.
const RECORD_HEADER: u64 = 12;
/// Most slabs that are coded at the same time: a slab's bound does not depend on so many before it.
const MAX_LAG: usize = 64;
/// How much less a slab tells than the one after it, and how much the sample does.
const FADING: f64 = 0.8;
const SAMPLE_WEIGHT: f64 = 0.5;

/// Encodes an array once.
pub(super) fn frame<T: Element>(
    view: &View<'_, T>,
    options: &Options,
    pool: &mut Pool,
    file_size: &dyn Fn(&EncodedFrame) -> usize,
) -> Result<Found> {
    let mut pass = OnePass::new(view, options, pool)?;
    let whole: Vec<_> = view.shape().iter().map(|&n| 0..n).collect();
    let slabs = pass.plan.slabs();
    // A slab is taken up when as many have been emitted as its bound depends on.
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
            let region = plan.slab_region(slab);
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

/// The bounds of a frame's slabs, for a `ratio` in one pass.
///
/// [`OnePass::next_plan`] gives the plans of slabs in order, and [`OnePass::note`] takes what they took,
/// in the same order; the bound of a slab depends on those that are [`OnePass::lag`] and more before it.
#[derive(Debug)]
pub struct OnePass {
    plan: FramePlan,
    target: Target,
    /// None where every bit is kept.
    control: Option<Control>,
    /// How often a sample was coded.
    sampled: usize,
}

impl OnePass {
    /// Looks at a part of every slab.
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
        // Nothing to lose, or nothing lost.
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
        let (bracketing, place, sizes) = trials.bound(target, range)?;
        let raw = samples.iter().map(|sample| sample.slab_bytes as f64);
        let mut control = Control::new(target, bracketing, place, raw.collect(), &sizes);
        let sampled = trials.count;
        let tolerance = Tolerance::Abs(control.bracketing.bound(place));
        let plan = FramePlan::new::<T>(view.shape(), tolerance, options)?;
        control.calibrate(view, &plan, pool, options.simd)?;
        Ok(Self {
            plan,
            target,
            control: Some(control),
            sampled,
        })
    }

    /// Looks at a part of every slab of an array that is to be coded with a `ratio` in one pass.
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

    /// The next slab, in order, has bodies of these lengths.
    pub fn note(&mut self, bodies: impl IntoIterator<Item = u64>) {
        if let Some(control) = &mut self.control {
            control.taken.push(stored(bodies));
        }
    }

    /// The plan of the frame, whose guarantee is the largest bound.
    pub fn finished(&self) -> FramePlan {
        let bounds = self.control.iter().flat_map(|control| &control.bounds);
        match bounds.copied().reduce(f64::max) {
            Some(largest) => self.plan.with_bound(largest),
            None => self.plan.clone(),
        }
    }
}

/// A part of a slab, and the bytes of the whole one.
struct Sample<T> {
    values: Vec<T>,
    shape: Vec<usize>,
    slab_bytes: usize,
}

/// The middle of every slab, cut along its longest axis so that the others keep their neighbours; rows
/// are only cut where there is nothing else.
fn samples<T: Element>(view: &View<'_, T>, plan: &FramePlan) -> Result<Vec<Sample<T>>> {
    let whole: Vec<_> = view.shape().iter().map(|&n| 0..n).collect();
    let sample = |slab| {
        let slab_region = plan.slab_region(slab);
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
        let shape = extents(&region);
        let values = view.part(&region, &whole).to_contiguous().into_owned();
        Ok(Sample {
            values,
            shape,
            slab_bytes,
        })
    };
    (0..plan.slabs()).map(sample).collect()
}

/// So many steps in the middle of a range, at most all.
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
    let records = bodies.into_iter().map(|length| length + RECORD_HEADER);
    records.sum::<u64>() as f64
}

/// The ratio of slabs that are as their samples, which took so many bytes.
fn ratio<T>(samples: &[Sample<T>], sizes: &[f64]) -> f64 {
    let raw: usize = samples.iter().map(|sample| sample.slab_bytes).sum();
    raw as f64 / sizes.iter().sum::<f64>().max(1.0)
}

/// Bounds that are tried on a sample.
struct Trials<'a, T> {
    samples: &'a [Sample<T>],
    options: &'a Options,
    pool: &'a mut Pool,
    count: usize,
}

impl<T: Element> Trials<'_, T> {
    /// What slabs would take, by their samples.
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

    /// The bounds that were tried, the place of the one that meets the target, and what slabs take then.
    fn bound(&mut self, target: Target, range: f64) -> Result<(Bracketing, f64, Vec<f64>)> {
        let most = (range * LARGEST).min(f64::MAX);
        let least = (range * SMALLEST).max(1e-290).min(most);
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
                Some(next) if !target.is_within(found, SAMPLE_CLOSE) => bound = next,
                _ => break,
            }
        }
        let (bound, miss, sizes) = best.unwrap_or((bound, 0.0, Vec::new()));
        let place = target.place(bound) - miss.clamp(-1.0, 1.0) / bracketing.slope();
        Ok((bracketing, place, sizes))
    }
}

/// Chooses the bounds of slabs.
#[derive(Debug)]
struct Control {
    target: Target,
    /// Where bounds may lie.
    bracketing: Bracketing,
    lag: usize,
    /// The bound that the sample needs, and how the level grows with the logarithm of the bound.
    place: f64,
    slope: f64,
    /// By how much slabs reach a higher level than their samples, as far as is known before the first one.
    surplus: f64,
    /// By how much the closest trial of it missed, and its place.
    closest: Option<(f64, f64)>,
    /// Bytes of each slab, and those that it is to take with that bound.
    raw: Vec<f64>,
    planned: Vec<f64>,
    /// What slabs took so far, and the bounds that were given out.
    taken: Vec<f64>,
    bounds: Vec<f64>,
}

impl Control {
    fn new(
        target: Target,
        bracketing: Bracketing,
        place: f64,
        raw: Vec<f64>,
        sizes: &[f64],
    ) -> Self {
        let budget: f64 = raw.iter().map(|raw| raw / target.value()).sum();
        let expected: f64 = sizes.iter().sum();
        Self {
            target,
            lag: (raw.len() / 4).clamp(1, MAX_LAG),
            place,
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

    /// Codes the slab that is to take most, which is not kept, to know how slabs differ from their samples.
    fn calibrate<T: Element>(
        &mut self,
        view: &View<'_, T>,
        plan: &FramePlan,
        pool: &mut Pool,
        simd: Level,
    ) -> Result<()> {
        let whole: Vec<_> = view.shape().iter().map(|&n| 0..n).collect();
        for _ in 0..self.calibrations() {
            let (slab, bound) = (self.largest(), self.bracketing.bound(self.first_place()));
            let plan = plan.with_bound(bound);
            let region = plan.slab_region(slab);
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

    /// The slab that is to take most.
    fn largest(&self) -> usize {
        let planned = self.planned.iter().enumerate();
        planned
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(slab, _)| slab)
    }

    /// How often a slab is coded beforehand at most: it is most of a small frame.
    fn calibrations(&self) -> usize {
        match self.raw.len() {
            0..4 => 2,
            _ => 1,
        }
    }

    /// Where the bound of slabs lies, as far as is known before the first one.
    fn first_place(&self) -> f64 {
        self.place - self.surplus / self.slope
    }

    /// The largest slab took so many bytes; whether nothing is to be learnt from another trial.
    fn calibrated(&mut self, bound: f64, bytes: f64) -> bool {
        let (slab, place) = (self.largest(), self.target.place(bound));
        let miss = (bytes / self.planned[slab]).ln().abs();
        match self.closest.replace((miss, place)) {
            // The curve jumps, or the model does not hold.
            Some((closest, place)) if closest <= miss => {
                self.surplus = (self.place - place) * self.slope;
                true
            }
            _ => {
                let level = self.target.level(self.raw[slab] / bytes.max(1.0));
                let surplus = level - self.expected(slab, place);
                self.surplus = surplus.clamp(-2.0, 2.0);
                miss < SAMPLE_CLOSE
            }
        }
    }

    /// The level that a slab is expected to reach with a bound, as the sample has it.
    fn expected(&self, slab: usize, place: f64) -> f64 {
        let planned = self.target.level(self.raw[slab] / self.planned[slab]);
        planned + self.slope * (place - self.place)
    }

    /// The bound of the next slab.
    fn next_bound(&mut self) -> f64 {
        // Behind the last slab there is nothing to share out.
        let slab = self.bounds.len().min(self.planned.len().saturating_sub(1));
        let known = (slab + 1).saturating_sub(self.lag);
        let known = known.min(self.taken.len()).min(slab);
        // 1. By how much slabs reach a higher level than the sample said; those that take much tell more.
        let mean = self.planned.iter().sum::<f64>() / self.planned.len() as f64;
        let (mut weights, mut sum) = (SAMPLE_WEIGHT, SAMPLE_WEIGHT * self.surplus);
        for done in 0..known {
            let weight = FADING.powi((known - done) as i32) * self.planned[done] / mean;
            let level = self
                .target
                .level(self.raw[done] / self.taken[done].max(1.0));
            let surplus = level - self.expected(done, self.target.place(self.bounds[done]));
            weights += weight;
            sum += weight * surplus.clamp(-2.0, 2.0);
        }
        let surplus = sum / weights;
        // 2. What is left, for every byte that was planned.
        let under_way: f64 = (known..slab)
            .map(|slab| {
                let level = self.expected(slab, self.target.place(self.bounds[slab])) + surplus;
                self.raw[slab] / self.target.found(level)
            })
            .sum();
        let spent: f64 = self.taken[..known].iter().sum();
        let rest: f64 = self.planned[slab..].iter().sum();
        let left = self.planned.iter().sum::<f64>() - spent - under_way;
        let share = (left / rest).clamp(0.5, 2.0);
        // 3. The bound at which slabs take that.
        let goal = self.target.level(self.target.value() / share);
        let place = self.place + (goal - self.target.goal() - surplus) / self.slope;
        let bound = self.bracketing.bound(place);
        self.bounds.push(bound);
        bound
    }
}
