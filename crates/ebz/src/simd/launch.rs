//! Compiles one plain loop for several instruction sets and runs the best one that the machine has.
//!
//! In: a [`Kernel`] whose `run` is `#[inline(always)]` safe Rust. Out: its result, from machine
//! code for the level asked for. The compiler neither fuses nor reorders floating-point operations,
//! so every level computes the same bits.

use super::Level;

/// A level that this machine was seen to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Level);

impl Isa {
    /// The level asked for if the machine has it, else the portable one.
    pub fn new(level: Level) -> Self {
        Self(if level.is_available() {
            level
        } else {
            Level::Portable
        })
    }

    /// The level, known to be available.
    pub fn level(self) -> Level {
        self.0
    }
}

/// A loop to be compiled for each level. `run` must be `#[inline(always)]`.
pub trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Runs the kernel as compiled for `isa`.
#[inline(always)]
pub fn launch<K: Kernel>(isa: Isa, kernel: K) -> K::Output {
    match isa.0 {
        // SAFETY: an `Isa` holds a level only after the machine was seen to have it.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { run_avx2(kernel) },
        _ => kernel.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
