//! 16-bit elements: widened for codecs that compute in single precision.
//!
//! ```text
//! values ─► widen ─► codec, with a tolerance adjusted for rounding ─► body
//!        └─► compare with decoded and narrowed values ─► exact side list
//! ```
//!
//! Output: the length of the side list, the side list, and the codec's body. The bound holds for
//! the narrowed values, which the user gets.

mod check;
mod tolerance;

use super::{Context, Dims, Entry, Task};
use crate::allocate;
use crate::bits::varint;
use crate::bound::Tolerance;
use crate::element::{Element, Float};
use crate::error::Result;
use crate::fill::FillValues;
use crate::stage::exceptions::{self, Exceptions};
use check::Check;

/// Values checked at a time.
const BLOCK_VALUES: usize = 256;

/// Buffers reused between chunks.
#[derive(Default)]
struct Scratch<F> {
    values: Vec<F>,
    decoded: Vec<F>,
    body: Vec<u8>,
    exceptions: Exceptions,
    list: Vec<u8>,
}

/// Appends the encoded chunk.
pub(super) fn encode<T: Element>(
    entry: &Entry,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut scratch = context.take::<Scratch<T::Wide>>();
    scratch.body.clear();
    scratch.list.clear();
    let result = encode_parts(entry, values, task, context, &mut scratch);
    varint::write_block(&scratch.list, out);
    out.extend_from_slice(&scratch.body);
    context.put_back(scratch);
    result
}

/// Encodes body and side list into the scratch buffers.
fn encode_parts<T: Element>(
    entry: &Entry,
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    scratch: &mut Scratch<T::Wide>,
) -> Result<()> {
    let level = context.simd();
    scratch.values.resize(values.len(), T::default().to_wide());
    level.run(
        #[inline(always)]
        || {
            for (wide, value) in scratch.values.iter_mut().zip(values) {
                *wide = value.to_wide();
            }
        },
    );
    let inner = Task {
        tolerance: tolerance::inner(values, task),
        fill: representable::<T>(&task.fill)?,
        ..*task
    };
    entry.encode_wide(&scratch.values, &inner, context, &mut scratch.body)?;
    // The caller discards a body that is not smaller than the values; it may be incomplete.
    let is_used = scratch.body.len() < size_of_val(values) || values.is_empty();
    if !is_used || task.tolerance == Tolerance::Lossless {
        return Ok(());
    }
    decode_wide(
        entry,
        &scratch.body,
        task.dims,
        context,
        &mut scratch.decoded,
    )?;
    let check = Check::new(task);
    scratch.exceptions.clear();
    let blocks = values
        .chunks(BLOCK_VALUES)
        .zip(scratch.decoded.chunks(BLOCK_VALUES));
    for (number, (values, decoded)) in blocks.enumerate() {
        let passes = level.run(
            #[inline(always)]
            || check.block_passes(values, decoded),
        );
        if passes {
            continue;
        }
        for (i, (&x, &y)) in values.iter().zip(decoded).enumerate() {
            if !check.passes(x, T::from_wide(y)) {
                scratch.exceptions.push(number * BLOCK_VALUES + i, x);
            }
        }
    }
    scratch.exceptions.write_to::<T>(&mut scratch.list);
    Ok(())
}

/// Decodes the output of [`encode`].
pub(super) fn decode<T: Element>(
    entry: &Entry,
    mut bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let list = varint::read_block(&mut bytes)?;
    let mut scratch = context.take::<Scratch<T::Wide>>();
    let result = decode_wide(entry, bytes, dims, context, &mut scratch.decoded);
    context.simd().run(
        #[inline(always)]
        || {
            for (value, wide) in out.iter_mut().zip(&scratch.decoded) {
                *value = T::from_wide(*wide);
            }
        },
    );
    context.put_back(scratch);
    result?;
    exceptions::restore(list, out)
}

/// Decodes the codec's body into a scratch buffer.
fn decode_wide<F: Float>(
    entry: &Entry,
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    decoded: &mut Vec<F>,
) -> Result<()> {
    allocate::resize(decoded, dims.len())?;
    // The values are read again at once: keep them in the cache.
    let streaming = std::mem::take(&mut context.streaming);
    let result = entry.decode_wide(bytes, dims, context, decoded);
    context.streaming = streaming;
    result
}

/// Fill values rounded to the element type.
fn representable<T: Element>(fill: &FillValues) -> Result<FillValues> {
    let nearest = |&value: &f64| T::from_f64(value).to_f64();
    let values: Vec<f64> = fill.as_slice().iter().map(nearest).collect();
    FillValues::new(&values)
}
