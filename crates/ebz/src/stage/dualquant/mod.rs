//! Dual quantization: values to residual units and back.
//!
//! ```text
//! values ─► numbers (quantized, or in order if exact) ─► differences at lags ─► zigzag units
//! ```
//!
//! Numbers are 16 bits where that is enough, 32 bits for tight bounds, and the bit patterns of the
//! values themselves where nothing may change. What cannot be quantized goes to the exact side
//! list, and its place in the sequence repeats the number before it.

mod choose;

use super::UNIT;
use super::exceptions::{self, Exceptions};
use super::lags::{Differences, Lags};
use super::ordered;
use super::quantize::{Quantizer, Real, Staged, Via};
use super::word::Word;
use crate::bound::Tolerance;
use crate::codec::{Context, Dims, Task};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::simd::Level;

/// How the numbers of a chunk come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// 16-bit lattice coordinates, in the arithmetic of the element.
    Narrow = 0,
    /// 32-bit lattice coordinates, in double precision.
    Wide = 1,
    /// Bit patterns, in the order of the values.
    Exact = 2,
}

/// Everything that the inverse needs to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plan {
    pub mode: Mode,
    pub lags: Lags,
    /// Lattice of the quantized modes.
    pub step: f64,
    pub base: f64,
}

impl Plan {
    /// Bytes of a plan in a stream.
    pub const SIZE: usize = 20;

    /// Appends the plan.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.mode as u8, self.lags.0, 0, 0]);
        out.extend_from_slice(&self.step.to_le_bytes());
        out.extend_from_slice(&self.base.to_le_bytes());
    }

    /// Reads a plan.
    pub fn read_from(bytes: &[u8; Self::SIZE]) -> Result<Self> {
        let [mode, lags, 0, 0, numbers @ ..] = *bytes else {
            return Err(Error::corrupt("unknown flags of a prediction"));
        };
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&numbers[at..at + 8]);
            f64::from_le_bytes(number)
        };
        let modes = [Mode::Narrow, Mode::Wide, Mode::Exact];
        let mode = modes.into_iter().find(|m| *m as u8 == mode);
        match mode {
            Some(mode) if lags < 8 => Ok(Self {
                mode,
                lags: Lags(lags),
                step: number(0),
                base: number(8),
            }),
            _ => Err(Error::corrupt("unknown kind of prediction")),
        }
    }

    /// 16-bit parts of a residual of elements `T`.
    pub fn parts<T: Element>(&self) -> usize {
        match self.mode {
            Mode::Narrow => 1,
            Mode::Wide => 2,
            Mode::Exact => <T as Staged>::Order::PARTS,
        }
    }
}

/// Number of units of a chunk.
pub(crate) fn units(values: usize) -> usize {
    values.div_ceil(UNIT)
}

/// What residuals would cost, from some units of them: the prediction of least cost is taken.
pub(crate) trait Estimate: Default {
    /// How many of the units of a chunk to look at; at least 1.
    fn samples(units: usize) -> usize;
    /// Adds a unit.
    fn add<W: Word>(&mut self, level: Level, residuals: &[W; UNIT]);
    /// The cost of the units so far.
    fn cost(&self) -> u64;
}

/// Takes the residual units of a chunk.
pub(crate) trait Sink {
    /// What units cost in this sink.
    type Estimate: Estimate;
    /// Forgets the units so far: another plan is tried.
    fn restart(&mut self);
    /// Takes the next unit.
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]);
}

/// Gives the residual units of a chunk.
pub(crate) trait Fetch {
    /// Gives the next unit.
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()>;
}

/// Turns values into residual units and exceptions, within an absolute tolerance or exactly.
pub(crate) fn forward<T: Element, S: Sink>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Plan {
    let mut mode = match task.tolerance {
        Tolerance::Abs(_) => Mode::Narrow,
        _ => Mode::Exact,
    };
    loop {
        let (done, plan) = match (mode, task.tolerance) {
            (Mode::Narrow, Tolerance::Abs(bound)) => {
                quantized::<T, T, u16, S>(mode, bound, values, task, context, exceptions, sink)
            }
            (Mode::Wide, Tolerance::Abs(bound)) => {
                quantized::<T, f64, u32, S>(mode, bound, values, task, context, exceptions, sink)
            }
            _ => (true, exact(values, task, context, exceptions, sink)),
        };
        if done {
            return plan;
        }
        mode = if mode == Mode::Narrow {
            Mode::Wide
        } else {
            Mode::Exact
        };
    }
}

/// Quantizes on a lattice; false if too many values do not fit it.
fn quantized<T, F, W, S>(
    mode: Mode,
    bound: f64,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> (bool, Plan)
where
    T: Element + Via<F>,
    F: Real,
    W: Word,
    S: Sink,
{
    let level = context.simd;
    let Some(lattice) = choose::lattice::<T, F, W>(level, bound, values, task.fill) else {
        let nothing = Plan {
            mode,
            lags: Lags(0),
            step: 0.0,
            base: 0.0,
        };
        return (false, nothing);
    };
    let quantize = |values: &[T; UNIT], q: &mut [W; UNIT]| lattice.forward(values, q);
    let lags = choose::lags::<_, _, S::Estimate>(level, values, task.dims, quantize);
    let plan = Plan {
        mode,
        lags,
        step: lattice.step.value(),
        base: lattice.base.value(),
    };
    // Beyond this share, wider numbers are smaller than exceptions.
    let most = values.len() / 32;
    sink.restart();
    exceptions.clear();
    let mut differences = context.take::<Differences<W>>();
    differences.start(lags, task.dims);
    let done = level.run(
        #[inline(always)]
        || {
            let mut q = [W::default(); UNIT];
            let mut last = W::default();
            for (number, (unit, valid)) in Units::of(values).enumerate() {
                if !lattice.forward(&unit, &mut q) {
                    let excepted = repeat_over_exceptions(&lattice, &unit, valid, last, &mut q);
                    exceptions.push_unit(number, &unit, &excepted);
                    if exceptions.len() > most {
                        return false;
                    }
                }
                last = q[UNIT - 1];
                differences.forward(&mut q);
                sink.unit(&q);
            }
            true
        },
    );
    context.put_back(differences);
    (done, plan)
}

/// Gives values that cannot be quantized the number before them, and names them.
#[cold]
fn repeat_over_exceptions<T: Element + Via<F>, F: Real, W: Word>(
    lattice: &Quantizer<T, F>,
    unit: &[T; UNIT],
    valid: usize,
    mut last: W,
    q: &mut [W; UNIT],
) -> [bool; UNIT] {
    std::array::from_fn(|i| {
        let good = lattice.accepts::<W>(unit[i]);
        if !good {
            q[i] = last;
        }
        last = q[i];
        !good && i < valid
    })
}

/// Predicts the bit patterns.
fn exact<T: Element, S: Sink>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> Plan {
    let level = context.simd;
    sink.restart();
    exceptions.clear();
    let number = |values: &[T; UNIT], numbers: &mut [T::Order; UNIT]| {
        ordered::forward(values, numbers);
        true
    };
    let lags = choose::lags::<_, _, S::Estimate>(level, values, task.dims, number);
    let mut differences = context.take::<Differences<T::Order>>();
    differences.start(lags, task.dims);
    level.run(
        #[inline(always)]
        || {
            let mut numbers = [T::Order::default(); UNIT];
            for (unit, _) in Units::of(values) {
                ordered::forward(&unit, &mut numbers);
                differences.forward(&mut numbers);
                sink.unit(&numbers);
            }
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

/// Turns residual units and the list of exceptions back into values.
pub(crate) fn inverse<T: Element, S: Fetch>(
    plan: &Plan,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    list: &[u8],
    out: &mut [T],
) -> Result<()> {
    match plan.mode {
        Mode::Narrow => {
            let (step, base) = (<T as Real>::of(plan.step), <T as Real>::of(plan.base));
            let values = |q: &[u16; UNIT], values: &mut [T; UNIT]| {
                Quantizer::<T, T>::inverse(step, base, q, values);
            };
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::Wide => {
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| {
                Quantizer::<T, f64>::inverse(plan.step, plan.base, q, values);
            };
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

/// Units in, values out; `values` turns the numbers of a unit into values.
fn restore<T: Element, W: Word, S: Fetch>(
    lags: Lags,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    out: &mut [T],
    values: impl Fn(&[W; UNIT], &mut [T; UNIT]),
) -> Result<()> {
    let level = context.simd;
    let mut differences = context.take::<Differences<W>>();
    differences.start(lags, dims);
    let done = level.run(
        #[inline(always)]
        || {
            let mut numbers = [W::default(); UNIT];
            let (units, rest) = out.as_chunks_mut::<UNIT>();
            for unit in units {
                source.unit(&mut numbers)?;
                differences.inverse(level, &mut numbers);
                values(&numbers, unit);
            }
            if !rest.is_empty() {
                let mut unit = [T::default(); UNIT];
                source.unit(&mut numbers)?;
                differences.inverse(level, &mut numbers);
                values(&numbers, &mut unit);
                rest.copy_from_slice(&unit[..rest.len()]);
            }
            Ok(())
        },
    );
    context.put_back(differences);
    done
}

/// The units of some values, with the number of values in each; the last one is filled up with
/// its last value.
struct Units<'a, T> {
    values: &'a [T],
}

impl<'a, T: Element> Units<'a, T> {
    fn of(values: &'a [T]) -> Self {
        Self { values }
    }
}

impl<T: Element> Iterator for Units<'_, T> {
    type Item = ([T; UNIT], usize);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some((unit, rest)) = self.values.split_first_chunk() {
            self.values = rest;
            return Some((*unit, UNIT));
        }
        let last = *self.values.last()?;
        let mut unit = [last; UNIT];
        let valid = self.values.len();
        unit[..valid].copy_from_slice(self.values);
        self.values = &[];
        Some((unit, valid))
    }
}

/// Compiled for `level`: see [`Level::run`].
fn at_level<R>(level: Level, f: impl FnOnce() -> R) -> R {
    level.run(f)
}
