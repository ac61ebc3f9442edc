//! What one worker thread keeps between chunks.

use crate::simd::Level;
use std::any::Any;

/// Instruction set and scratch memory of one worker.
///
/// Scratch memory is kept from chunk to chunk, because fresh memory costs more than the codecs
/// themselves: every page is cleared and mapped on first touch.
pub struct Context {
    simd: Level,
    /// Decoded values go past the caches, because the output is too large to be found there later.
    pub streaming: bool,
    scratch: Vec<Box<dyn Any + Send>>,
}

impl Default for Context {
    fn default() -> Self {
        Self::new(Level::detect())
    }
}

impl Context {
    /// A context without scratch memory yet, for this level or the best below that the machine has.
    pub fn new(simd: Level) -> Self {
        Self {
            simd: simd.or_available(),
            streaming: false,
            scratch: Vec::new(),
        }
    }

    /// The instructions that kernels may use: always a level that the machine has. No byte of
    /// output depends on it.
    pub fn simd(&self) -> Level {
        self.simd
    }

    /// Takes this worker's scratch of type `S`, as the last user put it back, or a default one.
    pub fn take<S: Any + Send + Default>(&mut self) -> Box<S> {
        let at = self.scratch.iter().position(|s| s.is::<S>());
        at.and_then(|i| self.scratch.swap_remove(i).downcast().ok())
            .unwrap_or_default()
    }

    /// Puts scratch back for the next chunk.
    pub fn put_back<S: Any + Send>(&mut self, scratch: Box<S>) {
        self.scratch.push(scratch);
    }
}
