//! Chooses kernels by instruction set and element type.

use super::words::{BLOCK_VALUES, Words};
use super::{Tiles, tile};
use crate::codec::fre::grid::MantissaGrid;
use crate::simd::Level;

/// The loops over tiles and blocks; with `fused`, those of which the plain loops are the reference.
pub(in crate::codec::fre) trait Kernels<P> {
    /// Decodes all tiles, unless words may be too long.
    fn decode(self, tiles: &mut Tiles<'_, P>, fused: bool);

    /// Rounds the values of a block and builds their words.
    fn build(
        self,
        words: &mut Words<P>,
        values: &[P; BLOCK_VALUES],
        grid: &MantissaGrid<P>,
        fused: bool,
    );
}

#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_variables, reason = "fused kernels are for x86-64")
)]
impl Kernels<u32> for Level {
    fn decode(self, tiles: &mut Tiles<'_, u32>, fused: bool) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) if fused && super::avx512::decode::decode(token, tiles) => {}
            _ => tile::decode(self, tiles),
        }
    }

    #[inline(always)]
    fn build(
        self,
        words: &mut Words<u32>,
        values: &[u32; BLOCK_VALUES],
        grid: &MantissaGrid<u32>,
        fused: bool,
    ) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token)
                if fused && super::avx512::words::build(token, words, values, grid) => {}
            _ => words.build(values, grid),
        }
    }
}

impl Kernels<u64> for Level {
    fn decode(self, tiles: &mut Tiles<'_, u64>, _: bool) {
        tile::decode(self, tiles);
    }

    #[inline(always)]
    fn build(
        self,
        words: &mut Words<u64>,
        values: &[u64; BLOCK_VALUES],
        grid: &MantissaGrid<u64>,
        _: bool,
    ) {
        words.build(values, grid);
    }
}
