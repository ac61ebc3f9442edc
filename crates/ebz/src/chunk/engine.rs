//! Who encodes and decodes chunks.

use super::body::{EncodedChunks, Target, Values};
use super::plan::FramePlan;
use crate::codec::Context;
use crate::error::Result;

/// Encodes and decodes chunks of a frame: the CPU, or for example a GPU in a crate of its own.
///
/// Several threads call an engine at once, each with a batch and a context of its own. Whatever the
/// engine, the same values give the same bytes: what it cannot do, it hands to [`Cpu`].
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// About how many chunks of a frame to hand over at once.
    fn batch(&self, plan: &FramePlan) -> usize;

    /// Adds one body for each of the chunks, in their order.
    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> Result<()>;

    /// Fills the memory of each of the chunks.
    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> Result<()>;
}

/// The engine that every machine has: the calling thread.
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
