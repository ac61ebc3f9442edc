//! Encoding and decoding of single slabs, in any order, by the threads or ranks that hold them.
//!
//! [`Writer::begin`](super::Writer::begin) writes their records in order.

use super::record::Record;
use crate::array::{View, display};
use crate::chunk::{ChunkCoder, EncodedChunks, Engine, Form, FramePlan, SharedEngine, extents};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::simd::Level;
use std::sync::Arc;

/// An encoded slab: complete records, one per chunk.
#[derive(Debug, Default)]
pub struct EncodedSlab {
    pub(super) frame: u32,
    pub(super) chunks: EncodedChunks,
}

impl EncodedSlab {
    /// The records.
    pub fn bytes(&self) -> &[u8] {
        self.chunks.bytes()
    }

    /// Form and length of each body, as [`FrameWriter::reserve`](super::FrameWriter::reserve) needs
    /// them.
    pub fn bodies(&self) -> Vec<(Form, u64)> {
        let bodies = self.chunks.bodies();
        bodies
            .map(|body| (body.form, body.bytes.len() as u64))
            .collect()
    }
}

/// Turns bodies into records.
pub(super) fn seal(frame: u32, chunks: &mut EncodedChunks) {
    chunks.put_headers(|number, body| {
        let length = body.bytes.len() as u64;
        Record::of_chunk(frame, number, body.form, length).header(body.bytes)
    });
}

/// Encodes and decodes slabs. Create one per thread; it reuses its buffers.
pub struct SlabCoder {
    coder: ChunkCoder,
    engine: SharedEngine,
}

impl SlabCoder {
    /// A coder for this instruction set.
    pub fn new(simd: Level) -> Self {
        Self {
            coder: ChunkCoder::new(simd),
            engine: SharedEngine::default(),
        }
    }

    /// Sets the engine; does not affect the output.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = engine.into();
        self
    }

    /// Encodes a slab of frame number `frame` into `out`, replacing its contents and reusing its
    /// memory.
    pub fn encode<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        values: &View<'_, T>,
        out: &mut EncodedSlab,
    ) -> Result<()> {
        let outer = plan.check::<T>(slab, Some(values.shape()))?;
        let chunks = plan.chunks_of(slab);
        out.frame = frame;
        out.chunks.restart(chunks.start);
        let grid = &plan.header().grid;
        let part = |chunk| Ok(values.part(&grid.chunk_box(chunk), &outer));
        self.coder
            .encode(&*self.engine, plan, chunks, part, &mut out.chunks)?;
        seal(frame, &mut out.chunks);
        Ok(())
    }

    /// Encodes a single chunk, for callers that hold only a part of a slab.
    pub fn encode_chunk<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        chunk: usize,
        values: &View<'_, T>,
        out: &mut EncodedSlab,
    ) -> Result<()> {
        let header = plan.header();
        if T::TYPE != header.element || chunk >= plan.chunks() {
            return Err(Error::invalid(format!(
                "no chunk {chunk} of {} values in a frame of {} chunks of {} values",
                T::TYPE,
                plan.chunks(),
                header.element
            )));
        }
        let shape = extents(&header.grid.chunk_box(chunk));
        if *values.shape() != *shape {
            return Err(Error::invalid(format!(
                "chunk {chunk} has shape {}, not {}",
                display(&shape),
                display(values.shape())
            )));
        }
        out.frame = frame;
        out.chunks.restart(chunk);
        let part = |_| Ok(values.clone());
        self.coder
            .encode(&*self.engine, plan, chunk..chunk + 1, part, &mut out.chunks)?;
        seal(frame, &mut out.chunks);
        Ok(())
    }

    /// Verifies the records of a slab of frame number `frame` and decodes them into contiguous
    /// memory.
    pub fn decode<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        mut records: &[u8],
        out: &mut [T],
    ) -> Result<()> {
        let outer = plan.check::<T>(slab, None)?;
        if out.len() != plan.slab_len(slab) {
            return Err(Error::invalid(format!(
                "slab {slab} has shape {}, but the output has {} values",
                display(&extents(&outer)),
                out.len()
            )));
        }
        let cut_off = || Error::truncated(format!("the records of slab {slab} are cut off"));
        for chunk in plan.chunks_of(slab) {
            let unverified = Record::read(records)?.ok_or_else(cut_off)?;
            let length = usize::try_from(unverified.record.length).map_err(|_| cut_off())?;
            let rest = &records[unverified.header..];
            let (body, rest) = rest.split_at_checked(length).ok_or_else(cut_off)?;
            records = rest;
            let body = unverified.verify(body)?.chunk(frame, chunk, body)?;
            self.coder
                .decode(&*self.engine, plan, chunk, body, &outer, out)?;
        }
        Ok(())
    }
}
