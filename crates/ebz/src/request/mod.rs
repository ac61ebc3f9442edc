//! What a codec is asked to do: extents, tolerance, fill values, parameters.

mod params;

pub use params::{Param, Params};

use crate::bound::Tolerance;
use crate::fill::FillValues;

/// Extents of a chunk as a codec sees it, slowest axis first. Missing axes have extent 1; axes
/// beyond three are merged into the slowest.
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

    /// Whether there are no values.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of axes up to the slowest one longer than 1: 1, 2 or 3.
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

/// How to encode a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Extents; their product is the number of values.
    pub dims: Dims,
    /// The error bound for every value.
    pub tolerance: Tolerance,
    /// Values that must be preserved exactly.
    pub fill: FillValues,
    /// The codec's parameters, already validated.
    pub params: &'a Params,
}
