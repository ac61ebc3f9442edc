//! Kernels are plain loops, compiled once for each instruction set and chosen at run time.

use ebz::simd::Level;

/// A level that this machine has.
#[derive(Debug, Clone, Copy)]
pub struct Instructions(Level);

impl Instructions {
    /// This level, or the best one below it that the machine has.
    pub fn up_to(level: Level) -> Self {
        Self(
            Level::available()
                .find(|found| *found <= level)
                .unwrap_or(Level::Portable),
        )
    }

    /// Runs `f`, and what is inlined into it, with these instructions: `f` must be marked to be
    /// inlined itself. Products and sums are never
    /// fused, so every level computes the same numbers.
    #[inline(always)]
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                #[target_feature(enable = "avx2")]
                fn run<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: the machine has the level, see `up_to`.
                unsafe { run(f) }
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                #[target_feature(enable = "avx2,avx512f,avx512dq,avx512vl")]
                fn run<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: the machine has the level, see `up_to`.
                unsafe { run(f) }
            }
            _ => f(),
        }
    }
}
