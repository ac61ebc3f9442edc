//! Kernel dispatch for loops over rows and segments.

pub(super) use crate::simd::Kernel;
use crate::simd::Level;

/// Runs a kernel compiled for `isa`, at most AVX2: rows are too short for wider vectors.
#[inline(always)]
pub(super) fn launch<K: Kernel>(isa: Level, kernel: K) -> K::Output {
    match isa.avx2() {
        Some(avx2) => avx2.run(kernel),
        None => kernel.run(),
    }
}

/// The same with AVX-512, for loops over segments.
#[inline(always)]
pub(super) fn launch_wide<K: Kernel>(isa: Level, kernel: K) -> K::Output {
    isa.run(kernel)
}
