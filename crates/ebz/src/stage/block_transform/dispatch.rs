//! The same loop compiled for each instruction set.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::block_float::BlockFloat;
use super::vectors::{Portable, Vectors};
use crate::simd::Level;

/// A loop over groups of blocks, written once.
pub trait Kernel {
    /// The type of the values.
    type Element: Dispatch;
    /// What it returns.
    type Output;

    /// Runs; inlined into a function of each instruction set.
    fn run<V: Vectors<Self::Element>>(self) -> Self::Output;
}

/// A type with vectors for every instruction set.
pub trait Dispatch: BlockFloat {
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vectors<Self>;
}

impl Dispatch for f32 {
    #[cfg(target_arch = "x86_64")]
    type Avx2 = avx2::Single;
}

impl Dispatch for f64 {
    #[cfg(target_arch = "x86_64")]
    type Avx2 = avx2::Double;
}

/// Runs with the instructions of `simd`.
pub fn dispatch<K: Kernel>(simd: Level, kernel: K) -> K::Output {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 if simd.is_available() => {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
                kernel.run::<<K::Element as Dispatch>::Avx2>()
            }
            // SAFETY: this machine has these instructions.
            unsafe { with_avx2(kernel) }
        }
        _ => kernel.run::<Portable>(),
    }
}
