//! Loops that are written once and compiled for each instruction set.

use crate::simd::Level;

/// A loop. `run` must be `#[inline(always)]`, and so must everything large that it calls: what is not
/// inlined is compiled for the wrong instruction set.
pub(super) trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop as compiled for `isa`.
#[inline(always)]
pub(super) fn launch<K: Kernel>(isa: Level, kernel: K) -> K::Output {
    isa.run(|| kernel.run())
}
