//! Prediction from a coarser array: every second value along each axis predicts the others.
//!
//! ```text
//! values ─► every second value ─► encoded by the caller, with a tighter bound ─► coarse values
//! coarse values ─► cubic interpolation ─► predictions
//! values − predictions ─► quantized ─► residual units, exceptions
//! ```
//!
//! Where a field is smooth relative to the bound, residuals are zero and only the coarse values, an
//! eighth of all in three dimensions, remain to be encoded. Residuals do not depend on each other, so
//! that both directions vectorize.
//!
//! Residuals count steps from the prediction ([`Free`]), or from the lattice point nearest to it
//! ([`Fixed`]). With [`Fixed`], coarse values need no tighter bound: they are lattice points too.

mod predict;
mod residuals;

pub(crate) use residuals::{Fixed, Free, Lattice, Steps, forward, inverse, sampled_cost};

use crate::element::Float;
use crate::request::Dims;

/// Minimum extent of a halved axis: the ends, where prediction is poor, dominate shorter ones.
const MIN_EXTENT: usize = 8;

/// Which axes are halved, fastest axis first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Halving {
    dims: Dims,
    axes: [bool; 3],
}

impl Halving {
    /// Halves every axis that is long enough; `None` if there are fewer than two, because the coarse
    /// values would be half of all.
    pub fn of(dims: Dims) -> Option<Self> {
        let axes = [dims.nx, dims.ny, dims.nz].map(|n| n >= MIN_EXTENT);
        let count = axes.iter().filter(|a| **a).count();
        (count >= 2).then_some(Self { dims, axes })
    }

    /// Extents of the coarse array.
    pub fn coarse(&self) -> Dims {
        let [x, y, z] = self.axes;
        let half = |halved: bool, n: usize| if halved { n / 2 + 1 } else { n };
        Dims {
            nz: half(z, self.dims.nz),
            ny: half(y, self.dims.ny),
            nx: half(x, self.dims.nx),
        }
    }

    /// Replaces `coarse` by the coarse values: those at even positions and the last one.
    pub fn gather<T: Float>(&self, values: &[T], coarse: &mut Vec<T>) {
        let Dims { nz, ny, nx } = self.dims;
        let positions = |halved: bool, n: usize| {
            let step = if halved { 2 } else { 1 };
            let last = (halved && n.is_multiple_of(2)).then(|| n - 1);
            (0..n).step_by(step).chain(last)
        };
        coarse.clear();
        coarse.reserve(self.coarse().len());
        for z in positions(self.axes[2], nz) {
            for y in positions(self.axes[1], ny) {
                let row = &values[(z * ny + y) * nx..][..nx];
                if self.axes[0] {
                    let (pairs, _) = row.as_chunks::<2>();
                    coarse.extend(pairs.iter().map(|pair| pair[0]));
                    // The last value is coarse whether its position is even or odd.
                    coarse.extend(row.last());
                } else {
                    coarse.extend_from_slice(row);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
