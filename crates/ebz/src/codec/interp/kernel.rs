//! Loops that are written once and compiled for each instruction set.

use crate::simd::Level;

/// A loop. `run` must be `#[inline(always)]`, and so must everything large that it calls: what is not
/// inlined is compiled for the wrong instruction set. (A closure instead of a trait would not be
/// inlined, because each level calls it.)
pub(super) trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop as compiled for `isa`, but not beyond AVX2: rows are too short for wider vectors.
#[inline(always)]
pub(super) fn launch<K: Kernel>(isa: Level, kernel: K) -> K::Output {
    match isa {
        // SAFETY: a context has only levels that the machine has, and AVX-512 includes AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { run_avx2(kernel) },
        _ => kernel.run(),
    }
}

/// The same with AVX-512, for loops over segments.
#[inline(always)]
pub(super) fn launch_wide<K: Kernel>(isa: Level, kernel: K) -> K::Output {
    match isa {
        // SAFETY: a context has only levels that the machine has.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { run_avx512(kernel) },
        _ => launch(isa, kernel),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
