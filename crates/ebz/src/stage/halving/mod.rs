//! Prediction from a coarser array: every second value along each axis predicts the others.
//!
//! ```text
//! values ─► every second value ─► coded elsewhere, with a tighter bound ─► coarse values
//! coarse values ─► cubic interpolation ─► predictions
//! values − predictions ─► quantized ─► residual units, exceptions
//! ```
//!
//! Where a field is smooth on the scale of the bound, residuals are zeros and the coarse values,
//! an eighth of all in three dimensions, are all that is left to code. No residual depends on
//! another, so that both directions work on whole vectors.
//!
//! Residuals are steps from the prediction ([`Free`]), or from the lattice point nearest to it
//! ([`Fixed`]); coarse values need no tighter bound then, because they are lattice points too.

mod predict;
mod residuals;

pub(crate) use residuals::{Fixed, Free, Lattice, Steps, forward, inverse, sampled_cost};

use crate::element::Float;
use crate::request::Dims;

/// Axes shorter than this are not halved: their ends, which predict badly, would be most of them.
const SHORTEST: usize = 8;

/// Which axes are halved, fastest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Halving {
    dims: Dims,
    axes: [bool; 3],
}

impl Halving {
    /// Halves every axis that is long enough; `None` if these are fewer than two, because half of
    /// the values is too many.
    pub fn of(dims: Dims) -> Option<Self> {
        let axes = [dims.nx, dims.ny, dims.nz].map(|n| n >= SHORTEST);
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

    /// Replaces `coarse` by the coarse values: those at even places and the last one.
    pub fn gather<T: Float>(&self, values: &[T], coarse: &mut Vec<T>) {
        let Dims { nz, ny, nx } = self.dims;
        let places = |halved: bool, n: usize| {
            let step = if halved { 2 } else { 1 };
            let last = (halved && n.is_multiple_of(2)).then(|| n - 1);
            (0..n).step_by(step).chain(last)
        };
        coarse.clear();
        coarse.reserve(self.coarse().len());
        for z in places(self.axes[2], nz) {
            for y in places(self.axes[1], ny) {
                let row = &values[(z * ny + y) * nx..][..nx];
                if self.axes[0] {
                    let (pairs, _) = row.as_chunks::<2>();
                    coarse.extend(pairs.iter().map(|pair| pair[0]));
                    // At an even place, or beside one.
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
