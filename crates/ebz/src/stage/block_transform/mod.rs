//! The front that the zfp family shares: blocks of 4 values per axis become bit planes, and back.
//!
//! ```text
//! values ─► gather ─► block floating point ─► lifting ─► negabinary, truncated ─► planes ─► code
//! values ◄─ scatter ◄─ block floating point ◄─ lifting ◄─ negabinary ◄───────────── planes ◄─ code
//! ```
//!
//! How planes are written is all that the codecs of the family differ in: they give a
//! [`PlaneCode`]. Eight blocks are worked on at once, one per vector lane, by code that is written
//! once over the [`Vectors`](vectors::Vectors) of each instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bits;
mod decode;
mod dispatch;
mod encode;
mod exceptions;
mod grid;
mod lift;
mod planes;
mod real;
mod search;
mod segments;
mod truncate;
mod vectors;

use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::request::{Dims, Param, Params, Task};
use crate::workspace::Context;

pub use bits::{BitReader, BitWriter, low_mask};
pub use planes::Planes;

/// Bit streams per chunk. Block `b` is in stream `b % STREAMS`, so that a decoder can follow
/// several at once instead of waiting for the length of each word.
pub const STREAMS: usize = 4;

/// Appends a chunk, coded in segments of about `segment` bytes, to `out`.
pub fn encode<T: Element, C: PlaneCode>(
    values: &[T],
    task: &Task<'_>,
    segment: u32,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    use bytemuck::cast_slice;
    match T::TYPE {
        ElementType::F32 => {
            encode::encode::<f32, C>(cast_slice(values), task, segment, context, out)
        }
        ElementType::F64 => {
            encode::encode::<f64, C>(cast_slice(values), task, segment, context, out)
        }
    }
}

/// Fills `out` from the bytes of a chunk.
pub fn decode<T: Element, C: PlaneCode>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    use bytemuck::cast_slice_mut;
    match T::TYPE {
        ElementType::F32 => decode::decode::<f32, C>(bytes, dims, context, cast_slice_mut(out)),
        ElementType::F64 => decode::decode::<f64, C>(bytes, dims, context, cast_slice_mut(out)),
    }
}

/// The parameter that sets the size of segments.
pub const fn segment_param(default: &'static str) -> Param {
    Param {
        name: "segment",
        default,
        help: "bytes per segment, which can be decoded without the others; 1024 to 2^30",
    }
}

/// The size of segments that the user asks for.
pub fn segment_size(params: &Params, default: u32) -> Result<u32> {
    let size = params.parse("segment", default)?;
    if (1 << 10..=1 << 30).contains(&size) {
        Ok(size)
    } else {
        Err(Error::invalid(format!(
            "segment={size}: use 1024 to 1073741824 bytes"
        )))
    }
}

/// How the planes of a block of `N` values are written. Plane bits are in the low `N` bits.
pub trait PlaneCode: Copy {
    /// The most planes that can be written; a block that needs more is kept exactly.
    fn most_planes<const N: usize>() -> u32 {
        64
    }

    /// An upper limit of the bits that [`PlaneCode::write`] appends for so many planes.
    fn most_bits<const N: usize>(planes: usize) -> usize;

    /// Appends planes, most significant first.
    fn write<const N: usize>(planes: &[u64], writer: &mut BitWriter);

    /// Reads `counts[s]` planes of one block from each stream. A stream of no writer may give any
    /// bits below `N`.
    fn read<const N: usize>(
        readers: &mut [BitReader<'_>; STREAMS],
        counts: [usize; STREAMS],
        planes: &mut [Planes; STREAMS],
    );
}

/// Flag of a chunk's first byte: a list of exceptions follows the streams.
const EXCEPTIONS: u8 = 4;

/// Bits of the header field that counts planes; all planes are written as 0.
const fn count_bits<T: real::Real>() -> u32 {
    <T::Int as real::Int>::BITS.trailing_zeros()
}
