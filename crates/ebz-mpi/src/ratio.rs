//! A fixed ratio in one pass: the bound of each part follows from the sizes of the previous parts.
//!
//! The model is that of the CEAZ paper, section 3.1: doubling the bound saves one bit per value.

use ebz::Element;

/// Maximum correction of the bound from one part to the next, in bits per value.
const MAX_CORRECTION: f64 = 6.0;

/// Initial bound: the median difference of neighbours, or the median magnitude.
pub(crate) fn first_bound<T: Element>(values: &[T]) -> f64 {
    const SAMPLES: usize = 4096;
    let step = (values.len() / SAMPLES).max(1);
    let pairs = values.windows(2).step_by(step);
    let differences = pairs.map(|pair| (pair[0].to_f64() - pair[1].to_f64()).abs());
    let sizes = values.iter().step_by(step).map(|x| x.to_f64().abs());
    let median = |numbers: &mut dyn Iterator<Item = f64>| {
        let finite = numbers.filter(|x| x.is_finite() && *x > 0.0);
        let mut numbers: Vec<f64> = finite.collect();
        numbers.sort_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied()
    };
    let median = median(&mut differences.into_iter()).or_else(|| median(&mut sizes.into_iter()));
    median.unwrap_or(1.0).clamp(1e-300, 1e300)
}

/// Chooses the bounds of the parts of a stream to reach a ratio for the whole.
#[derive(Debug)]
pub(crate) struct Controller {
    /// Target bits per value.
    target: f64,
    bound: f64,
    /// Excess bits of the parts so far.
    debt: f64,
    /// The largest bound used.
    pub largest: f64,
}

impl Controller {
    /// A controller for values of this many bits, starting with this bound.
    pub fn new(ratio: f64, value_bits: f64, bound: f64) -> Self {
        Self {
            target: value_bits / ratio,
            bound,
            debt: 0.0,
            largest: 0.0,
        }
    }

    /// The next bound.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Updates the bound after a trial that is not sent.
    pub fn tried(&mut self, values: usize, bytes: usize) {
        let spent = 8.0 * bytes as f64 / values.max(1) as f64;
        self.correct(spent - self.target);
    }

    /// Updates after a part was sent; the next one compensates half of the excess.
    pub fn sent(&mut self, values: usize, bytes: usize) {
        self.largest = self.largest.max(self.bound);
        let values = values.max(1) as f64;
        let spent = 8.0 * bytes as f64;
        self.debt += spent - self.target * values;
        self.correct(spent / values - self.target + self.debt / values / 2.0);
    }

    /// ε′ = 2^(B − B′) ε.
    fn correct(&mut self, bits: f64) {
        let bits = bits.clamp(-MAX_CORRECTION, MAX_CORRECTION);
        self.bound = (self.bound * bits.exp2()).clamp(1e-300, 1e300);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_met_where_the_model_holds_and_the_field_changes() {
        // Bits per value are log2(amplitude of the field / bound).
        let mut controller = Controller::new(8.0, 32.0, 1.0);
        let (mut bytes, mut values) = (0, 0);
        for part in 0..64 {
            let size = if part < 32 { 1e3 } else { 1e6 };
            let bits = (size / controller.bound()).log2().clamp(0.1, 40.0);
            let spent = (bits * 1e5 / 8.0) as usize;
            controller.sent(100_000, spent);
            bytes += spent;
            values += 100_000;
        }
        let ratio = 4.0 * f64::from(values) / bytes as f64;
        assert!((7.5..8.5).contains(&ratio), "{ratio}");
        assert!(controller.largest > 1e4);
    }

    #[test]
    fn a_first_bound_is_a_positive_number_whatever_the_values() {
        for values in [
            vec![],
            vec![0.0],
            vec![f64::NAN; 9],
            vec![3.0; 9],
            vec![f64::MAX, f64::MIN],
        ] {
            let bound = first_bound(&values);
            assert!(bound > 0.0 && bound.is_finite(), "{values:?}: {bound}");
        }
    }
}
