//! Instruction sets, detected at run time.
//!
//! An instruction set is a token that can only be created on machines that support it, so that a
//! safe function can take it as proof. Kernels run in one of two ways: plain loops through
//! [`Level::run`], which compiles them for each level, and intrinsics in functions that take the
//! token.

pub(crate) mod memory;

/// Proof of AVX2, BMI1, BMI2, LZCNT and POPCNT (x86-64 only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Avx2(());

/// Proof of [`Avx2`] and of AVX-512 with BW, DQ, VL, VBMI, VBMI2 and GFNI (x86-64 only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Avx512(());

/// An instruction set that this machine supports and that kernels exist for. All levels give the
/// same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust, vectorized by the compiler for the build target.
    Portable,
    /// See [`Avx2`].
    Avx2(Avx2),
    /// See [`Avx512`].
    Avx512(Avx512),
}

/// A loop that is compiled for each level. `run` and everything large that it calls must be
/// `#[inline(always)]`: code that is not inlined is compiled for the build target. Closures with
/// this attribute are kernels too. (As `FnMut`: what the compiler makes of one to be called as
/// `FnOnce` does not inherit the attribute.)
pub trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

impl<R, F: FnMut() -> R> Kernel for F {
    type Output = R;

    #[inline(always)]
    fn run(mut self) -> R {
        self()
    }
}

impl Avx2 {
    /// The token, if the machine supports it.
    pub fn new() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        #[cfg(not(target_arch = "x86_64"))]
        let found = false;
        found.then_some(Self(()))
    }

    /// Runs a kernel with this instruction set.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn run<K: Kernel>(kernel: K) -> K::Output {
                kernel.run()
            }
            // SAFETY: the token exists only where the machine has these features.
            unsafe { run(kernel) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        kernel.run()
    }
}

impl Avx512 {
    /// The token, if the machine supports it.
    pub fn new() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("gfni");
        #[cfg(not(target_arch = "x86_64"))]
        let found = false;
        Avx2::new().filter(|_| found).map(|_| Self(()))
    }

    /// AVX-512 implies AVX2.
    pub fn avx2(self) -> Avx2 {
        Avx2(())
    }

    /// Runs a kernel with this instruction set.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            #[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
            fn run<K: Kernel>(kernel: K) -> K::Output {
                kernel.run()
            }
            // SAFETY: the token exists only where the machine has these features.
            unsafe { run(kernel) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        kernel.run()
    }
}

impl Level {
    /// The best supported level.
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// The supported levels, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        let wide = Avx512::new().map(Self::Avx512);
        let narrow = Avx2::new().map(Self::Avx2);
        wide.into_iter().chain(narrow).chain([Self::Portable])
    }

    /// The AVX2 token, if this level implies it.
    #[inline(always)]
    pub fn avx2(self) -> Option<Avx2> {
        match self {
            Self::Portable => None,
            Self::Avx2(avx2) => Some(avx2),
            Self::Avx512(avx512) => Some(avx512.avx2()),
        }
    }

    /// Runs a kernel compiled for this level.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable => kernel.run(),
            Self::Avx2(avx2) => avx2.run(kernel),
            Self::Avx512(avx512) => avx512.run(kernel),
        }
    }
}
