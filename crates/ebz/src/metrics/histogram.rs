//! A histogram whose range grows with its values, so that the maximum need not be known first.

/// Fine bins on each side of 0 while values are added.
const FINE_BINS: i64 = 512;

/// Bins on each side of 0 in the result.
const BINS: i64 = 10;

/// Minimum range is 2 to this power, so that bin widths and their inverses are normal numbers.
const MIN_RANGE_EXPONENT: i32 = -1000;

/// Counts of values in bins of equal width, symmetric about 0.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Histogram {
    /// Width of a bin; bin `i` of `n` starts at `(i − n/2) · width`.
    pub width: f64,
    /// Values per bin.
    pub counts: Vec<u64>,
}

/// A histogram being filled.
#[derive(Debug, Clone)]
pub(super) struct Growing {
    /// The bins cover magnitudes below 2 to this power.
    exponent: i32,
    counts: Vec<u64>,
}

impl Default for Growing {
    fn default() -> Self {
        Self {
            exponent: MIN_RANGE_EXPONENT,
            counts: vec![0; 2 * FINE_BINS as usize],
        }
    }
}

impl Growing {
    /// Counts finite nonzero values.
    pub fn add(&mut self, values: &[f64]) {
        let size = |value: &f64| if value.is_finite() { value.abs() } else { 0.0 };
        self.grow_to(exponent_above(values.iter().map(size).fold(0.0, f64::max)));
        let scale = 1.0 / self.width();
        for &value in values {
            if value != 0.0 && value.is_finite() {
                // Floor without a function call.
                let place = value * scale;
                let whole = place as i64;
                let bin = whole - i64::from((whole as f64) > place);
                self.counts[(bin + FINE_BINS).clamp(0, 2 * FINE_BINS - 1) as usize] += 1;
            }
        }
    }

    /// Merges another histogram.
    pub fn join(&mut self, mut other: Self) {
        let exponent = self.exponent.max(other.exponent);
        self.grow_to(exponent);
        other.grow_to(exponent);
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// The result: a few bins that cover magnitudes up to `largest`.
    pub fn finish(&self, largest: f64) -> Histogram {
        let used = match largest {
            size if size.is_finite() => ((size / self.width()).ceil() as i64).clamp(1, FINE_BINS),
            _ => FINE_BINS,
        };
        let fine = (used + BINS - 1) / BINS;
        let count = |bin: i64| -> u64 {
            let bins =
                (FINE_BINS + bin * fine).max(0)..(FINE_BINS + (bin + 1) * fine).min(2 * FINE_BINS);
            bins.map(|i| self.counts[i as usize]).sum()
        };
        Histogram {
            width: self.width() * fine as f64,
            counts: (-BINS..BINS).map(count).collect(),
        }
    }

    fn width(&self) -> f64 {
        2f64.powi(self.exponent) / FINE_BINS as f64
    }

    fn grow_to(&mut self, exponent: i32) {
        if exponent <= self.exponent {
            return;
        }
        let shift = (exponent - self.exponent).min(62);
        let fine = std::mem::replace(&mut self.counts, vec![0; 2 * FINE_BINS as usize]);
        for (bin, count) in (-FINE_BINS..FINE_BINS).zip(fine) {
            self.counts[((bin >> shift) + FINE_BINS) as usize] += count;
        }
        self.exponent = exponent;
    }
}

/// Exponent of the smallest power of 2 above a finite magnitude.
fn exponent_above(size: f64) -> i32 {
    let exponent = (size.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    exponent.max(MIN_RANGE_EXPONENT)
}
