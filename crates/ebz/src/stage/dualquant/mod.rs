//! Dual quantization: values to residual units and back.
//!
//! ```text
//! values ─► integers (quantized, or ordered bit patterns) ─► differences at lags ─► zigzag units
//! ```
//!
//! The integers are lattice coordinates of 16 bits, or 32 bits for tight bounds, or the bit patterns
//! of the values if these must be exact. Values that cannot be quantized go to the exact side list;
//! in the sequence, the integer before them is repeated.

mod choose;

pub(crate) use choose::{relative, sampled_places, scattered_place};

use super::exceptions::{self, Exceptions};
use super::fused::Source;
use super::lags::{Differences, Lags, Numbers};
use super::ordered;
use super::quantize::{self, PREFETCH_BYTES, PointRange, Quantizer, Scale};
use super::relative::{Lattice, Relative};
use super::{Aligned, UNIT};
use crate::bound::Tolerance;
use crate::element::Float;
use crate::element::real::Real;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::request::{Dims, Task};
use crate::simd::Level;
use crate::simd::memory;
use crate::workspace::Context;

/// How the values of a chunk are mapped to integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// 16-bit lattice coordinates, in the arithmetic of the element.
    Narrow = 0,
    /// 32-bit lattice coordinates, in double precision.
    Wide = 1,
    /// Bit patterns, ordered like the values.
    Exact = 2,
    /// Like `Narrow`, on the lattice of a pointwise relative bound.
    NarrowRelative = 3,
    /// Like `NarrowRelative`, with 32-bit coordinates.
    WideRelative = 4,
    /// Like `WideRelative`, in double precision.
    FineRelative = 5,
}

impl Mode {
    const ALL: [Self; 6] = [
        Self::Narrow,
        Self::Wide,
        Self::Exact,
        Self::NarrowRelative,
        Self::WideRelative,
        Self::FineRelative,
    ];
}

/// The parameters of the inverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plan {
    pub mode: Mode,
    pub lags: Lags,
    /// Lattice of the quantized modes; the base is in steps.
    pub step: f64,
    pub base: f64,
}

impl Plan {
    /// Encoded size in bytes.
    pub const SIZE: usize = 20;

    /// Encodes a plan.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..2].copy_from_slice(&[self.mode as u8, self.lags.0]);
        bytes[4..12].copy_from_slice(&self.step.to_le_bytes());
        bytes[12..].copy_from_slice(&self.base.to_le_bytes());
        bytes
    }

    /// Decodes a plan.
    pub fn read_from(bytes: &[u8; Self::SIZE]) -> Result<Self> {
        let [mode, lags, 0, 0, numbers @ ..] = *bytes else {
            return Err(Error::corrupt("unknown flags in a prediction plan"));
        };
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&numbers[at..at + 8]);
            f64::from_le_bytes(number)
        };
        let mode = Mode::ALL.into_iter().find(|m| *m as u8 == mode);
        match mode {
            Some(mode) if lags < 8 => Ok(Self {
                mode,
                lags: Lags(lags),
                step: number(0),
                base: number(8),
            }),
            _ => Err(Error::corrupt("unknown mode or lags in a prediction plan")),
        }
    }

    /// Number of 16-bit parts of a residual, for elements `T`.
    pub fn parts<T: Float>(&self) -> usize {
        match self.mode {
            Mode::Narrow | Mode::NarrowRelative => 1,
            Mode::Wide | Mode::WideRelative | Mode::FineRelative => 2,
            Mode::Exact => <T as Real>::Order::PARTS,
        }
    }
}

/// Largest 16-bit and 32-bit coordinates.
pub(crate) const MAX_NARROW: i64 = (1 << 15) - 2;
const MAX_WIDE: i64 = (1 << 31) - 2;

/// Number of units in a chunk of this many values.
pub(crate) fn units(values: usize) -> usize {
    values.div_ceil(UNIT)
}

/// Cost estimate from sampled residual units; the prediction with the lowest cost is chosen.
pub(crate) trait Estimate: Default {
    /// Whether to sample the first rows and planes too, which have no previous ones.
    const EVERYWHERE: bool = false;
    /// Number of units to sample from a chunk; at least 1.
    fn samples(units: usize) -> usize;
    /// Adds a unit.
    fn add<W: Word>(&mut self, level: Level, residuals: &[W; UNIT]);
    /// The cost of the units so far.
    fn cost(&self) -> u64;
}

/// Consumer of the residual units of a chunk.
pub(crate) trait Sink {
    /// Estimate of the cost of units in this sink.
    type Estimate: Estimate;
    /// Whether the sink accepts units with this estimated cost per unit. If not, it gets none.
    fn wants(&mut self, _cost: u64) -> bool {
        true
    }
    /// Discards the units so far and starts a new plan with this many units.
    fn restart<W: Word>(&mut self, units: usize);
    /// Consumes the next unit.
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]);
    /// Consumes all units of a chunk of 16-bit coordinates at once; see [`super::fused::encode`].
    fn fused(&mut self, _: Source<'_>, _: &mut Context) -> Option<Option<PointRange>> {
        None
    }
}

/// Source of the residual units of a chunk.
pub(crate) trait Fetch {
    /// Returns the next unit in `residuals`.
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()>;
    /// Decodes a chunk of 16-bit coordinates at once; `None` if there is no kernel.
    fn fused<T: Float>(
        &mut self,
        _: &Plan,
        _: Dims,
        _: &mut Context,
        _: &mut [T],
    ) -> Option<Result<()>> {
        None
    }
}

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
    let narrow = match choose::base(step, MAX_NARROW, values, fill) {
        _ if !quantize::normal::<T>(step) => None,
        Some(0) => quantized!(Narrow, u16, T, 0, MAX_NARROW),
        Some(base) => quantized!(Narrow, u16, f64, base, MAX_NARROW),
        None => None,
    };
    let most_wide = MAX_WIDE.min(T::FARTHEST);
    let wide = || {
        let base = choose::base(step, most_wide, values, fill)?;
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
    let base = choose::base(step, MAX_NARROW, values, &task.fill)?;
    macro_rules! lags {
        ($arithmetic:ty) => {{
            let lattice =
                Quantizer::<f32, $arithmetic>::new(step, base, MAX_NARROW, bound, &task.fill);
            choose::lags::<_, u16, E>(level, values, task.dims, |unit, q| {
                sampled(&lattice, unit, q)
            })
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
    let sampled = |unit: &[T; UNIT], q: &mut [W; UNIT]| sampled(&lattice, unit, q);
    let (lags, cost) = choose::lags::<_, _, S::Estimate>(level, values, task.dims, sampled);
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
            let good = accepted::<T, W>(&lattice, unit);
            repeat_over_exceptions(&good, before, q);
            let excepted = std::array::from_fn(|i| !good[i] && i < valid);
            exceptions.push_unit(index, &unit.map(&snap), &excepted);
            exceptions.bytes() <= most
        },
    );
    if size_of::<W>() == size_of::<u16>() {
        let source = Source {
            dims: task.dims,
            lags,
            plain: lattice.plain(values),
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
        let good = accepted::<T, W>(lattice, unit);
        let first = good.iter().position(|&good| good);
        repeat_over_exceptions(&good, first.map_or(W::default(), |i| q[i]), q);
    }
}

/// Which values of a unit have coordinates.
#[inline(always)]
fn accepted<T: Float, W: Word>(lattice: &impl Scale<T>, unit: &[T; UNIT]) -> [bool; UNIT] {
    let mut good = [false; UNIT];
    for (good, &x) in good.iter_mut().zip(unit) {
        *good = lattice.accepts::<W>(x);
    }
    good
}

/// Replaces the coordinates of exceptions by the previous coordinate.
#[cold]
fn repeat_over_exceptions<W: Word>(good: &[bool; UNIT], before: W, q: &mut [W; UNIT]) {
    let mut last = before;
    for (q, good) in q.iter_mut().zip(good) {
        if *good {
            last = *q;
        } else {
            *q = last;
        }
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

/// Converts residual units and the side list back to values.
pub(crate) fn inverse<T: Float, S: Fetch>(
    plan: &Plan,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    list: &[u8],
    out: &mut [T],
) -> Result<()> {
    let level = context.simd();
    match plan.mode {
        Mode::Narrow => {
            if let Some(done) = source.fused(plan, dims, context, out) {
                done?;
                return exceptions::restore(list, out);
            }
            let lattice = (plan.step, plan.base);
            let values = |q: &[u16; UNIT], values: &mut [T; UNIT], streaming: bool| {
                quantize::narrow_values(level, lattice, q, values, streaming);
            };
            restore_units(plan.lags, dims, context, source, out, values)?;
        }
        Mode::Wide => {
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| {
                Quantizer::<T, f64>::inverse(plan.step, plan.base, q, values);
            };
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::NarrowRelative => {
            let lattice = Lattice::<T>::new(plan.step, plan.base);
            let values = |q: &[u16; UNIT], values: &mut [T; UNIT]| lattice.inverse(q, values);
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::WideRelative => {
            let lattice = Lattice::<T>::new(plan.step, plan.base);
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| lattice.inverse(q, values);
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::FineRelative => {
            let lattice = Lattice::<f64>::new(plan.step, plan.base);
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| lattice.inverse(q, values);
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::Exact => {
            restore(
                plan.lags,
                dims,
                context,
                source,
                out,
                ordered::inverse::<T, T::Order>,
            )?;
        }
    }
    exceptions::restore(list, out)
}

/// Decodes all units; `values` converts the integers of a unit to values.
fn restore<T: Float, W: Word, S: Fetch>(
    lags: Lags,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    out: &mut [T],
    values: impl Fn(&[W; UNIT], &mut [T; UNIT]),
) -> Result<()> {
    let level = context.simd();
    restore_units(
        lags,
        dims,
        context,
        source,
        out,
        #[inline(always)]
        |numbers: &[W; UNIT], unit: &mut [T; UNIT], streaming| {
            quantize::streamed(
                level,
                unit,
                streaming,
                #[inline(always)]
                |unit| values(numbers, unit),
            );
        },
    )
}

/// Like [`restore`], but `values` does non-temporal stores itself; its last argument requests them.
fn restore_units<T: Float, W: Word, S: Fetch>(
    lags: Lags,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    out: &mut [T],
    values: impl Fn(&[W; UNIT], &mut [T; UNIT], bool),
) -> Result<()> {
    let (level, streaming) = (context.simd(), context.streaming);
    let mut differences = context.take::<Differences<W>>();
    differences.start(lags, dims);
    let done = level.run(
        #[inline(always)]
        || {
            let mut residuals = Aligned::<W>::default();
            let mut numbers = Numbers::<W>::default();
            let (units, rest) = out.as_chunks_mut::<UNIT>();
            for unit in units {
                source.unit(&mut residuals.0)?;
                differences.inverse(level, &mut residuals.0, &mut numbers);
                values(numbers.unit(), unit, streaming);
            }
            if !rest.is_empty() {
                let mut decoded = Aligned::<T>::default();
                source.unit(&mut residuals.0)?;
                differences.inverse(level, &mut residuals.0, &mut numbers);
                values(numbers.unit(), &mut decoded.0, false);
                rest.copy_from_slice(&decoded.0[..rest.len()]);
            }
            Ok(())
        },
    );
    if streaming {
        memory::end_streaming();
    }
    context.put_back(differences);
    done
}

/// Calls `f` with the index, the values and the number of valid values of every unit, until it
/// returns false; returns whether it never did. The last unit is padded with its last value.
#[inline(always)]
pub(crate) fn for_each_unit<T: Float>(
    values: &[T],
    mut f: impl FnMut(usize, &[T; UNIT], usize) -> bool,
) -> bool {
    let (units, rest) = values.as_chunks::<UNIT>();
    for (index, unit) in units.iter().enumerate() {
        if !f(index, unit, UNIT) {
            return false;
        }
    }
    rest.is_empty() || f(units.len(), &padded(rest), rest.len())
}

/// The first values as a unit, padded with the last one.
pub(crate) fn padded<T: Float>(values: &[T]) -> [T; UNIT] {
    let mut unit = [values.last().copied().unwrap_or_default(); UNIT];
    let length = values.len().min(UNIT);
    unit[..length].copy_from_slice(&values[..length]);
    unit
}
