//! `fre`: fixed relative error, one short word per value.
//!
//! Implements the FRE scheme of the out-of-core paper; `docs/differences.md` lists the differences.
//!
//! ```text
//! bit patterns ─► round to the grid ─► one word each (word.rs) ─► 1 or 32 bit streams (lanes)
//! ```
//!
//! A decoded pattern depends only on its value, so the encoder knows it without decoding, and both
//! directions process many values at once.

mod cursor;
mod decode;
mod encode;
mod grid;
mod kernels;
mod lanes;
mod order;
#[cfg(test)]
mod tests;
mod word;

use super::{Codec, Context, Dims, Info, Param, Params, Task};
use crate::bound::BoundKind;
use crate::element::real::Real;
use crate::element::{Float, with_float};
use crate::error::Result;
use grid::MantissaGrid;

/// The codec with one word per value.
pub struct Fre;

/// Rounding modes, default first.
const ROUNDING: [&str; 2] = ["nearest", "truncate"];
/// Encodings of repeated zeros and subnormals, default first.
const ZEROS: [&str; 2] = ["repeat", "word"];
/// Number of lanes of large chunks, default first.
const LANES: [&str; 2] = ["32", "1"];
/// Orders of the codes of exponent differences, default first.
const WORDS: [&str; 2] = ["paper", "measured"];

impl Codec for Fre {
    const INFO: Info = Info {
        id: 2,
        name: "fre",
        summary: "fixed relative error: one short word per value",
        tolerances: &[
            BoundKind::Pointwise,
            BoundKind::Precision,
            BoundKind::Lossless,
        ],
        params: &[
            Param {
                name: "rounding",
                default: ROUNDING[0],
                help: "nearest, or truncate as in the paper, which needs one more bit for the same bound",
            },
            Param {
                name: "zeros",
                default: ZEROS[0],
                help: "repeat: a repeated zero takes 2 bits; word: each takes a whole word, as in the paper",
            },
            Param {
                name: "lanes",
                default: LANES[0],
                help: "32 bit streams in chunks of at least 65,536 values, or 1 as in the paper",
            },
            Param {
                name: "words",
                default: WORDS[0],
                help: "paper: short words for small exponent differences; measured: for those that are frequent in the chunk, slower",
            },
        ],
        rewrites_exactly: Some(&[]),
    };
    const QUARTERS: Option<u32> = Some(6);

    fn validate(params: &Params) -> Result<()> {
        params.choice("rounding", &ROUNDING)?;
        params.choice("zeros", &ZEROS)?;
        params.choice("lanes", &LANES)?;
        params.choice("words", &WORDS)?;
        Ok(())
    }

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let nearest = task.params.choice("rounding", &ROUNDING)? == ROUNDING[0];
        let zeros_repeat = task.params.choice("zeros", &ZEROS)? == ZEROS[0];
        let one_lane = task.params.choice("lanes", &LANES)? == LANES[1];
        let measured = task.params.choice("words", &WORDS)? == WORDS[1];
        with_float!(T, F => {
            let fill = task.fill.typed(|fill| (fill as F).to_bits());
            let mut grid = MantissaGrid::new(task.tolerance, nearest, fill);
            grid.zeros_repeat = zeros_repeat;
            let values = bytemuck::cast_slice(values);
            encode::encode(values, &grid, one_lane, measured, context, out);
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
