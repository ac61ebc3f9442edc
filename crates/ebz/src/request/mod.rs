//! What is asked of a codec: the extents of a chunk, the guarantee, the parameters.

mod params;

pub use params::{Param, Params};

use crate::bound::Tolerance;
use crate::fill::FillValues;

/// Extents of a chunk as a codec sees them, slowest axis first; arrays of fewer axes have leading
/// ones, and further slow axes are merged into the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    /// Slowest axis.
    pub nz: usize,
    /// Rows per plane.
    pub ny: usize,
    /// Values per row.
    pub nx: usize,
}

impl Dims {
    /// Number of values.
    pub const fn len(self) -> usize {
        self.nz * self.ny * self.nx
    }

    /// No values at all.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of axes with more than one value per step: 1, 2 or 3.
    pub const fn axes(self) -> usize {
        if self.nz > 1 {
            3
        } else if self.ny > 1 {
            2
        } else {
            1
        }
    }
}

/// What an encoder is to do with a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Extents; their product is the number of values.
    pub dims: Dims,
    /// The guarantee to give for every value.
    pub tolerance: Tolerance,
    /// Values equal to one of these must come back exactly.
    pub fill: FillValues,
    /// The codec's own parameters, already checked.
    pub params: &'a Params,
}
