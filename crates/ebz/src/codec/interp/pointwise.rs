//! Bounds relative to each value.
//!
//! ```text
//! values ─► coordinates on a nearly logarithmic lattice, escapes ─► encoded like any other array
//! ```
//!
//! Coordinates are integers. Encoded with a bound below one half, they are restored by rounding.
//! Two checks prove the bound of a value: that of the lattice ([`crate::stage::relative`]), and
//! that of the coordinates.

use super::kernel::{Kernel, launch};
use super::number::Number;
use super::plan::Source;
use crate::bits::varint;
use crate::codec::{Context, Dims, Task};
use crate::element::Float;
use crate::element::log_lattice::LogLattice;
use crate::element::real::Via;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::fill::FillValues;
use crate::stage::UNIT;
use crate::stage::dualquant::{padded, relative};
use crate::stage::exceptions::{self, Exceptions};
use crate::stage::quantize::Scale;
use crate::stage::relative::Lattice;

/// Bound of coordinates. Just below one half, so that lattice points stay close to integers.
const COORDINATE_BOUND: f64 = 0.499_99;
/// The first byte of chunks with 16-bit coordinates, and of those with 32-bit coordinates.
const NARROW: u8 = 3;
const WIDE: u8 = 3 | 1 << 3;
/// 16-bit coordinates are used if at most one value in this many must be escaped; beyond that,
/// 32-bit ones are smaller.
const MIN_VALUES_PER_ESCAPE: usize = 32;

/// Scratch buffers of both directions.
#[derive(Default)]
struct Memory<C> {
    coordinates: Vec<C>,
    escapes: Exceptions,
}

/// Whether a chunk was encoded by this module.
pub(super) fn is_pointwise(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(&(NARROW | WIDE)))
}

/// Appends an encoded chunk, or the raw values if no lattice is suitable.
pub(super) fn encode<T: Number>(
    values: &[T],
    bound: f64,
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    if !encode_on_lattice(values, bound, task, context, out)? {
        out.extend_from_slice(bytemuck::cast_slice(values));
    }
    Ok(())
}

/// Appends a chunk encoded on the first suitable lattice, if there is one.
fn encode_on_lattice<T: Number>(
    values: &[T],
    bound: f64,
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<bool> {
    if let Some(lattice) = relative::<T, T, u16>(bound, values, &task.fill) {
        let most = values.len() / MIN_VALUES_PER_ESCAPE;
        if encode_on::<T, f32, u16>(NARROW, &lattice, values, most, task, context, out)? {
            return Ok(true);
        }
    }
    match relative::<T, f64, u32>(bound, values, &task.fill) {
        Some(lattice) => {
            let most = usize::MAX;
            encode_on::<T, f64, u32>(WIDE, &lattice, values, most, task, context, out)
        }
        None => Ok(false),
    }
}

/// Appends a chunk encoded on a lattice; appends nothing and returns false if it would take more
/// than `most` escapes.
fn encode_on<T: Number, C: Number, W: Word>(
    kind: u8,
    lattice: &impl Scale<T>,
    values: &[T],
    most: usize,
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let mut memory = context.take::<Memory<C>>();
    let Memory {
        coordinates,
        escapes,
    } = &mut *memory;
    // 1. Coordinates; values without one are escaped.
    escapes.clear();
    coordinates.clear();
    let mut escaped = 0;
    let isa = context.simd();
    for (unit, start) in values.chunks(UNIT).zip((0..).step_by(UNIT)) {
        let (good, numbers) = launch(
            isa,
            Forward::<T, W, _> {
                lattice,
                values: unit,
                word: std::marker::PhantomData,
            },
        );
        let numbers = numbers[..unit.len()].iter();
        coordinates.extend(numbers.map(|q| C::from_f64(q.signed() as f64)));
        if good {
            continue;
        }
        let accepted = lattice.accepted::<W>(&padded(unit));
        for (i, (&value, accepted)) in unit.iter().zip(accepted).enumerate() {
            if !accepted {
                // A coordinate that is cheap to predict.
                let at: usize = start + i;
                coordinates[at] = match at {
                    0 => C::default(),
                    _ => coordinates[at - 1],
                };
                escapes.push(at, value);
                escaped += 1;
            }
        }
    }
    let suitable = escaped <= most;
    let mut result = Ok(());
    if suitable {
        // 2. Encode the coordinates like any other array.
        let source = Source {
            values: coordinates,
            dims: task.dims,
            bound: COORDINATE_BOUND,
            fill: FillValues::NONE.typed(C::from_f64),
        };
        out.push(kind);
        out.extend_from_slice(&lattice.step().to_le_bytes());
        out.extend_from_slice(&lattice.base().to_le_bytes());
        escapes.write_block_to::<T>(out);
        result = super::encode_within(&source, task, context, out);
    }
    context.put_back(memory);
    result.map(|()| suitable)
}

struct Forward<'a, T, W, S> {
    lattice: &'a S,
    values: &'a [T],
    word: std::marker::PhantomData<W>,
}

impl<T: Float, W: Word, S: Scale<T>> Kernel for Forward<'_, T, W, S> {
    type Output = (bool, [W; UNIT]);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let mut numbers = [W::default(); UNIT];
        let mut unit = [T::default(); UNIT];
        let values = match self.values.first_chunk::<UNIT>() {
            Some(values) => values,
            None => {
                unit[..self.values.len()].copy_from_slice(self.values);
                &unit
            }
        };
        let good = self.lattice.forward(values, &mut numbers);
        (good, numbers)
    }
}

/// Decodes a chunk that [`is_pointwise`] accepts.
pub(super) fn decode<T: Number>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    match bytes.split_first() {
        Some((&NARROW, rest)) => decode_on::<T, T, f32, u16>(rest, dims, context, out),
        Some((_, rest)) => decode_on::<T, f64, f64, u32>(rest, dims, context, out),
        None => Err(Error::truncated("interp chunk header")),
    }
}

fn decode_on<T: Number + Via<F>, F: LogLattice, C: Number, W: Word>(
    mut bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let (head, rest) = bytes
        .split_first_chunk::<16>()
        .ok_or_else(|| Error::truncated("interp chunk header"))?;
    bytes = rest;
    let number = |at: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&head[at..at + 8]);
        f64::from_le_bytes(eight)
    };
    let lattice = Lattice::<F>::new(number(0), number(8));
    let list = varint::read_block(&mut bytes)?;
    // 2. Coordinates.
    let mut memory = context.take::<Memory<C>>();
    memory.coordinates.resize(out.len(), C::default());
    let result = super::decode_within(bytes, dims, context, false, &mut memory.coordinates);
    // 1. Values; escapes are exact.
    if result.is_ok() {
        let isa = context.simd();
        let units = out.chunks_mut(UNIT).zip(memory.coordinates.chunks(UNIT));
        for (values, coordinates) in units {
            launch(
                isa,
                Inverse::<T, F, C, W> {
                    lattice,
                    coordinates,
                    values,
                    word: std::marker::PhantomData,
                },
            );
        }
    }
    context.put_back(memory);
    result?;
    exceptions::restore(list, out)
}

struct Inverse<'a, T, F: LogLattice, C, W> {
    lattice: Lattice<F>,
    coordinates: &'a [C],
    values: &'a mut [T],
    word: std::marker::PhantomData<W>,
}

impl<T: Float + Via<F>, F: LogLattice, C: Number, W: Word> Kernel for Inverse<'_, T, F, C, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut numbers = [W::default(); UNIT];
        for (number, c) in numbers.iter_mut().zip(self.coordinates) {
            // Corrupt streams may contain any value; the conversion saturates.
            let whole = c.to_f64().round_ties_even() as i32;
            *number = W::truncate(i64::from(whole).cast_unsigned());
        }
        let mut unit = [T::default(); UNIT];
        self.lattice.inverse(&numbers, &mut unit);
        let count = self.values.len();
        self.values.copy_from_slice(&unit[..count]);
    }
}
