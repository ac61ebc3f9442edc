//! Runs a kernel with the vectors of an instruction set.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::block_float::BlockFloat;
use super::vectors::{Portable, Vectors};
use crate::simd::Level;
use std::marker::PhantomData;

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

/// A kernel with the vectors `V`.
struct With<K, V>(K, PhantomData<V>);

impl<K: Kernel, V: Vectors<K::Element>> crate::simd::Kernel for With<K, V> {
    type Output = K::Output;

    #[inline(always)]
    fn run(self) -> K::Output {
        self.0.run::<V>()
    }
}

/// Runs a kernel with the instruction set of `simd`.
pub fn dispatch<K: Kernel>(simd: Level, kernel: K) -> K::Output {
    match simd.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(avx2) => avx2.run(With::<_, <K::Element as Dispatch>::Avx2>(
            kernel,
            PhantomData,
        )),
        _ => Level::Portable.run(With::<_, Portable>(kernel, PhantomData)),
    }
}
