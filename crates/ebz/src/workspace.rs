//! Per-worker state that outlives a chunk.

use crate::simd::Level;
use std::any::Any;
use std::cell::Cell;

/// Instruction set and scratch buffers of one worker.
///
/// Scratch buffers are reused between chunks: page faults on fresh memory cost more than the codecs
/// themselves.
pub struct Context {
    simd: Level,
    /// Decoded values bypass the caches: the output is too large to stay in them anyway.
    pub streaming: bool,
    /// Whether kernels that fuse several stages may run; does not affect the output.
    #[doc(hidden)]
    pub fused: bool,
    /// Intervals that contain the minimum and the maximum of the last encoded chunk; `None` if the
    /// codec does not know them or if some values are not finite.
    pub(crate) extremes: Option<[(f64, f64); 2]>,
    /// Whether fill values were detected in the last encoded chunk; does not affect the output.
    pub(crate) found_fill: bool,
    scratch: Vec<Box<dyn Any + Send + Sync>>,
}

thread_local! {
    /// The context that the last read on this thread left for the next one.
    static CACHED: Cell<Option<Context>> = const { Cell::new(None) };
}

impl Default for Context {
    fn default() -> Self {
        Self::new(Level::detect())
    }
}

impl Context {
    /// A context without scratch buffers.
    pub fn new(simd: Level) -> Self {
        Self {
            simd,
            streaming: false,
            fused: true,
            extremes: None,
            found_fill: false,
            scratch: Vec::new(),
        }
    }

    /// Takes the context that [`Context::cache`] stored on this thread, if its instruction set
    /// matches; otherwise a new one.
    pub(crate) fn cached(simd: Level) -> Self {
        // Thread-local storage may be gone while the thread exits.
        let cached = CACHED.try_with(Cell::take).ok().flatten();
        cached
            .filter(|context| context.simd == simd)
            .unwrap_or_else(|| Self::new(simd))
    }

    /// Stores the context for the next read on this thread.
    pub(crate) fn cache(mut self) {
        self.streaming = false;
        let _ = CACHED.try_with(|cached| cached.set(Some(self)));
    }

    /// Instruction set for the kernels; does not affect the output.
    pub fn simd(&self) -> Level {
        self.simd
    }

    /// Takes this worker's scratch of type `S`, or a default one if there is none.
    pub fn take<S: Any + Send + Sync + Default>(&mut self) -> Box<S> {
        let at = self.scratch.iter().position(|s| s.is::<S>());
        at.and_then(|i| self.scratch.swap_remove(i).downcast().ok())
            .unwrap_or_default()
    }

    /// Returns scratch for the next chunk.
    pub fn put_back<S: Any + Send + Sync>(&mut self, scratch: Box<S>) {
        self.scratch.push(scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_reused_by_the_next_read_with_the_same_instruction_set() {
        let mut context = Context::cached(Level::Portable);
        context.streaming = true;
        context.put_back(Box::new(vec![1u8, 2, 3]));
        context.cache();
        let mut again = Context::cached(Level::Portable);
        assert!(!again.streaming);
        assert_eq!(*again.take::<Vec<u8>>(), [1, 2, 3]);
        // The cache is empty now: a nested read starts without scratch.
        assert!(
            Context::cached(Level::Portable)
                .take::<Vec<u8>>()
                .is_empty()
        );
        again.put_back(Box::new(vec![4u8]));
        again.cache();
        for level in Level::available().filter(|level| *level != Level::Portable) {
            assert!(Context::cached(level).take::<Vec<u8>>().is_empty());
        }
    }
}
