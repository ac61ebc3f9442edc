//! `fz`: dual quantization and bit planes, at memory speed.
//!
//! Based on FZ-GPU: quantize, predict integers, transpose bits, drop zeros; `docs/differences.md`
//! lists the differences from the paper.
//!
//! ```text
//! values ─► dualquant ─► units of 256 residuals ─► planes ─► codes, planes, exceptions
//!                                   └► flags, the encoding of the paper
//! ```

mod decode;
mod encode;
mod flags;
mod header;
pub(crate) mod narrow;
#[cfg(test)]
mod tests;

use super::{Codec, Context, Dims, Info, Param, Params, Task};
use crate::bound::BoundKind;
use crate::element::Float;
use crate::error::{Error, Result};

/// The codec at memory speed.
pub struct Fz;

/// How residuals are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Layout {
    /// Bit planes of units of 256, sparse or dense.
    #[default]
    Planes = 0,
    /// Tiles of 2,048 with a flag for each block of 16 bytes, as in the paper.
    Flags = 1,
}

/// Names of layouts, default first.
const LAYOUTS: [&str; 2] = ["planes", "flags"];

impl Layout {
    /// The requested layout.
    fn of(params: &Params) -> Result<Self> {
        let flags = params.choice("layout", &LAYOUTS)? == LAYOUTS[1];
        Ok(if flags { Self::Flags } else { Self::Planes })
    }
}

impl Codec for Fz {
    const INFO: Info = Info {
        id: 1,
        name: "fz",
        summary: "dual quantization and bit planes, at the speed of memory",
        tolerances: &[BoundKind::Abs, BoundKind::Pointwise, BoundKind::Lossless],
        params: &[Param {
            name: "layout",
            default: LAYOUTS[0],
            help: "planes: bit planes of units of 256, sparse ones without their zero bytes; flags: the \
                   paper's tiles of 2,048 codes with a flag for each block of 16 bytes, with every lag",
        }],
        rewrites_exactly: Some(&[]),
    };

    const QUARTERS: Option<u32> = Some(0);

    const TELLS_EXTREMES: bool = true;

    fn validate(params: &Params) -> Result<()> {
        Layout::of(params).map(|_| ())
    }

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match Layout::of(task.params)? {
            Layout::Planes => encode::encode(values, task, context, out),
            Layout::Flags => flags::encode(values, task, context, out),
        }
        Ok(())
    }

    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        let (layout, plan, length, rest) = header::read(bytes)?;
        match layout {
            Layout::Planes => decode::decode(&plan, length, rest, dims, context, out),
            Layout::Flags => flags::decode(&plan, length, rest, dims, context, out),
        }
    }
}

fn too_short() -> Error {
    Error::corrupt("fz chunk is too short")
}
