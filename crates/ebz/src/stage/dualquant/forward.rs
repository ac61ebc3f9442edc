//! Values to residual units: the mode is chosen by the bound and by what fits.

use super::{Estimate, MAX_NARROW, Mode, Plan, Sink, choose, for_each_unit, padded, units};
use crate::bound::Tolerance;
use crate::element::Float;
use crate::element::word::Word;
use crate::request::Task;
use crate::simd::Level;
use crate::simd::memory;
use crate::stage::exceptions::Exceptions;
use crate::stage::fused::Source;
use crate::stage::lags::{Differences, Numbers};
use crate::stage::quantize::{self, PREFETCH_BYTES, PointRange, Quantizer, Scale};
use crate::stage::relative::Relative;
use crate::stage::{Aligned, UNIT, ordered, runs};
use crate::workspace::Context;

/// Largest 32-bit coordinate.
const MAX_WIDE: i64 = (1 << 31) - 2;

/// Converts values to residual units and exceptions, within a tolerance or exactly.
pub(crate) fn forward<T: Float, S: Sink>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Plan {
    match task.tolerance {
        Tolerance::Abs(bound) => quantize::step::<T>(bound)
            .map(|step| absolute(step, bound, values, task, context, exceptions, sink)),
        Tolerance::Pointwise(bound) => pointwise(bound, values, task, context, exceptions, sink),
        Tolerance::Precision(_) | Tolerance::Lossless => None,
    }
    .unwrap_or_else(|| exact(|x| x, values, task, context, exceptions, sink))
}

/// [`forward`] for an absolute bound.
fn absolute<T: Float, S: Sink>(
    step: f64,
    bound: f64,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Plan {
    let fill = &task.fill;
    let whole = Quantizer::<T, f64>::new(step, 0, T::FARTHEST, bound, fill);
    let snap = |x: T| whole.snap(x);
    macro_rules! quantized {
        ($mode:ident, $word:ty, $arithmetic:ty, $base:expr, $most:expr) => {{
            let lattice = Quantizer::<T, $arithmetic>::new(step, $base, $most, bound, fill);
            quantized::<T, $word, _, S>(
                Mode::$mode,
                lattice,
                snap,
                values,
                task,
                context,
                exceptions,
                sink,
            )
        }};
    }
    // Far from 0, where lattice points are rounded, double precision ensures that every mode finds
    // the same one.
    let level = context.simd();
    let narrow = match choose::base(level, (step, MAX_NARROW), values, fill) {
        _ if !quantize::normal::<T>(step) => None,
        Some(0) => quantized!(Narrow, u16, T, 0, MAX_NARROW),
        Some(base) => quantized!(Narrow, u16, f64, base, MAX_NARROW),
        None => None,
    };
    let most_wide = MAX_WIDE.min(T::FARTHEST);
    let wide = || {
        let base = choose::base(level, (step, most_wide), values, fill)?;
        quantized!(Wide, u32, f64, base, most_wide)
    };
    narrow
        .or_else(wide)
        .unwrap_or_else(|| exact(snap, values, task, context, exceptions, sink))
}

/// The plan that [`forward`] chooses for a chunk of `f32` if it tries 16-bit coordinates, `None`
/// otherwise. [`forward`] still rejects the plan if exceptions exceed [`max_exception_bytes`].
pub(crate) fn narrow_plan<E: Estimate>(
    values: &[f32],
    task: &Task<'_>,
    level: Level,
) -> Option<Plan> {
    let Tolerance::Abs(bound) = task.tolerance else {
        return None;
    };
    let step = quantize::step::<f32>(bound).filter(|step| quantize::normal::<f32>(*step))?;
    let base = choose::base(level, (step, MAX_NARROW), values, &task.fill)?;
    macro_rules! lags {
        ($arithmetic:ty) => {{
            let lattice =
                Quantizer::<f32, $arithmetic>::new(step, base, MAX_NARROW, bound, &task.fill);
            choose::lags::<_, u16, E>(
                level,
                values,
                task.dims,
                #[inline(always)]
                |unit, q| sampled(&lattice, unit, q),
            )
            .0
        }};
    }
    Some(Plan {
        mode: Mode::Narrow,
        lags: if base == 0 { lags!(f32) } else { lags!(f64) },
        step,
        base: base as f64,
    })
}

/// Maximum size of the side list of a quantized chunk of this many bytes: beyond it, wider
/// coordinates compress better. Fill values take few bytes, even if there are many.
pub(crate) fn max_exception_bytes(raw_bytes: usize) -> usize {
    raw_bytes / 16
}

/// [`forward`] for a pointwise relative bound; `None` if it has no lattice.
fn pointwise<T: Float, S: Sink>(
    bound: f64,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Option<Plan> {
    let fill = &task.fill;
    macro_rules! quantized {
        ($mode:ident, $word:ty, $lattice:expr) => {{
            let part = choose::part::<T, _, $word>($lattice, values, fill);
            part.and_then(|part| {
                quantized::<T, $word, _, S>(
                    Mode::$mode,
                    part,
                    #[inline(always)]
                    |x| $lattice.snap(x),
                    values,
                    task,
                    context,
                    exceptions,
                    sink,
                )
            })
        }};
    }
    macro_rules! exact {
        ($lattice:expr) => {
            exact(
                #[inline(always)]
                |x| $lattice.snap(x),
                values,
                task,
                context,
                exceptions,
                sink,
            )
        };
    }
    // The arithmetic depends only on the bound.
    if let Some(whole) = Relative::<T, T>::whole(bound, fill) {
        let plan = quantized!(NarrowRelative, u16, &whole)
            .or_else(|| quantized!(WideRelative, u32, &whole))
            .unwrap_or_else(|| exact!(whole));
        return Some(plan);
    }
    let whole = Relative::<T, f64>::whole(bound, fill)?;
    let plan = quantized!(FineRelative, u32, &whole).unwrap_or_else(|| exact!(whole));
    Some(plan)
}

/// Quantizes a chunk; `None` if there are too many exceptions. Exceptions are rounded by `snap` to the
/// same lattice if possible, so that compressing them again in another chunk does not change them.
#[expect(
    clippy::too_many_arguments,
    reason = "every stage of a chunk needs them"
)]
fn quantized<T, W, L, S>(
    mode: Mode,
    lattice: L,
    snap: impl Fn(T) -> T,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Option<Plan>
where
    T: Float,
    W: Word,
    L: Scale<T>,
    S: Sink,
{
    let level = context.simd();
    let (lags, cost) = choose::lags::<_, W, S::Estimate>(
        level,
        values,
        task.dims,
        #[inline(always)]
        |unit, q| sampled(&lattice, unit, q),
    );
    let plan = Plan {
        mode,
        lags,
        step: lattice.step(),
        base: lattice.base(),
    };
    if !sink.wants(cost) {
        return Some(plan);
    }
    let most = max_exception_bytes(size_of_val(values));
    sink.restart::<W>(units(values.len()));
    exceptions.clear();
    let mut range = PointRange::EMPTY;
    // An argument, because only these closures can be inlined by force.
    let mut coordinates = std::convert::identity(
        #[inline(always)]
        |index: usize, unit: &[T; UNIT], valid: usize, before: W, q: &mut [W; UNIT]| {
            if lattice.forward_with_range(level, unit, q, &mut range) {
                return true;
            }
            range = PointRange::UNKNOWN;
            let good = lattice.accepted::<W>(unit);
            repeat_over_exceptions(&good, before, q);
            let excepted = std::array::from_fn(|i| !good[i] && i < valid);
            exceptions.push_unit(index, unit, &excepted, &snap);
            exceptions.bytes() <= most
        },
    );
    if size_of::<W>() == size_of::<u16>() {
        let source = Source {
            dims: task.dims,
            lags,
            plain: lattice.plain().map(|plain| (plain, values)),
            coordinates: &mut |index, before, q| {
                let rest = &values[index * UNIT..];
                let before = W::truncate(before.into());
                let Ok(q) = bytemuck::try_cast_mut(q) else {
                    return false;
                };
                level.run(
                    #[inline(always)]
                    || match rest.first_chunk() {
                        Some(unit) => coordinates(index, unit, UNIT, before, q),
                        None => coordinates(index, &padded(rest), rest.len(), before, q),
                    },
                )
            },
        };
        if let Some(done) = sink.fused(source, context) {
            range.join(done.unwrap_or(PointRange::UNKNOWN));
            context.extremes = range.values(lattice.step());
            return done.map(|_| plan);
        }
    }
    let mut differences = context.take::<Differences<W>>();
    differences.start(lags, task.dims);
    let done = level.run(
        #[inline(always)]
        || {
            let mut q = Numbers::<W>::default();
            let mut residuals = Aligned::<W>::default();
            for_each_unit(
                values,
                #[inline(always)]
                |index, unit, valid| {
                    let before = q.last();
                    if !coordinates(index, unit, valid, before, q.unit()) {
                        return false;
                    }
                    differences.forward(level, &mut q, &mut residuals.0);
                    q.advance();
                    sink.unit(&residuals.0);
                    true
                },
            )
        },
    );
    context.put_back(differences);
    context.extremes = range.values(lattice.step());
    done.then_some(plan)
}

/// Coordinates of a sampled unit. Exceptions repeat the coordinate before them as in [`quantized`], those at the
/// start the one after them: what they are says nothing about the lags.
#[inline(always)]
fn sampled<T: Float, W: Word>(lattice: &impl Scale<T>, unit: &[T; UNIT], q: &mut [W; UNIT]) {
    if !lattice.forward(unit, q) {
        let good = lattice.accepted::<W>(unit);
        let first = good.iter().position(|&good| good);
        repeat_over_exceptions(&good, first.map_or(W::default(), |i| q[i]), q);
    }
}

/// Replaces the coordinates of exceptions by the previous coordinate.
#[inline(always)]
fn repeat_over_exceptions<W: Word>(good: &[bool; UNIT], before: W, q: &mut [W; UNIT]) {
    for run in runs(&good.map(|good| !good)) {
        let last = if run.start > 0 {
            q[run.start - 1]
        } else {
            before
        };
        q[run].fill(last);
    }
}

/// Stores the values exactly, after rounding them with `snap`: predicts their bit patterns.
fn exact<T: Float, S: Sink>(
    snap: impl Fn(T) -> T,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Plan {
    let level = context.simd();
    sink.restart::<T::Order>(units(values.len()));
    exceptions.clear();
    let order = |values: &[T; UNIT], numbers: &mut [T::Order; UNIT]| {
        ordered::forward(&values.map(&snap), numbers);
    };
    let (lags, _) = choose::lags::<_, _, S::Estimate>(level, values, task.dims, order);
    let mut differences = context.take::<Differences<T::Order>>();
    differences.start(lags, task.dims);
    level.run(
        #[inline(always)]
        || {
            let mut numbers = Numbers::<T::Order>::default();
            let mut residuals = Aligned::<T::Order>::default();
            for_each_unit(
                values,
                #[inline(always)]
                |_, unit, _| {
                    memory::prefetch(unit, PREFETCH_BYTES);
                    ordered::forward(&unit.map(&snap), numbers.unit());
                    differences.forward(level, &mut numbers, &mut residuals.0);
                    numbers.advance();
                    sink.unit(&residuals.0);
                    true
                },
            )
        },
    );
    context.put_back(differences);
    Plan {
        mode: Mode::Exact,
        lags,
        step: 0.0,
        base: 0.0,
    }
}
