//! Negabinary, and keeping only the top bit planes of it.

use super::grid::{LANES, Lanes};
use super::real::Int;

/// What is kept of the coefficients of each block of a group.
#[derive(Debug, Clone, Copy)]
pub struct Truncation<I> {
    /// Added before truncation.
    round: Lanes<I>,
    /// The kept bits.
    keep: Lanes<I>,
}

impl<I: Int> Truncation<I> {
    /// Keeps this many planes. With `nearest`, the dropped part is centred on zero first (zfp's
    /// `ZFP_ROUND_FIRST`); without, it is cut off, as zfp does by default.
    #[inline(always)]
    pub fn new(planes: &Lanes<u32>, nearest: bool) -> Self {
        let mut round = [I::default(); LANES];
        let mut keep = [I::default(); LANES];
        for lane in 0..LANES {
            let dropped = I::BITS - planes[lane].min(I::BITS);
            let low = super::bits::low_mask(dropped);
            keep[lane] = I::from_word(!low);
            if nearest {
                // The low negabinary digits span −2/3 … 1/3 of their range if they are even in
                // number, else −1/3 … 2/3: off centre by a sixth.
                let sixth = low / 6;
                round[lane] = I::from_word(if dropped.is_multiple_of(2) {
                    sixth.wrapping_neg()
                } else {
                    sixth
                });
            }
        }
        Self { round, keep }
    }

    /// The kept planes of one coefficient of each block, as negabinary bits.
    #[inline(always)]
    pub fn forward(&self, coefficients: &Lanes<I>) -> Lanes<I> {
        let mut bits = [I::default(); LANES];
        for lane in 0..LANES {
            bits[lane] = coefficients[lane]
                .plus(self.round[lane])
                .plus(I::NEGABINARY)
                .xor(I::NEGABINARY)
                .and(self.keep[lane]);
        }
        bits
    }
}

/// The coefficients with these negabinary bits.
#[inline(always)]
pub fn inverse<I: Int>(bits: &Lanes<I>) -> Lanes<I> {
    bits.map(|bits| bits.xor(I::NEGABINARY).minus(I::NEGABINARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_centres_the_dropped_part() {
        for planes in 20..=32 {
            let span = 1i64 << (32 - planes);
            for (nearest, limit) in [(true, span / 2 + 1), (false, span * 2 / 3 + 1)] {
                let truncation = Truncation::<i32>::new(&[planes; LANES], nearest);
                for x in (-9000..9000).step_by(7) {
                    let back = inverse(&truncation.forward(&[x; LANES]))[0];
                    assert!(
                        i64::from(back - x).abs() <= limit,
                        "{planes} planes of {x}: {back}"
                    );
                }
            }
        }
    }
}
