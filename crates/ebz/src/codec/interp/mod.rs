//! `interp`: the codec for the best ratio. Interpolation from coarse to fine, residuals coded with
//! contexts.
//!
//! ```text
//! values ─► order of axes ─► classes by level and parity ─► predict, quantize ─► residuals, escapes ─► bytes
//! ```
//!
//! [`encode`] and [`decode`] share the traversal of a chunk ([`walk`]); [`lorenzo`] is the mode for
//! noisy fields and particles; [`choose`] chooses mode and axis order of each chunk.

mod choose;
mod context;
mod decode;
mod encode;
mod escape;
mod forecast;
mod geometry;
mod kernel;
mod lanes;
mod lorenzo;
mod number;
mod pack;
mod plan;
mod pointwise;
mod predict;
mod quantize;
mod rearrange;
mod residual;
mod rows;
mod stream;
mod walk;
mod weigh;

#[cfg(test)]
mod tests;

use super::{ChunkShape, Codec, Context, Dims, Info, Param, Params, Task};
use crate::bound::{BoundKind, Tolerance};
use crate::element::{Float, with_float};
use crate::error::{Error, Result};
use number::{Number, Step};
use plan::Source;

/// The codec.
pub struct Interp;

impl Codec for Interp {
    const INFO: Info = Info {
        id: 6,
        name: "interp",
        summary: "best ratio: multilevel interpolation with context-coded residuals",
        tolerances: &[BoundKind::Abs, BoundKind::Pointwise],
        params: &[Param {
            name: "mode",
            default: "auto",
            help: "auto, isotropic, packet-z, packet-y, packet-x, or lorenzo-AXES with AXES one of \
                   0, x, y, z, yx, zx, zy, zyx",
        }],
        rewrites_exactly: None,
    };

    const QUARTERS: Option<u32> = Some(12);

    const CHUNKS: ChunkShape = ChunkShape::Box;

    fn validate(params: &Params) -> Result<()> {
        choose::Request::from_params(params).map(|_| ())
    }

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        with_float!(T, F => {
            encode_real::<F>(bytemuck::cast_slice(values), task, context, out)
        })
    }

    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        with_float!(T, F => {
            decode_real::<F>(bytes, dims, context, bytemuck::cast_slice_mut(out))
        })
    }
}

/// The input of an encoder with an absolute bound.
fn source<'a, T: Number>(values: &'a [T], bound: f64, task: &Task<'_>) -> Source<'a, T> {
    Source {
        values,
        dims: task.dims,
        bound,
        fill: task.fill.typed(T::from_f64),
    }
}

fn encode_real<T: Number>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    if u32::try_from(values.len()).is_err() {
        return Err(Error::unsupported("interp chunk of 2^32 values or more"));
    }
    match task.tolerance {
        Tolerance::Abs(bound) => encode_within(&source(values, bound, task), task, context, out),
        Tolerance::Pointwise(bound) => pointwise::encode(values, bound, task, context, out),
        _ => Err(Error::unsupported(
            "interp supports absolute and pointwise bounds only",
        )),
    }
}

/// Encodes a chunk with an absolute bound.
fn encode_within<T: Number>(
    source: &Source<'_, T>,
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    if Step::<T>::new(source.bound, 2.0).is_none() {
        // The type cannot represent steps this small. This is as large as raw, so the caller stores
        // the chunk raw.
        out.extend_from_slice(bytemuck::cast_slice(source.values));
        return Ok(());
    }
    let isa = context.simd();
    let request = choose::Request::from_params(task.params)?;
    let mut chooser = context.take::<choose::Chooser<T>>();
    let mut memory = context.take::<encode::Memory<T>>();
    let choice = chooser.plan(isa, source, request);
    let result = choice.and_then(|choice| {
        choice.plan.write_to(source.bound, out);
        let streams = match choice.streams {
            Some(streams) => streams,
            None => encode::encode(isa, source, choice.plan, &mut memory)?,
        };
        streams.finish::<T>(isa, out);
        Ok(())
    });
    context.put_back(memory);
    context.put_back(chooser);
    result
}

fn decode_real<T: Number>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    if pointwise::is_pointwise(bytes) {
        return pointwise::decode(bytes, dims, context, out);
    }
    let streaming = context.streaming;
    decode_within(bytes, dims, context, streaming, out)
}

/// Decodes a chunk with an absolute bound.
fn decode_within<T: Number>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    streaming: bool,
    out: &mut [T],
) -> Result<()> {
    let mut memory = context.take::<decode::Memory<T>>();
    let isa = context.simd();
    let result = decode::decode(isa, bytes, dims, &mut memory, streaming, out);
    context.put_back(memory);
    result
}
