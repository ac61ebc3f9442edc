//! The loops over many values at once.
//!
//! Both are plain loops that the compiler makes vectors of; only loads from many places and the
//! transposition of the result are written with intrinsics.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
pub(super) mod tile;
pub(super) mod words;

use super::lanes::LANES;

/// Values of a lane per tile.
const DEPTH: usize = 16;

/// Some values of all lanes, step by step.
#[repr(align(64))]
pub(super) struct Tile<P>([[P; LANES]; DEPTH]);
