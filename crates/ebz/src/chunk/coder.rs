//! Chunks out of arrays and back into them.

use super::body::{Body, EncodedChunks, Form, Target, Values};
use super::engine::Engine;
use super::grid::{extents, intersect, origin};
use super::plan::FramePlan;
use crate::allocate;
use crate::array::{View, contiguous_strides, gather, scatter};
use crate::codec::Context;
use crate::element::Element;
use crate::error::Result;
use crate::simd::Level;
use std::ops::Range;

/// Takes chunks from arrays to an engine and back; one per thread.
pub(crate) struct ChunkCoder {
    pub context: Context,
}

impl ChunkCoder {
    /// A coder whose kernels use these instructions.
    pub fn new(simd: Level) -> Self {
        Self {
            context: Context::new(simd),
        }
    }

    /// Adds the bodies of chunks, whose values `part` gives.
    pub fn encode<'v, T: Element>(
        &mut self,
        engine: &dyn Engine,
        plan: &FramePlan,
        chunks: Range<usize>,
        part: impl Fn(usize) -> Result<View<'v, T>>,
        out: &mut EncodedChunks,
    ) -> Result<()> {
        let most = engine.batch(plan).max(1);
        for first in chunks.clone().step_by(most) {
            let batch = first..chunks.end.min(first + most);
            let parts = batch.map(|chunk| Ok((chunk, part(chunk)?)));
            let parts: Vec<_> = parts.collect::<Result<_>>()?;
            let mut gathered = self.context.take::<Vec<T>>();
            let batch = contiguous(&parts, &mut gathered);
            let result = encode_batch::<T>(engine, plan, &batch, &mut self.context, out);
            drop(batch);
            self.context.put_back(gathered);
            result?;
        }
        out.check(chunks.end - out.first())
    }

    /// Decodes a chunk, and puts what `part` wants of it in its place in `out`, contiguous memory that
    /// holds the box `part` of the array.
    pub fn decode<T: Element>(
        &mut self,
        engine: &dyn Engine,
        plan: &FramePlan,
        chunk: usize,
        body: Body<'_>,
        part: &[Range<usize>],
        out: &mut [T],
    ) -> Result<()> {
        let context = &mut self.context;
        let region = plan.header().grid.region(chunk);
        let decode = |context: &mut Context, out: &mut [T]| {
            let header = plan.header();
            let limits = header.clip.filter(|_| body.form == Form::Coded);
            // Limits look at the values again.
            let streaming = context.streaming;
            context.streaming &= limits.is_none();
            let bytes = bytemuck::cast_slice_mut(out);
            let target = Target {
                chunk,
                body,
                out: bytes,
            };
            let decoded = engine.decode(plan, &mut [target], context);
            context.streaming = streaming;
            if let Some(limits) = limits {
                context.simd().run(
                    #[inline(always)]
                    || limits.apply(header.tolerance, out),
                );
            }
            decoded
        };
        if region == part {
            return decode(context, out);
        }
        let shape = extents(&region);
        let mut values = context.take::<Vec<T>>();
        allocate::resize(&mut values, shape.iter().product())?;
        // These values are needed at once.
        let streaming = std::mem::take(&mut context.streaming);
        let decoded = decode(context, &mut values);
        context.streaming = streaming;
        if decoded.is_ok() {
            let wanted = intersect(&region, part);
            let wanted_shape = extents(&wanted);
            let mut kept = context.take::<Kept<T>>();
            allocate::resize(&mut kept.0, wanted_shape.iter().product())?;
            let strides = contiguous_strides(&shape);
            let from = origin(&wanted, &region);
            gather(&values, &wanted_shape, &strides, from, &mut kept.0);
            let strides = contiguous_strides(&extents(part));
            let to = origin(&wanted, part);
            scatter(&kept.0, out, &wanted_shape, &strides, to);
            context.put_back(kept);
        }
        context.put_back(values);
        decoded
    }
}

/// Adds the bodies of chunks: those that the limits of the frame cannot hold for as they are, the others
/// by the engine.
fn encode_batch<T: Element>(
    engine: &dyn Engine,
    plan: &FramePlan,
    batch: &[Values<'_>],
    context: &mut Context,
    out: &mut EncodedChunks,
) -> Result<()> {
    let mut rest = batch;
    let mut exceeding = Vec::new();
    for (at, chunk) in batch.iter().enumerate() {
        if plan.exceeds_limits::<T>(bytemuck::cast_slice(chunk.bytes))? {
            exceeding.push(at);
        }
    }
    for at in exceeding {
        let (before, after) = rest.split_at(at - (batch.len() - rest.len()));
        if !before.is_empty() {
            engine.encode(plan, before, context, out)?;
        }
        out.push(Body {
            form: Form::Raw,
            bytes: batch[at].bytes,
        });
        rest = &after[1..];
    }
    match rest.is_empty() {
        true => Ok(()),
        false => engine.encode(plan, rest, context, out),
    }
}

/// The values of chunks; those that are not contiguous are gathered, one behind the other.
fn contiguous<'a, T: Element>(
    parts: &[(usize, View<'a, T>)],
    gathered: &'a mut Vec<T>,
) -> Vec<Values<'a>> {
    gathered.clear();
    for (_, part) in parts {
        if part.as_slice().is_none() {
            let start = gathered.len();
            gathered.resize(start + part.shape().iter().product::<usize>(), T::default());
            let (layout, out) = (&part.layout, &mut gathered[start..]);
            gather(part.data, part.shape(), &layout.strides, layout.offset, out);
        }
    }
    let mut rest: &'a [T] = gathered;
    let values = parts.iter().map(|(chunk, part)| {
        let values = part.as_slice().unwrap_or_else(|| {
            let (values, after) = rest.split_at(part.shape().iter().product());
            rest = after;
            values
        });
        Values {
            chunk: *chunk,
            bytes: bytemuck::cast_slice(values),
        }
    });
    values.collect()
}

/// The part of a chunk that a region wants.
struct Kept<T>(Vec<T>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, T: Element> View<'a, T> {
    /// The box `inner` of a view that holds the box `outer` of an array.
    pub(crate) fn part(&self, inner: &[Range<usize>], outer: &[Range<usize>]) -> View<'a, T> {
        let mut part = self.clone();
        part.layout.shape = extents(inner);
        let starts = inner.iter().zip(outer).zip(&self.layout.strides);
        let offset = starts.fold(self.layout.offset as isize, |at, ((i, o), stride)| {
            at + (i.start - o.start) as isize * stride
        });
        part.layout.offset = offset as usize;
        part
    }
}
