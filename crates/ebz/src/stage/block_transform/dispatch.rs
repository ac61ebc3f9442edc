//! The same loop compiled for each instruction set.

use super::real::Real;
use super::vectors::{Portable, Vectors};
use crate::simd::Level;

/// A loop over groups of blocks, written once.
pub trait Vectorised {
    /// The type of the values.
    type Element: Real;
    /// What it returns.
    type Output;

    /// Runs; inlined into a function of each instruction set.
    fn run<V: Vectors<Self::Element>>(self) -> Self::Output;
}

/// Runs with the instructions of `simd`.
pub fn dispatch<V: Vectorised>(simd: Level, work: V) -> V::Output {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 if simd.is_available() => super::avx2::run(work),
        _ => work.run::<Portable>(),
    }
}
