//! Bit planes of a unit of 256 16-bit residuals: width, dense planes, sparse planes.
//!
//! Byte b of a plane holds one bit of each of the values 8b … 8b + 7, lowest first. Planes above
//! the highest bit in use are not stored. The lowest planes, up to the last with few zero bytes, are
//! dense: stored completely (32 bytes). The others are sparse: only nonzero bytes are stored.
//!
//! ```text
//! code     1 byte, stored separately: width · (width + 1) / 2 + number of dense planes
//! dense    32 bytes each
//! groups   4 bits per sparse plane, two planes per byte, lower nibble first: which of its four
//!          8-byte groups are nonzero
//! sparse   for each plane: a mask byte for each nonzero group, then the nonzero bytes
//! ```

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use super::UNIT;
use crate::error::{Error, Result};
use crate::simd::Level;

/// Size of a plane.
const PLANE_BYTES: usize = UNIT / 8;

/// Minimum number of nonzero bytes of a dense plane: masks would cost more than they save.
const MIN_DENSE_BYTES: u32 = 28;

/// Number of codes.
const CODES: usize = 17 * 18 / 2;

/// Maximum size of a unit, valid or not, plus a sparse plane: encoders may write and decoders may
/// read up to here.
pub(crate) const MAX_UNIT: usize = 17 * (PLANE_BYTES + 4) + 8;

/// Maximum size of a unit that an encoder writes.
pub(super) const MAX_WRITTEN: usize = 16 * PLANE_BYTES + 8;

/// Width and number of dense planes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    width: u8,
    dense: u8,
}

impl Shape {
    #[inline(always)]
    pub fn code(self) -> u8 {
        let width = u16::from(self.width);
        (width * (width + 1) / 2) as u8 + self.dense
    }

    /// The shape with this code.
    #[inline(always)]
    pub fn of(code: u8) -> Result<Self> {
        let unknown = || Error::corrupt(format!("bit planes with unknown code {code}"));
        SHAPES.get(usize::from(code)).copied().ok_or_else(unknown)
    }
}

/// The shape of every code.
static SHAPES: [Shape; CODES] = {
    let mut shapes = [Shape { width: 0, dense: 0 }; CODES];
    let (mut width, mut dense) = (0, 0);
    let mut code = 0;
    while code < CODES {
        shapes[code] = Shape { width, dense };
        if dense == width {
            width += 1;
            dense = 0;
        } else {
            dense += 1;
        }
        code += 1;
    }
    shapes
};

/// Encodes a unit to the start of `out`; returns its code and length.
#[inline(always)]
pub(crate) fn encode(level: Level, unit: &[u16; UNIT], out: &mut [u8; MAX_UNIT]) -> (u8, usize) {
    let (shape, length) = match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => avx2::encode(avx2, unit, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => avx512::encode(avx512, unit, out),
        _ => portable::encode(unit, out),
    };
    (shape.code(), length)
}

/// The length that [`encode`] returns.
#[inline(always)]
pub(crate) fn encoded_length(level: Level, unit: &[u16; UNIT]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Level::Avx512(avx512) = level {
        return avx512::encoded_length(avx512, unit);
    }
    encode(level, unit, &mut [0; MAX_UNIT]).1
}

/// Size of the unit with this code at the start of `bytes`, without decoding it.
pub(crate) fn length(code: u8, bytes: &[u8]) -> Result<usize> {
    let end = || Error::corrupt("bit planes are cut off");
    let shape = Shape::of(code)?;
    let (dense, sparse) = (usize::from(shape.dense), shape.width - shape.dense);
    let groups = dense * PLANE_BYTES;
    let mut at = groups + usize::from(sparse).div_ceil(2);
    for plane in 0..usize::from(sparse) {
        let byte = bytes.get(groups + plane / 2).ok_or_else(end)?;
        let masks = (byte >> (4 * (plane % 2)) & 15).count_ones() as usize;
        let bytes = bytes.get(at..at + masks).ok_or_else(end)?;
        at += masks + bytes.iter().map(|m| m.count_ones() as usize).sum::<usize>();
    }
    match at <= bytes.len() {
        true => Ok(at),
        false => Err(end()),
    }
}

/// Decodes the unit with this code from the start of `bytes`; returns its size in bytes.
#[inline(always)]
pub(crate) fn decode(
    level: Level,
    code: u8,
    bytes: &[u8],
    unit: &mut [u16; UNIT],
) -> Result<usize> {
    let shape = Shape::of(code)?;
    if shape.width == 0 {
        unit.fill(0);
        return Ok(0);
    }
    with_room(
        bytes,
        #[inline(always)]
        |bytes| match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(avx2) => avx2::decode(avx2, shape, bytes, unit),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(avx512) => avx512::decode(avx512, shape, bytes, unit),
            _ => portable::decode(shape, bytes, unit),
        },
    )
}

/// Calls a decoder, which may read up to `MAX_UNIT` bytes and returns the length of its unit; the last
/// units of a chunk are copied for that. Returns the length.
#[inline(always)]
pub(super) fn with_room(
    bytes: &[u8],
    decode: impl FnOnce(&[u8; MAX_UNIT]) -> usize,
) -> Result<usize> {
    let padded;
    let window = match bytes.first_chunk() {
        Some(window) => window,
        None => {
            padded = with_zeros(bytes);
            &padded
        }
    };
    let length = decode(window);
    if length > bytes.len() {
        return Err(Error::corrupt("bit planes are cut off"));
    }
    Ok(length)
}

#[cold]
fn with_zeros(bytes: &[u8]) -> [u8; MAX_UNIT] {
    let mut padded = [0; MAX_UNIT];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}
