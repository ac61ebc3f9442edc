//! The interface to a device that encodes and decodes chunks.

use super::body::{EncodedChunks, Target, Values};
use super::plan::FramePlan;
use crate::codec::Context;
use crate::error::Result;
use std::ops::Deref;
use std::sync::Arc;

/// Encodes and decodes the chunks of a frame, on the CPU or on another device such as a GPU.
///
/// Several threads call an engine concurrently, each with its own batch and context. All engines
/// give the same bytes; an engine delegates what it does not support to [`Cpu`].
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// Preferred number of chunks per call.
    fn batch(&self, plan: &FramePlan) -> usize;

    /// Appends one body per chunk, in order.
    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> Result<()>;

    /// Decodes each chunk into its memory.
    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> Result<()>;
}

/// The engine of a pool or a reader: the CPU unless another one is set.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedEngine(Option<Arc<dyn Engine>>);

impl From<Arc<dyn Engine>> for SharedEngine {
    fn from(engine: Arc<dyn Engine>) -> Self {
        Self(Some(engine))
    }
}

impl Deref for SharedEngine {
    type Target = dyn Engine;

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or(&Cpu)
    }
}

/// The CPU engine; runs on the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn batch(&self, _plan: &FramePlan) -> usize {
        1
    }

    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> Result<()> {
        for chunk in chunks {
            out.push_with(|out| plan.encode_chunk(*chunk, context, out))?;
        }
        Ok(())
    }

    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> Result<()> {
        for chunk in chunks {
            plan.decode_chunk(chunk, context)?;
        }
        Ok(())
    }
}
