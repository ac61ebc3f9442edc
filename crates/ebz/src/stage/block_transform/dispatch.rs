//! The same loop compiled for each instruction set.

use super::planes::{Kernel, Portable};
use crate::simd::Level;

/// A loop over groups of blocks, written once.
pub trait Vectorised {
    /// What it returns.
    type Output;

    /// Runs with a kernel for the bit transposition; inlined into a function of each instruction
    /// set, so that the compiler vectorises it for that.
    fn run<K: Kernel>(self) -> Self::Output;
}

/// Runs with the instructions of `simd`.
pub fn dispatch<V: Vectorised>(simd: Level, work: V) -> V::Output {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if simd.is_available() => super::avx2::run(work),
        _ => work.run::<Portable>(),
    }
}
