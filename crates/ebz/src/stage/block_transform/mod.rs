//! The block transform of the zfp family: converts blocks of 4 values per axis to bit planes and back.
//!
//! ```text
//! values ─► gather ─► block floating point ─► lifting ─► negabinary, truncated ─► planes ─► code
//! values ◄─ scatter ◄─ block floating point ◄─ lifting ◄─ negabinary ◄───────────── planes ◄─ code
//! ```
//!
//! The codecs of the family differ only in the encoding of planes, their [`PlaneCode`]. Eight blocks
//! are processed at a time, one per vector lane; the code is generic over the
//! [`Vectors`](vectors::Vectors) of an instruction set. The [layout by coefficients](coefficients) has neither
//! block exponents nor plane codes.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod block_float;
mod coefficients;
mod decode;
mod dispatch;
mod encode;
mod grid;
mod header;
mod lanes;
mod lift;
mod marks;
mod plane_code;
mod planes;
mod search;
mod segments;
mod special;
mod truncate;
mod vectors;

use crate::element::{Float, with_float};
use crate::error::Result;
use crate::request::Dims;
use crate::simd::Level;
use bytemuck::{cast_slice, cast_slice_mut};

pub use encode::{Scratch, Settings};
pub use plane_code::{PlaneCode, STREAMS};
pub use planes::Planes;

/// Flag of a chunk's first byte: the exact side list follows the segments.
const EXCEPTIONS: u8 = 4;
/// Flag of the same byte: the layout by coefficients.
const COEFFICIENTS: u8 = 128;
/// Mask of the number of axes, and bit position of the variant of the plane code, in the same byte.
const AXES: u8 = 3;
const CODE_AT: u32 = 3;

/// Appends the encoded chunk to `out`.
pub fn encode<T: Float, C: PlaneCode>(
    values: &[T],
    settings: &Settings,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    with_float!(T, F => encode::encode::<F, C>(cast_slice(values), settings, scratch, out))
}

/// Decodes a chunk into `out`.
pub fn decode<T: Float, C: PlaneCode>(
    bytes: &[u8],
    dims: Dims,
    simd: Level,
    out: &mut [T],
) -> Result<()> {
    with_float!(T, F => decode::decode::<F, C>(bytes, dims, simd, cast_slice_mut(out)))
}
