//! What residuals would cost, without coding them: their entropy, and that of their masks.

use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::Estimate;
use crate::stage::occupancy;
use crate::stage::word::Word;

/// Frequencies in a sample.
pub(super) struct Entropy {
    masks: [u32; 256],
    /// How many residuals have more bits than this.
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
                    let count = residuals.iter().map(|&r| u16::from(r >= least));
                    *wider += u32::from(count.sum::<u16>());
                }
            },
        );
    }

    fn cost(&self) -> u64 {
        // Residuals of equal width share a class; zeros are in the masks.
        let classes: [u32; 64] = std::array::from_fn(|i| self.wider[i] - self.wider[i + 1]);
        // Behind its highest bit a residual is noise.
        let low_bits: u64 = self.wider[1..].iter().map(|&n| u64::from(n)).sum();
        entropy(&self.masks) + entropy(&classes) + (low_bits << POINT)
    }
}

/// Binary digits of a logarithm.
pub(super) const POINT: u32 = 16;

/// Bits that symbols of these frequencies take at best, times 2^[`POINT`].
pub(super) fn entropy(counts: &[u32]) -> u64 {
    let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
    let bits = |&count: &u32| u64::from(count) * (log2(total) - log2(count.into()));
    counts.iter().filter(|c| **c > 0).map(bits).sum()
}

/// Logarithm times 2^[`POINT`], linear between powers of two: whole numbers, so that every
/// machine makes the same choice.
fn log2(value: u64) -> u64 {
    let Some(whole) = value.checked_ilog2() else {
        return 0;
    };
    let fraction = ((value - (1 << whole)) << POINT) >> whole;
    (u64::from(whole) << POINT) + fraction
}
