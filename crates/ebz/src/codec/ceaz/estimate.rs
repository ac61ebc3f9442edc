//! What residuals would cost, without coding them: their entropy, and that of their masks.

use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::Estimate;
use crate::stage::word::Word;

/// Residuals below this have a bucket of their own; further ones share a bucket with those that
/// have the same two highest bits.
const SINGLE: u64 = 32;
const BUCKETS: usize = SINGLE as usize + 2 * 59;

/// Frequencies in a sample.
pub(super) struct Entropy {
    masks: [u32; 256],
    /// In two tables that take turns: a counter that was just written is slow to read.
    buckets: [[u32; BUCKETS]; 2],
    /// Bits that tell the residuals of a bucket apart.
    low_bits: u64,
}

impl Default for Entropy {
    fn default() -> Self {
        Self {
            masks: [0; 256],
            buckets: [[0; BUCKETS]; 2],
            low_bits: 0,
        }
    }
}

impl Estimate for Entropy {
    fn samples(units: usize) -> usize {
        (units / 16).clamp(1, 32)
    }

    fn add<W: Word>(&mut self, _: Level, residuals: &[W; UNIT]) {
        for octet in residuals.chunks_exact(8) {
            let mut mask = 0;
            for (i, residual) in octet.iter().enumerate() {
                let residual = residual.unsigned();
                mask |= usize::from(residual != 0) << i;
                let bucket = if residual < SINGLE {
                    residual as usize
                } else {
                    let width = residual.ilog2();
                    self.low_bits += u64::from(width - 1);
                    let half = (residual >> (width - 1) & 1) as usize;
                    SINGLE as usize + 2 * (width as usize - 5) + half
                };
                self.buckets[i % 2][bucket] += 1;
            }
            self.masks[mask] += 1;
        }
    }

    fn cost(&self) -> u64 {
        let [even, odd] = &self.buckets;
        let buckets: [u32; BUCKETS] = std::array::from_fn(|i| even[i] + odd[i]);
        // Zeros are in the masks.
        entropy(&self.masks) + entropy(&buckets[1..]) + (self.low_bits << POINT)
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
