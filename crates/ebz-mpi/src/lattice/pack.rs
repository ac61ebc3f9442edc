//! Bit packing of residuals: blocks of 256, each with as many bits per number as its largest one needs.
//!
//! A body is the number of residuals (4 bytes), the widths of the blocks (a byte each), and the blocks.
//! A block of width w is w rows of eight 32-bit words: eight interleaved lanes, each with the low w bits
//! of 32 numbers back to back, so that all lanes use the same shifts. Residuals are zigzag-coded.

use crate::error::Result;
use crate::wide::wide;
use ebz::Error;

const LANES: usize = 8;
const ROWS: usize = 32;
pub(crate) const BLOCK: usize = LANES * ROWS;

/// Appends packed residuals.
pub(crate) fn pack(residuals: &[i32], out: &mut Vec<u8>) {
    out.extend_from_slice(&(residuals.len() as u32).to_le_bytes());
    let widths = out.len();
    out.resize(widths + residuals.len().div_ceil(BLOCK), 0);
    let mut folded = [0u32; BLOCK];
    for (block, residuals) in residuals.chunks(BLOCK).enumerate() {
        folded[residuals.len()..].fill(0);
        let any = wide(
            #[inline(always)]
            || {
                let mut any = 0;
                for (to, &n) in folded.iter_mut().zip(residuals) {
                    *to = ((n << 1) ^ (n >> 31)) as u32;
                    any |= *to;
                }
                any
            },
        );
        let width = (32 - any.leading_zeros()) as usize;
        out[widths + block] = width as u8;
        let start = out.len();
        out.resize(start + block_bytes(width), 0);
        let (words, _) = out[start..].as_chunks_mut::<{ 4 * LANES }>();
        PACK[width](&folded, words);
    }
}

/// Bytes of this many residuals, given the widths of their blocks.
fn block_bytes(width: usize) -> usize {
    width * LANES * 4
}

/// Bytes that [`pack`] would append, without packing.
pub(crate) fn packed_len(residuals: &[i32]) -> usize {
    let blocks = residuals.chunks(BLOCK).map(|block| {
        let any = block.iter().fold(0, |any, &n| any | ((n << 1) ^ (n >> 31)));
        1 + block_bytes(32 - (any as u32).leading_zeros() as usize)
    });
    4 + blocks.sum::<usize>()
}

/// Unpacks to `out`, which must have the right length.
pub(crate) fn unpack(bytes: &[u8], out: &mut [i32]) -> Result<()> {
    each_block(bytes, out, |numbers, out| out.copy_from_slice(numbers))
}

/// Adds packed residuals to others.
pub(crate) fn unpack_add(bytes: &[u8], sums: &mut [i32]) -> Result<()> {
    each_block(bytes, sums, |numbers, sums| {
        wide(
            #[inline(always)]
            || {
                for (sum, &n) in sums.iter_mut().zip(numbers) {
                    *sum = sum.wrapping_add(n);
                }
            },
        );
    })
}

fn each_block(bytes: &[u8], out: &mut [i32], f: impl Fn(&[i32], &mut [i32])) -> Result<()> {
    let wrong = || Error::corrupt("wrong length of packed residuals");
    let (count, rest) = bytes.split_first_chunk::<4>().ok_or_else(wrong)?;
    if u32::from_le_bytes(*count) as usize != out.len() {
        return Err(wrong().into());
    }
    let blocks = out.len().div_ceil(BLOCK);
    let (widths, mut rest) = rest.split_at_checked(blocks).ok_or_else(wrong)?;
    let mut numbers = [0i32; BLOCK];
    for (&width, out) in widths.iter().zip(out.chunks_mut(BLOCK)) {
        let width = usize::from(width);
        let unpack = UNPACK.get(width).ok_or_else(wrong)?;
        let (block, after) = rest
            .split_at_checked(block_bytes(width))
            .ok_or_else(wrong)?;
        rest = after;
        unpack(block.as_chunks::<{ 4 * LANES }>().0, &mut numbers);
        f(&numbers[..out.len()], out);
    }
    match rest.is_empty() {
        true => Ok(()),
        false => Err(wrong().into()),
    }
}

type Row = [u8; 4 * LANES];
type Pack = fn(&[u32; BLOCK], &mut [Row]);
type Unpack = fn(&[Row], &mut [i32; BLOCK]);

/// Packs numbers of width `W` into `W` rows.
fn pack_block<const W: usize>(numbers: &[u32; BLOCK], out: &mut [Row]) {
    wide(
        #[inline(always)]
        || {
            let mut row = [0u32; LANES];
            for (i, numbers) in numbers.as_chunks::<LANES>().0.iter().enumerate() {
                let bit = i * W % 32;
                for lane in 0..LANES {
                    row[lane] |= numbers[lane] << bit;
                }
                if bit + W >= 32 {
                    let at = &mut out[i * W / 32];
                    for lane in 0..LANES {
                        at[4 * lane..][..4].copy_from_slice(&row[lane].to_le_bytes());
                        let left = (32 - bit) as u32;
                        row[lane] = numbers[lane].checked_shr(left).unwrap_or(0);
                    }
                }
            }
        },
    );
}

/// The inverse of [`pack_block`], including the zigzag code.
fn unpack_block<const W: usize>(rows: &[Row], out: &mut [i32; BLOCK]) {
    let mask = if W == 32 { u32::MAX } else { (1u32 << W) - 1 };
    wide(
        #[inline(always)]
        || {
            for (i, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                let (at, bit) = (i * W / 32, i * W % 32);
                for lane in 0..LANES {
                    let word = |row: usize| {
                        let bytes = &rows[row][4 * lane..];
                        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
                    };
                    let mut n = word(at) >> bit;
                    if bit + W > 32 {
                        n |= word(at + 1) << (32 - bit);
                    }
                    n &= mask;
                    out[lane] = (n >> 1) as i32 ^ -((n & 1) as i32);
                }
            }
        },
    );
}

fn pack_nothing(_: &[u32; BLOCK], _: &mut [Row]) {}

fn unpack_nothing(_: &[Row], out: &mut [i32; BLOCK]) {
    out.fill(0);
}

macro_rules! tables {
    ($($width:literal)*) => {
        static PACK: [Pack; 33] = [pack_nothing, $(pack_block::<$width>),*];
        static UNPACK: [Unpack; 33] = [unpack_nothing, $(unpack_block::<$width>),*];
    };
}

tables!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_of_every_width_and_length_come_back() {
        for width in 0..=32u32 {
            for length in [0usize, 1, 255, 256, 257, 1000] {
                let residuals: Vec<i32> = (0..length as u64)
                    .map(|i| {
                        let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                        let n = (bits << 32 >> 32) as u32;
                        let n = if width == 0 { 0 } else { n >> (32 - width) };
                        (n >> 1) as i32 ^ -((n & 1) as i32)
                    })
                    .collect();
                let mut bytes = Vec::new();
                pack(&residuals, &mut bytes);
                assert_eq!(bytes.len(), packed_len(&residuals));
                let mut out = vec![9; length];
                unpack(&bytes, &mut out).unwrap();
                assert_eq!(residuals, out, "width {width}");
                unpack_add(&bytes, &mut out).unwrap();
                let twice = residuals.iter().map(|n| n.wrapping_mul(2));
                assert!(out.iter().copied().eq(twice));
                for cut in [0, bytes.len() / 2, bytes.len() - 1] {
                    assert!(unpack(&bytes[..cut], &mut out).is_err());
                }
                bytes.push(0);
                assert!(unpack(&bytes, &mut out).is_err());
            }
        }
    }

    #[test]
    fn impossible_widths_are_errors() {
        let mut bytes = vec![1, 0, 0, 0, 33];
        bytes.resize(2000, 0);
        assert!(unpack(&bytes, &mut [0]).is_err());
    }
}
