//! A histogram whose reach grows with its values, so that nobody has to know the largest first.

/// Fine bins on each side of 0 while values come in.
const FINE_BINS: i64 = 512;

/// Bins on each side of 0 in the result.
const BINS: i64 = 10;

/// The least reach is 2 to this power, so that widths and their inverses are ordinary numbers.
const MIN_EXPONENT: i32 = -1000;

/// Counts of values in bins of equal width, symmetric about 0.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Histogram {
    /// Width of a bin; bin `i` of `n` starts at `(i − n/2) · width`.
    pub width: f64,
    /// Values per bin.
    pub counts: Vec<u64>,
}

/// A histogram that is being filled.
#[derive(Debug, Clone)]
pub(super) struct Growing {
    /// Values below 2 to this power have a bin.
    reach: i32,
    counts: Vec<u64>,
}

impl Default for Growing {
    fn default() -> Self {
        Self {
            reach: MIN_EXPONENT,
            counts: vec![0; 2 * FINE_BINS as usize],
        }
    }
}

impl Growing {
    /// Counts values; those that are 0 or not finite do not count.
    pub fn add(&mut self, values: &[f64]) {
        let size = |value: &f64| if value.is_finite() { value.abs() } else { 0.0 };
        self.reach_to(reach_of(values.iter().map(size).fold(0.0, f64::max)));
        let scale = 1.0 / self.width();
        for &value in values {
            if value != 0.0 && value.is_finite() {
                // Rounded down without a call.
                let place = value * scale;
                let whole = place as i64;
                let bin = whole - i64::from((whole as f64) > place);
                self.counts[(bin + FINE_BINS).clamp(0, 2 * FINE_BINS - 1) as usize] += 1;
            }
        }
    }

    /// Counts what another histogram holds.
    pub fn join(&mut self, mut other: Self) {
        let reach = self.reach.max(other.reach);
        self.reach_to(reach);
        other.reach_to(reach);
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// A few bins that span the largest size of a value.
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
        2f64.powi(self.reach) / FINE_BINS as f64
    }

    fn reach_to(&mut self, reach: i32) {
        if reach <= self.reach {
            return;
        }
        let shift = (reach - self.reach).min(62);
        let fine = std::mem::replace(&mut self.counts, vec![0; 2 * FINE_BINS as usize]);
        for (bin, count) in (-FINE_BINS..FINE_BINS).zip(fine) {
            self.counts[((bin >> shift) + FINE_BINS) as usize] += count;
        }
        self.reach = reach;
    }
}

/// The smallest power of 2 above a finite size, as its exponent.
fn reach_of(size: f64) -> i32 {
    let exponent = (size.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    exponent.max(MIN_EXPONENT)
}
