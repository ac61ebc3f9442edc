//! The interface to a device that encodes and decodes chunks.

use super::body::{EncodedChunks, Target, Values};
use super::plan::FramePlan;
use crate::codec::Context;
use crate::error::Result;

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
