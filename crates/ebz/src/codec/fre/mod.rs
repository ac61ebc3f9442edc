//! `fre`: fixed relative error, one short word per value.
//!
//! After the FRE scheme of the out-of-core paper. The differences are in `docs/differences.md`.
//!
//! ```text
//! bit patterns ─► rounded to the grid ─► one word each (word.rs) ─► 1 or 32 lanes of bits
//! ```
//!
//! The patterns that the decoder will give are known without coding (they depend on nothing but
//! the value), so both directions work on many values at once.

mod cursor;
mod decode;
mod encode;
mod grid;
mod kernels;
mod lanes;
#[cfg(test)]
mod tests;
mod word;

use super::{Codec, Context, Dims, Info, Param, Params, Task};
use crate::bound::BoundKind;
use crate::element::real::Real;
use crate::element::{Float, with_float};
use crate::error::Result;
use grid::Grid;

/// The codec with a word of its own for every value.
pub struct Fre;

/// Ways of rounding a mantissa, the default first.
const ROUNDING: [&str; 2] = ["nearest", "truncate"];

impl Codec for Fre {
    const INFO: Info = Info {
        id: 2,
        name: "fre",
        summary: "fixed relative error: a word of few bits for each value",
        tolerances: &[
            BoundKind::Pointwise,
            BoundKind::Precision,
            BoundKind::Lossless,
        ],
        params: &[Param {
            name: "rounding",
            default: ROUNDING[0],
            help: "nearest, or truncate as in the paper, which needs one bit more for a bound",
        }],
        rewrites_exactly: Some(&[]),
    };

    fn validate(params: &Params) -> Result<()> {
        params.choice("rounding", &ROUNDING).map(|_| ())
    }

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let nearest = task.params.choice("rounding", &ROUNDING)? == ROUNDING[0];
        with_float!(T, F => {
            let fill = task.fill.typed(|fill| (fill as F).to_bits());
            let grid = Grid::new(task.tolerance, nearest, fill);
            encode::encode(bytemuck::cast_slice(values), &grid, context, out);
        });
        Ok(())
    }

    fn decode<T: Float>(
        bytes: &[u8],
        _dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        with_float!(T, F => {
            type Pattern = <F as Real>::Order;
            decode::decode::<Pattern>(bytes, context, bytemuck::cast_slice_mut(out))
        })
    }
}
