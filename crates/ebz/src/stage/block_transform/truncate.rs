//! Conversion to negabinary, and truncation to the top bit planes.

use super::block_float::{BlockFloat, BlockInt};
use super::lanes::{LANES, Lanes};
use super::vectors::Vectors;
use crate::bits::low_mask;

/// How the coefficients of each block of a group are truncated.
#[derive(Debug, Clone, Copy)]
pub struct Truncation<I> {
    /// Added before truncation; includes the negabinary mask.
    bias: I,
    /// The negabinary mask.
    mask: I,
    /// Mask of the kept bits.
    keep: I,
}

/// Keeps this many planes of each block. With `nearest`, centres the dropped part on zero first (zfp's
/// `ZFP_ROUND_FIRST`); otherwise truncates, as zfp does by default.
#[inline(always)]
pub fn keep<T: BlockFloat, V: Vectors<T>>(
    planes: &Lanes<u32>,
    nearest: bool,
) -> Truncation<V::Int> {
    let mut bias = [T::Int::NEGABINARY; LANES];
    let mut keep = [T::Int::default(); LANES];
    for lane in 0..LANES {
        let dropped = T::Int::BITS - planes[lane].min(T::Int::BITS);
        let low = low_mask(dropped);
        keep[lane] = T::Int::from_word(!low);
        if nearest {
            // The low negabinary digits cover −2/3 … 1/3 of their range if their number is even,
            // else −1/3 … 2/3: off centre by a sixth.
            let sixth = T::Int::from_word(low / 6);
            bias[lane] = if dropped.is_multiple_of(2) {
                bias[lane].minus(sixth)
            } else {
                bias[lane].plus(sixth)
            };
        }
    }
    Truncation {
        bias: V::load_int(&bias),
        mask: V::splat(T::Int::NEGABINARY),
        keep: V::load_int(&keep),
    }
}

/// Truncates one coefficient of each block; returns negabinary bits.
#[inline(always)]
pub fn forward<T: BlockFloat, V: Vectors<T>>(
    t: &Truncation<V::Int>,
    coefficients: V::Int,
) -> V::Int {
    V::and(V::xor(V::plus(coefficients, t.bias), t.mask), t.keep)
}

/// Converts negabinary bits to coefficients.
#[inline(always)]
pub fn inverse<T: BlockFloat, V: Vectors<T>>(mask: V::Int, bits: V::Int) -> V::Int {
    V::minus(V::xor(bits, mask), mask)
}

impl<I: Copy> Truncation<I> {
    /// The negabinary mask, for [`inverse`].
    #[inline(always)]
    pub fn mask(&self) -> I {
        self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::Portable;
    use super::*;

    #[test]
    fn rounding_centres_the_dropped_part() {
        for planes in 20..=32 {
            let span = 1i64 << (32 - planes);
            for (nearest, limit) in [(true, span / 2 + 1), (false, span * 2 / 3 + 1)] {
                let kept = keep::<f32, Portable>(&[planes; LANES], nearest);
                for x in (-9000..9000).step_by(7) {
                    let bits = forward::<f32, Portable>(&kept, [x; LANES]);
                    let back = inverse::<f32, Portable>(kept.mask(), bits)[0];
                    assert!(
                        i64::from(back - x).abs() <= limit,
                        "{planes} planes of {x}: {back}"
                    );
                }
            }
        }
    }
}
