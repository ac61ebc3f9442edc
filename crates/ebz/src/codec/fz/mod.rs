//! `fz`: dual quantization and bit planes, at memory speed.
//!
//! Based on FZ-GPU: quantize, predict integers, transpose bits, drop zeros; `docs/differences.md`
//! lists the differences from the paper.
//!
//! ```text
//! values ─► dualquant ─► units of 256 residuals ─► planes ─► codes, planes, exceptions
//! ```

mod decode;
mod encode;
pub(crate) mod narrow;

use super::{Codec, Context, Dims, Info, Task};
use crate::bound::BoundKind;
use crate::element::Float;
use crate::error::Result;
use crate::stage::dualquant::Plan;

/// The codec at memory speed.
pub struct Fz;

/// Bytes before the codes: the plan and the length of the planes.
const HEADER: usize = Plan::SIZE + 4;

impl Codec for Fz {
    const INFO: Info = Info {
        id: 1,
        name: "fz",
        summary: "dual quantization and bit planes, at the speed of memory",
        tolerances: &[BoundKind::Abs, BoundKind::Pointwise, BoundKind::Lossless],
        params: &[],
        rewrites_exactly: Some(&[]),
    };

    const TELLS_EXTREMES: bool = true;

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        encode::encode(values, task, context, out);
        Ok(())
    }

    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        decode::decode(bytes, dims, context, out)
    }
}
