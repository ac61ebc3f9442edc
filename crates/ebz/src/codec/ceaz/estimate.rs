//! Estimates the cost of residuals by their entropy and that of their masks.

use crate::element::word::Word;
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::Estimate;
use crate::stage::occupancy;

/// Frequencies of masks and residual widths in a sample.
pub(super) struct Entropy {
    masks: [u32; 256],
    /// Number of residuals with more than this many bits.
    wider: [u32; 65],
}

impl Default for Entropy {
    fn default() -> Self {
        Self {
            masks: [0; 256],
            wider: [0; 65],
        }
    }
}

impl Estimate for Entropy {
    const EVERYWHERE: bool = true;

    fn samples(units: usize) -> usize {
        (units / 16).clamp(1, 32)
    }

    fn add<W: Word>(&mut self, level: Level, residuals: &[W; UNIT]) {
        for mask in occupancy::masks(residuals, level) {
            self.masks[usize::from(mask)] += 1;
        }
        level.run(
            #[inline(always)]
            || {
                let widths = 16 * W::PARTS;
                for (bits, wider) in self.wider.iter_mut().enumerate().take(widths) {
                    let least = W::truncate(1 << bits);
                    // A loop: the iterator's own would be compiled for the build target.
                    let mut count = 0u16;
                    for &residual in residuals {
                        count += u16::from(residual >= least);
                    }
                    *wider += u32::from(count);
                }
            },
        );
    }

    fn cost(&self) -> u64 {
        // Residuals of equal width share a class; zeros are in the masks.
        let classes: [u32; 64] = std::array::from_fn(|i| self.wider[i] - self.wider[i + 1]);
        // Treat the bits below the highest one as noise.
        let low_bits: u64 = self.wider[1..].iter().map(|&n| u64::from(n)).sum();
        entropy(&self.masks) + entropy(&classes) + (low_bits << FRACTION_BITS)
    }
}

/// Fractional bits of a logarithm.
pub(super) const FRACTION_BITS: u32 = 16;

/// Entropy in bits of symbols of these frequencies, times 2^[`FRACTION_BITS`].
pub(super) fn entropy(counts: &[u32]) -> u64 {
    let (mut total, mut saved) = (0, 0);
    for &count in counts {
        total += u64::from(count);
        saved += u64::from(count) * log2(count.into());
    }
    total * log2(total) - saved
}

/// Binary logarithm times 2^[`FRACTION_BITS`], piecewise linear between powers of two, and 0 for 0.
/// Computed from the exponent and mantissa of a float, so that every machine makes the same choice.
fn log2(value: u64) -> u64 {
    const DIGITS: u32 = f64::MANTISSA_DIGITS - 1;
    const ONE: u64 = 1023 << DIGITS;
    (value as f64).to_bits().saturating_sub(ONE) >> (DIGITS - FRACTION_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_linear_between_powers_of_two() {
        assert_eq!(
            [0, 1, 2, 4, 1 << 31].map(log2),
            [0, 0, 1 << 16, 2 << 16, 31 << 16]
        );
        assert_eq!([3, 5, 6].map(log2), [3 << 15, 9 << 14, 5 << 15]);
        assert_eq!(entropy(&[]), 0);
        assert_eq!(entropy(&[7, 0]), 0);
        assert_eq!(entropy(&[5, 5, 5, 5]), (5 * 8) << FRACTION_BITS);
    }
}
