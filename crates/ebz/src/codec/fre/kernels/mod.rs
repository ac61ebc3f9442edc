//! Vectorized loops.
//!
//! The compiler vectorizes plain loops; only gathers and the transposition of decoded tiles use
//! intrinsics.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
pub(super) mod tile;
pub(super) mod words;

use super::lanes::LANES;

/// Values per lane in a tile.
const TILE_VALUES: usize = 16;

/// The next values of all lanes, step by step.
#[repr(align(64))]
pub(super) struct Tile<P>([[P; LANES]; TILE_VALUES]);
