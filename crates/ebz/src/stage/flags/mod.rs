//! The encoding of FZ-GPU: tiles of 2,048 16-bit codes, bit-shuffled, without zero blocks.
//!
//! A tile is 32 rows of 32 words of two codes each, the first in the lower half. Plane i holds bit i of all
//! words in order: planes 0 to 15 are of the codes at even positions, 16 to 31 of those at odd ones. A plane
//! is 128 bytes, or 8 blocks. A tile stores a flag for each of its 256 blocks, and the nonzero blocks:
//!
//! ```text
//! flags    32 bytes, stored separately: bit b of byte i for block b of plane i
//! blocks   16 bytes each
//! ```
//!
//! Codes are sign and magnitude, with the sign in the highest bit, so that codes near 0 have few set bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;

/// Codes per tile.
pub(crate) const TILE: usize = 2048;

/// Size of the flags of a tile: one byte per plane.
pub(crate) const FLAGS: usize = 32;

/// Size of a block in bytes.
pub(crate) const BLOCK: usize = 16;

/// Maximum size of the blocks of a tile.
pub(crate) const MAX_TILE: usize = 2 * TILE;

/// Words per tile.
const WORDS: usize = TILE / 2;

/// Size of a plane in bytes.
const PLANE: usize = WORDS / 8;

/// One of the four bytes of every word.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bytes([u8; WORDS]);

/// Sign and magnitude of a zigzag residual. The smallest number, whose magnitude does not fit, is the sign alone.
#[inline(always)]
pub(crate) fn sign_magnitude<W: Word>(zigzag: W) -> W {
    let bits = 16 * W::PARTS as u32 - 1;
    let sign = zigzag.shl(bits);
    zigzag.shr(1).add(sign.shr(bits)).or(sign)
}

/// Inverts [`sign_magnitude`].
#[inline(always)]
pub(crate) fn zigzag<W: Word>(code: W) -> W {
    code.shl(1).sub(code.shr(16 * W::PARTS as u32 - 1))
}

/// Encodes a tile: its flags, and its blocks to the start of `out`; returns the size of the blocks.
pub(crate) fn encode(
    level: Level,
    tile: &[u16; TILE],
    flags: &mut [u8; FLAGS],
    out: &mut [u8; MAX_TILE],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Level::Avx512(avx512) = level {
        return avx512::encode(avx512, tile, flags, out);
    }
    level.run(
        #[inline(always)]
        || {
            let words: &[[u16; 2]; WORDS] = bytemuck::cast_ref(tile);
            let word = |[low, high]: [u16; 2]| u32::from(low) | u32::from(high) << 16;
            let used = words.iter().fold(0, |used, &codes| used | word(codes));
            let mut bytes = [Bytes([0; WORDS]); 4];
            for (i, bytes) in bytes.iter_mut().enumerate() {
                for (byte, &codes) in bytes.0.iter_mut().zip(words) {
                    *byte = (word(codes) >> (8 * i)) as u8;
                }
            }
            let mut length = 0;
            for (bit, flags) in flags.iter_mut().enumerate() {
                *flags = 0;
                if used >> bit & 1 == 1 {
                    let plane = plane(level, &bytes[bit / 8], bit as u32 % 8);
                    *flags = pack(&plane, out, &mut length);
                }
            }
            length
        },
    )
}

/// Decodes a tile from its flags and the start of `blocks`; returns the size of its blocks.
pub(crate) fn decode(
    level: Level,
    flags: &[u8; FLAGS],
    blocks: &[u8],
    tile: &mut [u16; TILE],
) -> Result<usize> {
    let count = flags.iter().map(|flags| flags.count_ones()).sum::<u32>();
    let length = BLOCK * count as usize;
    let blocks = blocks
        .get(..length)
        .ok_or_else(|| Error::corrupt("blocks are cut off"))?;
    let blocks = blocks.as_chunks::<BLOCK>().0;
    #[cfg(target_arch = "x86_64")]
    if let Level::Avx512(avx512) = level {
        avx512::decode(avx512, flags, blocks, tile);
        return Ok(length);
    }
    let mut blocks = blocks.iter();
    level.run(
        #[inline(always)]
        || {
            let mut bytes = [Bytes([0; WORDS]); 4];
            for (bit, &flags) in flags.iter().enumerate() {
                if flags != 0 {
                    let plane = unpack(flags, &mut blocks);
                    add_plane(level, &plane, bit as u32 % 8, &mut bytes[bit / 8]);
                }
            }
            let words: &mut [[u16; 2]; WORDS] = bytemuck::cast_mut(tile);
            for (i, word) in words.iter_mut().enumerate() {
                let [a, b, c, d] = std::array::from_fn(|byte| u16::from(bytes[byte].0[i]));
                *word = [a | b << 8, c | d << 8];
            }
        },
    );
    Ok(length)
}

/// Appends the nonzero blocks of a plane; returns its flags.
#[inline(always)]
fn pack(plane: &[u8; PLANE], out: &mut [u8; MAX_TILE], length: &mut usize) -> u8 {
    let mut flags = 0;
    for (i, block) in plane.as_chunks::<BLOCK>().0.iter().enumerate() {
        // Branch-free: a zero block is written too, and overwritten by the next one.
        if let Some(to) = out.get_mut(*length..*length + BLOCK) {
            to.copy_from_slice(block);
        }
        let used = u128::from_le_bytes(*block) != 0;
        flags |= u8::from(used) << i;
        *length += BLOCK * usize::from(used);
    }
    flags
}

/// The plane with these flags, from the next blocks.
#[inline(always)]
fn unpack<'a>(flags: u8, blocks: &mut impl Iterator<Item = &'a [u8; BLOCK]>) -> [u8; PLANE] {
    let mut plane = [0; PLANE];
    for (i, to) in plane.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        if flags >> i & 1 == 1
            && let Some(block) = blocks.next()
        {
            *to = *block;
        }
    }
    plane
}

/// One bit of each byte.
#[inline(always)]
fn plane(level: Level, bytes: &Bytes, bit: u32) -> [u8; PLANE] {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => avx2::plane(avx2, bytes, bit),
        _ => portable::plane(bytes, bit),
    }
}

/// Sets one bit of each byte whose bit in the plane is set.
#[inline(always)]
fn add_plane(level: Level, plane: &[u8; PLANE], bit: u32, bytes: &mut Bytes) {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => avx2::add_plane(avx2, plane, bit, bytes),
        _ => portable::add_plane(plane, bit, bytes),
    }
}
