//! Which instructions the kernels may use: found at run time, never at build time.

/// A set of instructions that kernels exist for. Every level writes the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust that the compiler vectorises for the build target.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
}

impl Level {
    /// The best level of this machine.
    pub fn detect() -> Self {
        if Self::Avx2.is_available() {
            Self::Avx2
        } else {
            Self::Portable
        }
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => false,
        }
    }

    /// Every level of this machine.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Portable, Self::Avx2]
            .into_iter()
            .filter(|level| level.is_available())
    }
}

impl Level {
    /// Runs `f` compiled for this level: what is inlined into it may use the level's instructions.
    #[inline(always)]
    pub(crate) fn run<R>(self, f: impl FnOnce() -> R) -> R {
        match self {
            Self::Portable => f(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn run<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                assert!(self.is_available(), "this machine has no AVX2");
                // SAFETY: the machine has these instructions, as just checked.
                unsafe { run(f) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => f(),
        }
    }
}
