//! Input and plan of a chunk; the header of an encoded chunk.

use super::geometry::Extents;
use crate::codec::Dims;
use crate::error::{Error, Result};
use crate::fill::TypedFill;

/// Values to encode, and their bound.
#[derive(Clone, Copy)]
pub(super) struct Source<'a, T> {
    pub(super) values: &'a [T],
    pub(super) dims: Dims,
    pub(super) bound: f64,
    /// Values that must be exact.
    pub(super) fill: TypedFill<T>,
}

/// How a chunk is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Interpolation along all axes at once.
    Isotropic,
    /// Interpolation between planes of the slowest axis, and within planes of what remains.
    Packet,
    /// Differences of quantized values along some axes, given as bits of a class.
    Lorenzo(u8),
}

/// Axis orders, slowest axis first.
pub(super) const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 0, 2],
    [2, 0, 1],
    [0, 2, 1],
    [1, 2, 0],
    [2, 1, 0],
];

/// How a chunk is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) mode: Mode,
    /// Index into [`ORDERS`].
    pub(super) order: usize,
}

/// Extents and strides in an axis order.
pub(super) fn arrange(order: usize, dims: Dims) -> (Extents, Extents) {
    let extents = [dims.nz, dims.ny, dims.nx];
    let strides = [dims.ny * dims.nx, dims.nx, 1];
    let order = ORDERS[order];
    (order.map(|a| extents[a]), order.map(|a| strides[a]))
}

impl Plan {
    /// Extents and strides in the axis order of the plan.
    pub(super) fn arrange(&self, dims: Dims) -> (Extents, Extents) {
        arrange(self.order, dims)
    }

    /// Writes the header of a chunk.
    pub(super) fn write_to(&self, bound: f64, out: &mut Vec<u8>) {
        let (mode, axes) = match self.mode {
            Mode::Isotropic => (0, 0),
            Mode::Packet => (1, 0),
            Mode::Lorenzo(axes) => (2, axes),
        };
        out.push(mode | (self.order as u8) << 3);
        out.push(axes);
        out.extend_from_slice(&bound.to_le_bytes());
    }

    /// Reads the header of a chunk.
    pub(super) fn read_from(bytes: &mut &[u8]) -> Result<(Self, f64)> {
        let (head, rest) = bytes
            .split_first_chunk::<10>()
            .ok_or_else(|| Error::truncated("interp chunk header"))?;
        *bytes = rest;
        let [mode, axes, bound @ ..] = *head;
        let plan = Self {
            mode: match (mode & 7, axes) {
                (0, 0) => Mode::Isotropic,
                (1, 0) => Mode::Packet,
                (2, 0..=7) => Mode::Lorenzo(axes),
                _ => return Err(Error::corrupt("unknown interp mode")),
            },
            order: usize::from(mode >> 3),
        };
        if plan.order >= ORDERS.len() {
            return Err(Error::corrupt("unknown axis order"));
        }
        Ok((plan, f64::from_le_bytes(bound)))
    }
}
