//! Variable-length unsigned integers (LEB128).

use crate::error::{Error, Result};

/// Appends an integer.
pub fn write(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Encoded length of an integer in bytes.
pub fn length(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Reads an integer from the front of `bytes`.
pub fn read(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes
            .split_first()
            .ok_or_else(|| Error::truncated("an integer is cut off"))?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if part << shift >> shift != part {
            break;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Error::corrupt("an integer is too large"))
}

/// Appends a block of bytes, preceded by its length.
pub fn write_block(bytes: &[u8], out: &mut Vec<u8>) {
    write(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads a block of bytes from the front of `bytes`.
pub fn read_block<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = read_length(bytes)?;
    bytes
        .split_off(..length)
        .ok_or_else(|| Error::truncated("a block is cut off"))
}

/// Reads a length from the front of `bytes`.
pub fn read_length(bytes: &mut &[u8]) -> Result<usize> {
    usize::try_from(read(bytes)?).map_err(|_| Error::corrupt("a length is too large"))
}
