//! Bit planes: bit `i` of plane `p` is bit `top − p` of the coefficient with sequency rank `i`.
//!
//! The input is the kept negabinary bits of a group in raster order; the output is the planes of each
//! block, most significant first.

use super::block_float::BlockInt;
use super::lanes::{LANES, Lanes};
use crate::bits::transpose8;

/// Planes of one block, most significant first; the unused ones are unspecified.
pub type Planes = [u64; 64];

/// Raster position of each sequency rank, in the order of zfp: by the sum of the frequencies, then by
/// the sum of their squares.
pub const fn sequency<const N: usize>() -> [u8; N] {
    let mut order = [0; N];
    let mut rank = 0;
    let mut key = 0;
    while rank < N {
        let mut position = 0;
        while position < N {
            let (x, y, z) = (position % 4, position / 4 % 4, position / 16);
            if (x + y + z) * 32 + x * x + y * y + z * z == key {
                order[rank] = position as u8;
                rank += 1;
            }
            position += 1;
        }
        key += 1;
    }
    order
}

/// Computes at least the top `needed` planes of every block of a group.
#[inline(always)]
pub fn split<I: BlockInt, const N: usize>(
    bits: &[Lanes<I>; N],
    needed: u32,
    planes: &mut [Planes; LANES],
) {
    let order = const { sequency::<N>() };
    for (lane, planes) in planes.iter_mut().enumerate() {
        let words = order.map(|position| bits[position as usize][lane].to_word());
        for top in (0..needed).step_by(8) {
            let eight: &mut [u64] = &mut planes[top as usize..][..8];
            eight.fill(0);
            for (part, words) in words.chunks(8).enumerate() {
                let mut square = 0;
                for (row, word) in words.iter().enumerate() {
                    square |= (word >> (I::BITS - 8 - top) & 0xff) << (8 * row);
                }
                let square = transpose8(square).swap_bytes();
                for (column, plane) in eight.iter_mut().enumerate() {
                    *plane |= (square >> (8 * column) & 0xff) << (8 * part);
                }
            }
        }
    }
}

/// Inverts [`split`]; planes from `given` on are treated as zero.
#[inline(always)]
pub fn join<I: BlockInt, const N: usize>(
    planes: &mut [Planes; LANES],
    given: &Lanes<u32>,
    bits: &mut [Lanes<I>; N],
) {
    clear_rest(planes, given);
    let order = const { sequency::<N>() };
    for (lane, planes) in planes.iter_mut().enumerate() {
        let given = given[lane] as usize;
        let mut words = [0u64; N];
        for top in (0..given).step_by(8) {
            let eight = &planes[top..][..8];
            for (part, words) in words.chunks_mut(8).enumerate() {
                let mut square = 0;
                for (column, plane) in eight.iter().enumerate() {
                    square |= (plane >> (8 * part) & 0xff) << (8 * column);
                }
                let square = transpose8(square.swap_bytes());
                for (row, word) in words.iter_mut().enumerate() {
                    *word |= (square >> (8 * row) & 0xff) << (I::BITS as usize - 8 - top);
                }
            }
        }
        for (word, position) in words.into_iter().zip(order) {
            bits[position as usize][lane] = I::from_word(word);
        }
    }
}

/// Clears the planes from `given` up to the next multiple of eight.
#[inline(always)]
pub fn clear_rest(planes: &mut [Planes; LANES], given: &Lanes<u32>) {
    for (planes, &given) in planes.iter_mut().zip(given) {
        let given = given as usize;
        planes[given..given.next_multiple_of(8)].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_total_frequency() {
        assert_eq!(sequency::<4>(), [0, 1, 2, 3]);
        assert_eq!(sequency::<16>()[..6], [0, 1, 4, 5, 2, 8]);
        let three = sequency::<64>();
        assert_eq!(three[..4], [0, 1, 4, 16]);
        assert_eq!(three[63], 63);
        let sums: Vec<_> = three.iter().map(|p| p % 4 + p / 4 % 4 + p / 16).collect();
        assert!(sums.is_sorted());
    }
}
