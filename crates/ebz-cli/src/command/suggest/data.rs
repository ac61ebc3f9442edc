//! Bounds from the values themselves: decimal digits, noise, information per bit.

use ebz::{Element, ElementType, Tolerance, with_type};

/// Maximum number of values examined: runs of neighbours, spread over the array.
const MAX_VALUES: usize = 1 << 20;
/// Length of a run.
const RUN_VALUES: usize = 1 << 12;
/// Decimal places to which values may have been rounded.
const DECIMALS: std::ops::RangeInclusive<i32> = -6..=12;
/// Noise estimates hardly depend on the order of the differences; if they fall below this ratio, it is not noise.
const MIN_ORDER_RATIO: f64 = 0.7;
/// Standard normal quantile for 99 % confidence that a bit shares information with its neighbour.
const CONFIDENCE_QUANTILE: f64 = 2.575_829;

/// A bound suggested by the data, with the reason.
#[derive(Debug, Clone)]
pub struct Suggestion {
    pub tolerance: Tolerance,
    pub why: String,
}

/// Minimum number of neighbours: less say nothing about noise.
const MIN_RUN_VALUES: usize = 8;

/// Runs of neighbours without missing values, spread over an array.
pub fn runs<T: Element>(values: &[T], is_missing: impl Fn(T) -> bool) -> Vec<&[T]> {
    let count = values.len().div_ceil(RUN_VALUES);
    let step = count.div_ceil(MAX_VALUES / RUN_VALUES).max(1);
    values
        .chunks(RUN_VALUES)
        .step_by(step)
        .flat_map(|run| run.split(|&x| is_missing(x)))
        .filter(|run| run.len() >= MIN_RUN_VALUES)
        .collect()
}

/// All suggestions from the values.
pub fn suggestions<T: Element>(runs: &[&[T]]) -> Vec<Suggestion> {
    let mut all = Vec::new();
    all.extend(digits(runs));
    all.extend(noise(runs));
    // Where the same bits hold both shares, the larger one says it all.
    let [most, nearly_all] = [0.99, 0.999].map(|share| information(runs, share));
    let same = |a: &Suggestion, b: &Suggestion| a.tolerance == b.tolerance;
    all.extend(most.filter(|a| !nearly_all.as_ref().is_some_and(|b| same(a, b))));
    all.extend(nearly_all);
    all
}

/// Values rounded to decimals: any error below half a unit can be removed by rounding again.
fn digits<T: Element>(runs: &[&[T]]) -> Option<Suggestion> {
    // Rounding error of the type, relative to the value.
    let precision = 2f64.powi(-mantissa_bits(T::TYPE));
    let values = || runs.iter().flat_map(|run| run.iter()).map(|x| x.to_f64());
    let largest = values().fold(0.0, |most: f64, x| most.max(x.abs()));
    let fits = |digits: i32| {
        let scale = 10f64.powi(digits);
        // Integers beyond the precision of the type carry no information about rounding.
        largest * scale * precision < 1e-3
            && values().all(|x| {
                let scaled = x * scale;
                (scaled - scaled.round()).abs() <= scaled.abs() * precision
            })
    };
    let digits = DECIMALS.into_iter().find(|&digits| fits(digits))?;
    if largest == 0.0 {
        return None;
    }
    let unit = 10f64.powi(-digits);
    Some(Suggestion {
        tolerance: Tolerance::Abs(0.49 * unit),
        why: format!(
            "values are multiples of {unit:e}: errors below half of it can be rounded away"
        ),
    })
}

/// Noise from differences of neighbours: smooth data vanishes at higher orders, noise does not.
fn noise<T: Element>(runs: &[&[T]]) -> Option<Suggestion> {
    // Differences of order 2, 3 and 4, and how they scale the deviation of noise.
    let orders: [(&[f64], f64); 3] = [
        (&[1.0, -2.0, 1.0], 6.0),
        (&[1.0, -3.0, 3.0, -1.0], 20.0),
        (&[1.0, -4.0, 6.0, -4.0, 1.0], 70.0),
    ];
    let deviations = orders.map(|(weights, squares)| {
        let of_run = |run: &&[T]| {
            let differences = run.windows(weights.len()).map(|w| {
                let terms = w.iter().zip(weights).map(|(x, w)| x.to_f64() * w);
                terms.sum::<f64>().abs()
            });
            differences.collect::<Vec<_>>()
        };
        let mut sizes: Vec<f64> = runs
            .iter()
            .flat_map(of_run)
            .filter(|d| d.is_finite())
            .collect();
        if sizes.is_empty() {
            return 0.0;
        }
        let middle = sizes.len() / 2;
        let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
        *median / 0.674_49 / f64::sqrt(squares)
    });
    let [_, third, fourth] = deviations;
    (fourth > 0.0 && fourth > MIN_ORDER_RATIO * third).then(|| Suggestion {
        tolerance: Tolerance::Abs(fourth / 2.0),
        why: format!(
            "noise of about {fourth:.2e} between neighbours: errors of half of it add 4 % to it"
        ),
    })
}

/// Mutual information of the bits of neighbours (Klöwer et al. 2021): bits after the last one that shares any
/// carry no information.
fn information<T: Element>(runs: &[&[T]], share: f64) -> Option<Suggestion> {
    let bits = 8 * T::SIZE as u32;
    let mantissa = mantissa_bits(T::TYPE);
    let mut counts = vec![[0u64; 4]; bits as usize];
    for pair in runs.iter().flat_map(|run| run.windows(2)) {
        let (a, b) = (pair[0].to_word(), pair[1].to_word());
        // Adjacent zeros share all bits and would hide the precision of the other values.
        if a == 0 && b == 0 {
            continue;
        }
        for (bit, counts) in counts.iter_mut().enumerate() {
            counts[((a >> bit & 1) << 1 | (b >> bit & 1)) as usize] += 1;
        }
    }
    let pairs: u64 = counts.first()?.iter().sum();
    if pairs < 100 {
        return None;
    }
    // The mutual information expected by chance.
    let p = (0.5 + CONFIDENCE_QUANTILE / (2.0 * (pairs as f64).sqrt())).min(1.0);
    let chance = 1.0 - entropy(&[p, 1.0 - p]);
    let shared: Vec<f64> = counts
        .iter()
        .map(|counts| mutual_information(counts.map(|n| n as f64 / pairs as f64)))
        .map(|bits| if bits > chance { bits } else { 0.0 })
        .collect();
    let total: f64 = shared.iter().sum();
    if total == 0.0 {
        return None;
    }
    // From the sign downwards, until enough is kept.
    let mut sum = 0.0;
    let last = (0..bits).rev().find(|&bit| {
        sum += shared[bit as usize];
        sum >= share * total
    })?;
    let kept = (mantissa as u32).saturating_sub(last).max(1);
    let bound = 2f64.powi(-(kept as i32) - 1);
    Some(Suggestion {
        tolerance: Tolerance::Pointwise(bound),
        why: format!(
            "{kept} of {mantissa} mantissa bits {} {:.1} % of the information that neighbours share",
            if kept == 1 { "holds" } else { "hold" },
            100.0 * share
        ),
    })
}

fn mantissa_bits(element: ElementType) -> i32 {
    with_type!(element, T => {
        let next = T::from_word(T::from_f64(1.0).to_word() + 1).to_f64();
        -(next - 1.0).log2() as i32
    })
}

fn entropy(shares: &[f64]) -> f64 {
    let terms = shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2());
    terms.sum()
}

/// Mutual information of two bits, from the frequencies of 00, 01, 10 and 11.
fn mutual_information(shares: [f64; 4]) -> f64 {
    let [a, b, c, d] = shares;
    entropy(&[a + b, c + d]) + entropy(&[a + c, b + d]) - entropy(&shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reproducible noise between -1 and 1.
    fn noise_at(i: usize) -> f64 {
        let word = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (word ^ word >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((word ^ word >> 27) >> 11) as f64 / 2f64.powi(52) - 1.0
    }

    fn suggested<T: Element>(value: impl Fn(usize) -> f64) -> [Option<Tolerance>; 3] {
        let values: Vec<T> = (0..100_000).map(|i| T::from_f64(value(i))).collect();
        let runs = runs(&values, |_| false);
        [digits(&runs), noise(&runs), information(&runs, 0.99)].map(|s| s.map(|s| s.tolerance))
    }

    #[test]
    fn rounded_values_are_recognised() {
        let round = |i: usize| ((i as f64 / 500.0).sin() * 3000.0).round() / 100.0;
        for found in [suggested::<f32>(round)[0], suggested::<f64>(round)[0]] {
            assert!(
                matches!(found, Some(Tolerance::Abs(e)) if (e - 0.0049).abs() < 1e-9),
                "{found:?}"
            );
        }
        assert_eq!(suggested::<f64>(|i| (i as f64 / 500.0).sin())[0], None);
        assert_eq!(suggested::<f32>(|i| (i as f64 / 500.0).sin())[0], None);
    }

    #[test]
    fn neighbours_between_missing_values_count() {
        let values: Vec<f32> = (0..20_000)
            .map(|i| match i % 100 {
                0..30 => 1e20,
                _ => (i as f32 / 50.0).sin() + 0.01 * noise_at(i) as f32,
            })
            .collect();
        let runs = runs(&values, |x| x == 1e20);
        assert!(runs.len() >= 200 && runs.iter().all(|run| !run.contains(&1e20)));
        let found = suggestions(&runs);
        assert!(found.iter().any(|s| s.why.contains("noise")), "{found:?}");
    }

    #[test]
    fn the_same_bound_is_suggested_once() {
        let values: Vec<f64> = (0..100_000).map(|i| noise_at(i / 2) * 1e3).collect();
        let found = suggestions(&runs(&values, |_| false));
        for (i, one) in found.iter().enumerate() {
            let same = |other: &Suggestion| other.tolerance == one.tolerance;
            assert!(!found[i + 1..].iter().any(same), "{found:?}");
        }
    }

    #[test]
    fn noise_is_measured_and_not_invented() {
        let wave = |i: usize| (i as f64 / 300.0).sin();
        assert_eq!(suggested::<f64>(wave)[1], None);
        // Uniform noise of ±0.01 has a deviation of 0.0058; half of it is suggested, within the spread of the
        // estimate.
        let Some(Tolerance::Abs(e)) = suggested::<f64>(|i| wave(i) + 0.01 * noise_at(i))[1] else {
            panic!("no noise found");
        };
        assert!((0.002..0.004).contains(&e), "{e}");
    }

    #[test]
    fn bits_without_information_are_left_out() {
        let bound = |noise: f64| match suggested::<f32>(|i| {
            2.0 + (i as f64 / 3e3).sin() + noise * noise_at(i)
        })[2]
        {
            Some(Tolerance::Pointwise(e)) => e,
            other => panic!("{other:?}"),
        };
        let (loud, quiet) = (bound(0.1), bound(0.001));
        assert!(quiet < loud && loud < 0.3 && quiet > 1e-6, "{quiet} {loud}");
    }
}
