//! Chunks whose values are predicted from every second value along each axis, which are a chunk of
//! their own.

use super::decode::{decode_parts, take_block};
use super::encode::{Gather, encode_parts};
use super::estimate::{Entropy, POINT};
use super::{Scratch, decode, encode};
use crate::bound::Tolerance;
use crate::codec::{Context, Dims, Task};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stage::halving::{self, Halving, Lattice};
use crate::stage::{UNIT, dualquant, exceptions, varint};

/// First byte of such a chunk, where others have a mode.
const HALVED: u8 = 255;

/// Smaller chunks are not worth the second one.
const SMALLEST: usize = 1 << 12;

/// Interpolation may be better than lags where these make units that cost less: three bits per
/// value.
pub(super) const PROMISING: u64 = 3 * (UNIT as u64) << POINT;

/// The bound of coarse values, as a part of the bound: their errors spread to predictions.
const COARSE_BOUND: f64 = 0.5;

/// Memory for coarse values.
#[derive(Default)]
struct Coarse<T> {
    values: Vec<T>,
    bytes: Vec<u8>,
}

/// How a chunk could be halved.
pub(super) fn candidate(task: &Task<'_>) -> Option<Halving> {
    let plain = matches!(task.tolerance, Tolerance::Abs(_)) && task.fill.is_none();
    let large = task.dims.len() >= SMALLEST;
    Halving::of(task.dims).filter(|_| plain && large)
}

/// Appends the chunk, halved, if that takes less than units of this cost; otherwise nothing.
pub(super) fn encode<T: Element>(
    values: &[T],
    task: &Task<'_>,
    halving: Option<Halving>,
    cost: u64,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let (Some(halving), Tolerance::Abs(bound)) = (halving, task.tolerance) else {
        return Ok(false);
    };
    let Some(lattice) = Lattice::<T>::new(bound) else {
        return Ok(false);
    };
    // 1. Coarse values, as the decoder will see them.
    let mut coarse = context.take::<Coarse<T>>();
    let Coarse { values: few, bytes } = &mut *coarse;
    halving.gather(values, few);
    bytes.clear();
    let coarse_task = Task {
        dims: halving.coarse(),
        tolerance: Tolerance::Abs(bound * COARSE_BOUND),
        ..*task
    };
    encode::encode(few, &coarse_task, context, bytes)?;
    decode::decode(bytes, halving.coarse(), context, few)?;

    // 2. Is it worth it?
    let simd = context.simd();
    let units = dualquant::units(values.len()) as u64;
    let own = halving::sampled_cost::<T, Entropy>(values, halving, &lattice, few, simd);
    let total = own.saturating_mul(units) + ((8 * bytes.len() as u64) << POINT);
    let mut worth = total < cost.saturating_mul(units);

    // 3. All other values.
    if worth {
        let mut scratch = context.take::<Scratch>();
        let mut sink = Gather {
            residuals: &mut scratch.residuals,
            simd,
            may_decline: false,
            declined: None,
        };
        let exceptions = &mut scratch.exceptions;
        worth = halving::forward(values, halving, &lattice, few, simd, exceptions, &mut sink);
        if worth {
            out.push(HALVED);
            out.extend_from_slice(&lattice.step().to_le_bytes());
            varint::write(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
            encode_parts::<T>(1, task, simd, &mut scratch, out)?;
        }
        context.put_back(scratch);
    }
    context.put_back(coarse);
    Ok(worth)
}

/// The bytes behind the first one of a halved chunk.
pub(super) fn announced(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(&[HALVED])
}

/// Fills `out` from what [`encode`] appended behind the first byte.
pub(super) fn decode<T: Element>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let (step, mut bytes) = bytes
        .split_first_chunk()
        .ok_or_else(|| Error::truncated("the step of a halved chunk is cut off"))?;
    let step = f64::from_le_bytes(*step);
    let halving = Halving::of(dims)
        .filter(|_| dims.len() >= SMALLEST)
        .ok_or_else(|| Error::corrupt("a chunk that cannot be halved"))?;
    let coarse_bytes = take_block(&mut bytes)?;

    // 1. Coarse values, which are read again right away.
    let mut coarse = context.take::<Coarse<T>>();
    coarse.values.resize(halving.coarse().len(), T::default());
    let streaming = std::mem::take(&mut context.streaming);
    let mut result = decode::decode(coarse_bytes, halving.coarse(), context, &mut coarse.values);
    context.streaming = streaming;

    // 3. All other values.
    if result.is_ok() {
        let mut scratch = context.take::<Scratch>();
        let units = dualquant::units(out.len());
        result = decode_parts(1, bytes, units, context.simd(), &mut scratch).and_then(
            |(list, mut source)| {
                halving::inverse(halving, step, &coarse.values, context, &mut source, out)?;
                exceptions::restore(list, out)
            },
        );
        context.put_back(scratch);
    }
    context.put_back(coarse);
    result
}
