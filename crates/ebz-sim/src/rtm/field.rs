//! Fields in memory: a grid with a halo of zeros, so that the stencil needs no special cases.

use super::lanes::LANES;
use ebz::{Error, Result};
use ebz_store::io::AlignedBuffer;
use std::ops::Range;

/// Halo width: points that the stencil reads on each side.
pub const REACH: usize = 4;

/// Memory layout of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Grid points: depth, then the horizontal axes; the last axis is contiguous.
    pub extents: [usize; 3],
    /// Distance between rows, in values.
    pub row: usize,
    /// Distance between planes, in values.
    pub plane: usize,
}

impl Layout {
    /// The layout of a grid, or an error if its size overflows.
    pub fn new(extents: [usize; 3]) -> Result<Self> {
        let too_large = || Error::invalid("the grid is too large: choose a smaller one");
        let [_, ny, nx] = extents;
        let row = nx
            .checked_next_multiple_of(LANES)
            .and_then(|width| width.checked_add(LANES))
            .ok_or_else(too_large)?;
        let mut plane = ny
            .checked_add(2 * REACH)
            .and_then(|rows| rows.checked_mul(row))
            .ok_or_else(too_large)?;
        // Planes a multiple of 4 KiB apart would conflict in the L1 cache.
        if plane % 1024 < 128 {
            plane += 128;
        }
        let layout = Self {
            extents,
            row,
            plane,
        };
        match layout.checked_values() {
            Some(_) => Ok(layout),
            None => Err(too_large()),
        }
    }

    fn checked_values(&self) -> Option<usize> {
        let planes = self.extents[0].checked_add(2 * REACH)?;
        let values = planes.checked_mul(self.plane)?.checked_add(64 * LANES)?;
        values.checked_mul(4 * size_of::<f32>()).map(|_| values)
    }

    /// Number of values of a field, halo included.
    pub fn values(&self) -> usize {
        self.checked_values().unwrap_or(usize::MAX)
    }

    /// Number of grid points.
    pub fn points(&self) -> usize {
        self.extents.iter().product()
    }

    /// Offset of a point.
    pub fn at(&self, z: usize, y: usize, x: usize) -> usize {
        (z + REACH) * self.plane + (y + REACH) * self.row + LANES + x
    }

    /// Values per row that the stencil computes.
    pub fn width(&self) -> usize {
        self.row - LANES
    }

    /// Memory range of planes, halo included.
    pub fn planes(&self, planes: Range<usize>) -> Range<usize> {
        (planes.start + REACH) * self.plane..(planes.end + REACH) * self.plane
    }
}

/// A field shared by several threads, each of which writes its own planes.
pub struct Field {
    layout: Layout,
    /// Offset of the first value, at a cache line boundary of the buffer.
    first: *mut f32,
    _buffer: AlignedBuffer,
}

// SAFETY: the buffer is owned by the field.
unsafe impl Send for Field {}
// SAFETY: shared access goes through unsafe functions only, whose callers keep threads apart.
unsafe impl Sync for Field {}

impl Field {
    /// A field of zeros. Fields used together get different numbers, so that the same point of each
    /// maps to a different L1 set.
    pub fn new(layout: Layout, number: usize) -> Result<Self> {
        let mut buffer = AlignedBuffer::new(layout.values() * size_of::<f32>()).map_err(|_| {
            Error::LimitExceeded(
                "the fields of this grid do not fit into memory: choose a smaller grid".into(),
            )
        })?;
        // SAFETY: 64 lines of the buffer are spare; it starts on a page.
        let first = unsafe {
            buffer
                .as_mut_ptr()
                .cast::<f32>()
                .add(number % 4 * 15 * LANES)
        };
        Ok(Self {
            layout,
            first,
            _buffer: buffer,
        })
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn used(&self) -> usize {
        (self.layout.extents[0] + 2 * REACH) * self.layout.plane
    }

    /// All values, halo included.
    pub fn all_mut(&mut self) -> &mut [f32] {
        // SAFETY: within the buffer, and exclusively borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.used()) }
    }

    /// All values, halo included.
    ///
    /// # Safety
    /// No thread may write to the field while the result is borrowed.
    pub unsafe fn all(&self) -> &[f32] {
        // SAFETY: within the buffer; the rest is guaranteed by the caller.
        unsafe { std::slice::from_raw_parts(self.first, self.used()) }
    }

    /// Planes with their halo.
    ///
    /// # Safety
    /// No other thread may access these planes while the result is borrowed.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller gives each thread its own planes"
    )]
    pub unsafe fn planes_mut(&self, planes: Range<usize>) -> &mut [f32] {
        let range = self.layout.planes(planes);
        assert!(range.end <= self.used());
        // SAFETY: within the buffer; the rest is guaranteed by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(range.start), range.len()) }
    }
}
