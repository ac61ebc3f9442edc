//! Gathers chunks from arrays for encoding, and scatters decoded chunks into arrays.

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
use smallvec::SmallVec;
use std::ops::Range;

/// Moves chunks between arrays and an engine; one per thread.
pub(crate) struct ChunkCoder {
    pub context: Context,
}

impl ChunkCoder {
    /// A coder for this instruction set.
    pub fn new(simd: Level) -> Self {
        Self {
            context: Context::new(simd),
        }
    }

    /// Appends the bodies of chunks; `part` returns a view of a chunk.
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
            let parts: SmallVec<[_; 1]> = parts.collect::<Result<_>>()?;
            let mut gathered = self.context.take::<Vec<T>>();
            let batch = contiguous(&parts, &mut gathered);
            let result = encode_batch::<T>(engine, plan, &batch, &mut self.context, out);
            drop(batch);
            self.context.put_back(gathered);
            result?;
        }
        out.check(chunks.end - out.first())
    }

    /// Decodes a chunk and copies its intersection with the box `part` of the array to `out`, which
    /// holds that box contiguously.
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
        let region = plan.header().grid.chunk_box(chunk);
        let decode = |context: &mut Context, out: &mut [T]| {
            let header = plan.header();
            let limits = header.clip.filter(|_| body.form == Form::Coded);
            // Clamping reads the values again: keep them in the cache.
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
        if *region == *part {
            return decode(context, out);
        }
        let shape = extents(&region);
        let mut values = context.take::<Vec<T>>();
        allocate::resize(&mut values, shape.iter().product())?;
        // The values are read again at once: keep them in the cache.
        let streaming = std::mem::take(&mut context.streaming);
        let decoded = decode(context, &mut values);
        context.streaming = streaming;
        if decoded.is_ok() {
            let overlap = intersect(&region, part);
            let overlap_shape = extents(&overlap);
            let mut requested = context.take::<PartScratch<T>>();
            allocate::resize(&mut requested.0, overlap_shape.iter().product())?;
            let strides = contiguous_strides(&shape);
            let from = origin(&overlap, &region);
            gather(&values, &overlap_shape, &strides, from, &mut requested.0);
            let strides = contiguous_strides(&extents(part));
            let to = origin(&overlap, part);
            scatter(&requested.0, out, &overlap_shape, &strides, to);
            context.put_back(requested);
        }
        context.put_back(values);
        decoded
    }
}

/// Appends the bodies of chunks. Chunks that are incompatible with the limits of the frame are
/// stored raw, the others go to the engine.
fn encode_batch<T: Element>(
    engine: &dyn Engine,
    plan: &FramePlan,
    batch: &[Values<'_>],
    context: &mut Context,
    out: &mut EncodedChunks,
) -> Result<()> {
    if plan.header().clip.is_none() {
        return engine.encode(plan, batch, context, out);
    }
    let exceeds = |chunk: &Values<'_>| plan.exceeds_limits::<T>(bytemuck::cast_slice(chunk.bytes));
    let exceeds: Vec<bool> = batch.iter().map(exceeds).collect::<Result<_>>()?;
    let mut rest = batch;
    for run in exceeds.chunk_by(bool::eq) {
        let (chunks, after) = rest.split_at(run.len());
        rest = after;
        if !run[0] {
            engine.encode(plan, chunks, context, out)?;
            continue;
        }
        for chunk in chunks {
            out.push(Body {
                form: Form::Raw,
                bytes: chunk.bytes,
            });
        }
    }
    Ok(())
}

/// Contiguous values of chunks; strided ones are gathered one after the other.
fn contiguous<'a, T: Element>(
    parts: &[(usize, View<'a, T>)],
    gathered: &'a mut Vec<T>,
) -> SmallVec<[Values<'a>; 1]> {
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

/// Scratch buffer for the requested part of a chunk.
struct PartScratch<T>(Vec<T>);

impl<T> Default for PartScratch<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, T: Element> View<'a, T> {
    /// The box `inner` of a view of the box `outer` of an array.
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
