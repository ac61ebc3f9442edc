//! Runs a kernel with the vectors of an instruction set.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::block_float::BlockFloat;
use super::vectors::{Portable, Vectors};
use crate::simd::Level;

/// A loop over groups of blocks, generic over vectors.
pub trait Kernel {
    /// The type of the values.
    type Element: Dispatch;
    type Output;

    /// Runs the loop; inlined into a function for each instruction set.
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

/// Runs a kernel with the instruction set of `simd`.
pub fn dispatch<K: Kernel>(simd: Level, kernel: K) -> K::Output {
    match simd.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(avx2) => avx2.run(
            #[inline(always)]
            || kernel.run::<<K::Element as Dispatch>::Avx2>(),
        ),
        _ => kernel.run::<Portable>(),
    }
}
