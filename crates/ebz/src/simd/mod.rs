//! Which instructions the kernels may use: found at run time, never at build time.

pub(crate) mod memory;

/// A set of instructions that kernels exist for. Every level writes the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust that the compiler vectorises for the build target.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// AVX2 and what it comes with, and AVX-512 with BW, DQ, VL, VBMI, VBMI2 and GFNI.
    Avx512,
}

impl Level {
    /// Every level, best first.
    const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The best level of this machine.
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// Every level of this machine, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Whether this machine has it.
    #[cfg(target_arch = "x86_64")]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("gfni")
            }
        }
    }

    /// Whether this machine has it.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        self == Self::Portable
    }

    /// This level, or the best one below it that the machine has.
    pub(crate) fn or_available(self) -> Self {
        let below = |level: &Self| *level <= self;
        Self::available().find(below).unwrap_or(Self::Portable)
    }

    /// Runs `f` compiled for this level, which the machine must have: what is inlined into it may
    /// use the level's instructions.
    #[inline(always)]
    pub(crate) fn run<R>(self, f: impl FnOnce() -> R) -> R {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn run<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: a context has only levels that the machine has.
                unsafe { run(f) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                #[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
                fn run<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: a context has only levels that the machine has.
                unsafe { run(f) }
            }
            _ => f(),
        }
    }
}
