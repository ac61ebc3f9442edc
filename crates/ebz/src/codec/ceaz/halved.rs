//! Halved chunks: every second value along each axis forms a coarse chunk, from which the others
//! are predicted.

use super::decode::decode_parts;
use super::encode::{Gather, encode_parts};
use super::estimate::{Entropy, FRACTION_BITS};
use super::{Rewrite, Scratch, decode_chunk, encode_chunk, rewrite};
use crate::bits::varint;
use crate::bound::Tolerance;
use crate::codec::{Context, Dims, Task};
use crate::element::Float;
use crate::error::{Error, Result};
use crate::stage::halving::{self, Fixed, Free, Halving, Lattice, Steps};
use crate::stage::{UNIT, dualquant, exceptions};

/// First byte of such a chunk, in place of a mode: residuals relative to predictions, or on the
/// lattice of the bound.
const FREE: u8 = 255;
const FIXED: u8 = 254;

/// Smaller chunks are never halved.
const MIN_VALUES_TO_HALVE: usize = 1 << 12;

/// Interpolation is tried if lags cost fewer bits per value than this.
const MAX_BITS_BY_LAGS: u64 = 3;
/// The same for small chunks, where a trial is cheap.
const MAX_BITS_BY_LAGS_IF_SMALL: u64 = 8;
const MAX_VALUES_OF_SMALL_CHUNK: usize = 1 << 18;

/// Bound of the coarse values relative to the bound: their errors propagate to predictions.
const COARSE_BOUND: f64 = 0.75;

/// Scratch buffers for coarse values.
#[derive(Default)]
struct Coarse<T> {
    values: Vec<T>,
    bytes: Vec<u8>,
}

/// How to halve a chunk, and the cost of a unit by lags below which halving is tried.
pub(super) fn candidate(task: &Task<'_>) -> Option<(Halving, u64)> {
    let plain = matches!(task.tolerance, Tolerance::Abs(_)) && task.fill.is_empty();
    let values = task.dims.len();
    let bits = match values <= MAX_VALUES_OF_SMALL_CHUNK {
        true => MAX_BITS_BY_LAGS_IF_SMALL,
        false => MAX_BITS_BY_LAGS,
    };
    let halving = Halving::of(task.dims).filter(|_| plain && values >= MIN_VALUES_TO_HALVE);
    halving.map(|halving| (halving, (bits * UNIT as u64) << FRACTION_BITS))
}

/// Appends the halved chunk if it is smaller than units of this cost; otherwise returns false.
pub(super) fn encode<T: Float>(
    values: &[T],
    task: &Task<'_>,
    halving: Halving,
    cost: u64,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let mut coarse = context.take::<Coarse<T>>();
    let worth = match rewrite(task.params)? {
        Rewrite::Drifts => {
            encode_with::<T, Free<T>>(FREE, values, task, halving, cost, context, &mut coarse, out)
        }
        Rewrite::Exact => encode_with::<T, Fixed<T>>(
            FIXED,
            values,
            task,
            halving,
            cost,
            context,
            &mut coarse,
            out,
        ),
    };
    context.put_back(coarse);
    worth
}

#[expect(
    clippy::too_many_arguments,
    reason = "the state of a chunk and of the codec"
)]
fn encode_with<T: Float, S: Steps<T>>(
    kind: u8,
    values: &[T],
    task: &Task<'_>,
    halving: Halving,
    cost: u64,
    context: &mut Context,
    coarse: &mut Coarse<T>,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let Tolerance::Abs(bound) = task.tolerance else {
        return Ok(false);
    };
    let Some(lattice) = Lattice::<T, S>::new(bound) else {
        return Ok(false);
    };
    let simd = context.simd();
    let units = dualquant::units(values.len()) as u64;
    let sampled = |coarse: &[T]| {
        let unit = halving::sampled_cost::<T, S, Entropy>(values, halving, &lattice, coarse, simd);
        unit.saturating_mul(units)
    };
    // Lags are faster: use them unless interpolation saves more than 5 %.
    let most = cost.saturating_mul(units) / 20 * 19;

    // 1. Optimistic test: coarse values without errors, at the same cost as the others.
    let Coarse { values: few, bytes } = coarse;
    halving.gather(values, few);
    let share = most / values.len() as u64 * few.len() as u64;
    if sampled(few).saturating_add(share) > most {
        return Ok(false);
    }

    // 2. Coarse values as the decoder reconstructs them.
    bytes.clear();
    let share = if kind == FREE { COARSE_BOUND } else { 1.0 };
    let coarse_task = Task {
        dims: halving.coarse(),
        tolerance: Tolerance::Abs(bound * share),
        ..*task
    };
    encode_chunk(few, &coarse_task, context, bytes)?;
    decode_chunk(bytes, halving.coarse(), context, few)?;
    if sampled(few).saturating_add((8 * bytes.len() as u64) << FRACTION_BITS) > most {
        return Ok(false);
    }

    // 3. All other values.
    let mut scratch = context.take::<Scratch>();
    let mut sink = Gather::new(&mut scratch.residuals, simd, 0);
    let exceptions = &mut scratch.exceptions;
    let done = halving::forward(values, halving, &lattice, few, simd, exceptions, &mut sink);
    if done {
        out.push(kind);
        out.extend_from_slice(&lattice.step().to_le_bytes());
        varint::write_block(bytes, out);
        encode_parts::<T>(1, task, simd, &mut scratch, out)?;
    }
    context.put_back(scratch);
    Ok(done)
}

/// Whether a chunk is halved.
pub(super) fn is_halved(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(&(FREE | FIXED)))
}

/// Decodes the output of [`encode`].
pub(super) fn decode<T: Float>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    match bytes.split_first() {
        Some((&FREE, bytes)) => decode_with::<T, Free<T>>(bytes, dims, context, out),
        Some((_, bytes)) => decode_with::<T, Fixed<T>>(bytes, dims, context, out),
        None => Err(Error::truncated("an empty chunk")),
    }
}

fn decode_with<T: Float, S: Steps<T>>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let (step, mut bytes) = bytes
        .split_first_chunk()
        .ok_or_else(|| Error::truncated("the step of a halved chunk is cut off"))?;
    let step = f64::from_le_bytes(*step);
    if !step.is_finite() {
        return Err(Error::corrupt("the step of a halved chunk is not finite"));
    }
    let steps = S::new(step);
    let halving = Halving::of(dims)
        .filter(|_| dims.len() >= MIN_VALUES_TO_HALVE)
        .ok_or_else(|| Error::corrupt("a halved chunk whose extents do not allow it"))?;
    let coarse_bytes = varint::read_block(&mut bytes)?;

    // 1. Coarse values, kept in the cache: they are read again at once.
    let mut coarse = context.take::<Coarse<T>>();
    coarse.values.resize(halving.coarse().len(), T::default());
    let streaming = std::mem::take(&mut context.streaming);
    let mut result = decode_chunk(coarse_bytes, halving.coarse(), context, &mut coarse.values);
    context.streaming = streaming;

    // 3. All other values.
    if result.is_ok() {
        let mut scratch = context.take::<Scratch>();
        let units = dualquant::units(out.len());
        result = decode_parts(1, bytes, units, context.simd(), &mut scratch).and_then(
            |(list, mut source)| {
                halving::inverse(halving, steps, &coarse.values, context, &mut source, out)?;
                exceptions::restore(list, out)
            },
        );
        context.put_back(scratch);
    }
    context.put_back(coarse);
    result
}
