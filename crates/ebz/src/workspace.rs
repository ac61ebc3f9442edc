//! What one worker thread keeps between chunks.

use crate::simd::Level;
use std::any::Any;
use std::cell::Cell;

/// Instruction set and scratch memory of one worker.
///
/// Scratch memory is kept from chunk to chunk, because fresh memory costs more than the codecs
/// themselves: every page is cleared and mapped on first touch.
pub struct Context {
    simd: Level,
    /// Decoded values go past the caches, because the output is too large to be found there later.
    pub streaming: bool,
    /// Intervals in which the least and the largest value of the last encoded chunk lie; `None` if the codec
    /// does not know, or if values are not finite.
    pub(crate) extremes: Option<[(f64, f64); 2]>,
    /// The last encoded chunk had missing data that was not named. No byte of output depends on it.
    pub(crate) found_fill: bool,
    scratch: Vec<Box<dyn Any + Send + Sync>>,
}

thread_local! {
    /// What the last read of this thread left for the next one.
    static KEPT: Cell<Option<Context>> = const { Cell::new(None) };
}

impl Default for Context {
    fn default() -> Self {
        Self::new(Level::detect())
    }
}

impl Context {
    /// A context without scratch memory yet.
    pub fn new(simd: Level) -> Self {
        Self {
            simd,
            streaming: false,
            extremes: None,
            found_fill: false,
            scratch: Vec::new(),
        }
    }

    /// The context that [`Context::keep`] left in this thread if it is for the same instructions, else
    /// a new one.
    pub(crate) fn kept(simd: Level) -> Self {
        // A thread that is ending has nothing left, and can keep nothing.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        kept.filter(|context| context.simd == simd)
            .unwrap_or_else(|| Self::new(simd))
    }

    /// Leaves scratch memory for the next read of this thread.
    pub(crate) fn keep(mut self) {
        self.streaming = false;
        let _ = KEPT.try_with(|kept| kept.set(Some(self)));
    }

    /// The instructions that kernels may use. No byte of output depends on it.
    pub fn simd(&self) -> Level {
        self.simd
    }

    /// Takes this worker's scratch of type `S`, as the last user put it back, or a default one.
    pub fn take<S: Any + Send + Sync + Default>(&mut self) -> Box<S> {
        let at = self.scratch.iter().position(|s| s.is::<S>());
        at.and_then(|i| self.scratch.swap_remove(i).downcast().ok())
            .unwrap_or_default()
    }

    /// Puts scratch back for the next chunk.
    pub fn put_back<S: Any + Send + Sync>(&mut self, scratch: Box<S>) {
        self.scratch.push(scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_outlives_a_read_of_the_same_instruction_set() {
        let mut context = Context::kept(Level::Portable);
        context.streaming = true;
        context.put_back(Box::new(vec![1u8, 2, 3]));
        context.keep();
        let mut again = Context::kept(Level::Portable);
        assert!(!again.streaming);
        assert_eq!(*again.take::<Vec<u8>>(), [1, 2, 3]);
        // It was taken: a second reader at the same time starts with nothing.
        assert!(Context::kept(Level::Portable).take::<Vec<u8>>().is_empty());
        again.put_back(Box::new(vec![4u8]));
        again.keep();
        for level in Level::available().filter(|level| *level != Level::Portable) {
            assert!(Context::kept(level).take::<Vec<u8>>().is_empty());
        }
    }
}
