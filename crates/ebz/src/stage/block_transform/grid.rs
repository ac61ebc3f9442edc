//! Division of a chunk into blocks of 4 values per axis, and groups of blocks.
//!
//! A group is [`LANES`] consecutive blocks in raster order, stored as `group[position][lane]`, so that
//! a vector holds one position of every block.

use super::block_float::BlockFloat;
use super::lanes::{LANES, Lanes};
use super::vectors::Vectors;
use crate::request::Dims;

/// The blocks of a chunk in raster order.
#[derive(Debug, Clone, Copy)]
pub struct Grid {
    dims: Dims,
    /// Number of blocks along y and x.
    along_y: usize,
    along_x: usize,
    blocks: usize,
    /// Extents of a block: 4 along blocked axes, 1 along others.
    side_y: usize,
    side_z: usize,
}

/// zfp's padding: the source of positions 0…3 of an axis, for a block that has this many.
const PADDING: [[usize; 4]; 5] = [
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 1, 1, 0],
    [0, 1, 2, 0],
    [0, 1, 2, 3],
];

impl Grid {
    /// Blocks over the `axes` fastest axes.
    pub fn new(dims: Dims, axes: usize) -> Self {
        let side_y = if axes >= 2 { 4 } else { 1 };
        let side_z = if axes >= 3 { 4 } else { 1 };
        let along_x = dims.nx.div_ceil(4);
        let along_y = dims.ny.div_ceil(side_y);
        Self {
            dims,
            along_y,
            along_x,
            blocks: along_x * along_y * dims.nz.div_ceil(side_z),
            side_y,
            side_z,
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// First index and extents (z, y, x) of a block within the chunk.
    fn block(&self, index: usize) -> (usize, [usize; 3]) {
        let x = index % self.along_x * 4;
        let y = index / self.along_x % self.along_y * self.side_y;
        let z = index / self.along_x / self.along_y * self.side_z;
        let Dims { nz, ny, nx } = self.dims;
        let extent = [
            (nz - z).min(self.side_z),
            (ny - y).min(self.side_y),
            (nx - x).min(4),
        ];
        ((z * ny + y) * nx + x, extent)
    }

    /// First index of the group that starts at this block, if it lies in one row of whole blocks.
    #[inline(always)]
    fn row_of_whole_blocks(&self, first: usize) -> Option<usize> {
        let (start, extent) = self.block(first);
        let in_row = first % self.along_x * 4 + 4 * LANES <= self.dims.nx;
        (in_row && extent == [self.side_z, self.side_y, 4]).then_some(start)
    }

    /// Offset of a row of a block from its first row.
    #[inline(always)]
    fn row_offset(&self, row: usize) -> usize {
        (row / 4 * self.dims.ny + row % 4) * self.dims.nx
    }

    /// Gathers a group; pads positions beyond the chunk like zfp, and leaves lanes beyond the last
    /// block unchanged.
    #[inline(always)]
    pub fn gather<T: BlockFloat, V: Vectors<T>, const N: usize>(
        &self,
        values: &[T],
        first: usize,
        group: &mut [Lanes<T>; N],
    ) {
        if let Some(start) = self.row_of_whole_blocks(first) {
            let (quads, _) = group.as_chunks_mut::<4>();
            for (row, quads) in quads.iter_mut().enumerate() {
                let from = values[start + self.row_offset(row)..].first_chunk();
                if let Some(from) = from {
                    V::load_quads(from, quads);
                }
            }
            return;
        }
        for lane in 0..LANES.min(self.blocks - first) {
            let (start, [pz, py, px]) = self.block(first + lane);
            for (position, lanes) in group.iter_mut().enumerate() {
                let z = PADDING[pz][position / 16];
                let y = PADDING[py][position / 4 % 4];
                let x = PADDING[px][position % 4];
                lanes[lane] = values[start + (z * self.dims.ny + y) * self.dims.nx + x];
            }
        }
    }

    /// Inverts [`Self::gather`]; drops padding.
    #[inline(always)]
    pub fn scatter<T: BlockFloat, V: Vectors<T>, const N: usize>(
        &self,
        group: &[Lanes<T>; N],
        first: usize,
        values: &mut [T],
    ) {
        if let Some(start) = self.row_of_whole_blocks(first) {
            let (quads, _) = group.as_chunks::<4>();
            for (row, quads) in quads.iter().enumerate() {
                let to = values[start + self.row_offset(row)..].first_chunk_mut();
                if let Some(to) = to {
                    V::store_quads(quads, to);
                }
            }
            return;
        }
        for block in first..self.blocks.min(first + LANES) {
            self.for_each(block, |position, index| {
                values[index] = group[position][block - first];
            });
        }
    }

    /// Calls `visit(position in the block, index in the chunk)` for the values of a block within the
    /// chunk.
    #[inline(always)]
    pub fn for_each(&self, block: usize, mut visit: impl FnMut(usize, usize)) {
        let (start, [pz, py, px]) = self.block(block);
        for z in 0..pz {
            for y in 0..py {
                let row = start + (z * self.dims.ny + y) * self.dims.nx;
                for x in 0..px {
                    visit(16 * z + 4 * y + x, row + x);
                }
            }
        }
    }
}
