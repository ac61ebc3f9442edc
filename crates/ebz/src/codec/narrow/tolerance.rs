//! The tolerance for a codec whose output is rounded to a coarser type.
//!
//! If the spacing of that type is `v`, rounded errors are multiples of `v`. With `k = ⌊e / v⌋`, a
//! value decoded with an error below `(k + ½) v` rounds to an error of at most `k v ≤ e`. This
//! tolerance is always above `e / 2` and may exceed `e`. The minimum over the spacings of a chunk
//! suits all of its values, except for some near powers of two, where the spacing changes.

use super::super::Task;
use crate::bound::Tolerance;
use crate::element::Element;

/// Spacings of fewer than one value in this many are ignored: violations there are stored exactly.
const MIN_SHARE: usize = 256;

/// Maximum number of exponents of a 16-bit type.
const MAX_EXPONENTS: usize = 1 << 8;

/// The tolerance for the codec.
pub(super) fn inner<T: Element>(values: &[T], task: &Task<'_>) -> Tolerance {
    match task.tolerance {
        Tolerance::Abs(e) => Tolerance::Abs(absolute(values, task, e)),
        Tolerance::Pointwise(e) => Tolerance::Pointwise(relative::<T>(e)),
        same => same,
    }
}

fn absolute<T: Element>(values: &[T], task: &Task<'_>, e: f64) -> f64 {
    let fill = task.fill.typed(T::from_f64);
    let exponent = |word: u64| (word >> T::FRACTION_BITS) as usize % MAX_EXPONENTS;
    let sign = 1 << (8 * T::SIZE - 1);
    let mut counts = [0; MAX_EXPONENTS];
    let mut zeros = 0;
    for &x in values {
        let magnitude = x.to_word() & !sign;
        counts[exponent(magnitude)] += 1;
        zeros += usize::from(magnitude == 0);
    }
    if !fill.is_empty() {
        let missing = values.iter().filter(|x| fill.contains(**x));
        missing.for_each(|x| counts[exponent(x.to_word() & !sign)] -= 1);
    }
    // Zero is on every lattice, so it does not require a fine one.
    counts[0] -= zeros.min(counts[0]);
    let min_count = values.len() / MIN_SHARE;
    let mut least = if zeros > min_count { e } else { f64::MAX };
    for (exponent, &count) in counts.iter().enumerate() {
        let first = T::from_word((exponent.max(1) as u64) << T::FRACTION_BITS);
        if count > min_count && first.is_finite() {
            let spacing = first.to_f64() / (1u64 << T::FRACTION_BITS) as f64;
            let within = ((e / spacing).floor() + 0.5) * spacing;
            least = least.min(within);
        }
    }
    match least < f64::MAX {
        true => least,
        false => e,
    }
}

/// Spacings are between 1 and 2 times |x| / `finest`.
fn relative<T: Element>(e: f64) -> f64 {
    let finest = (1u64 << (T::FRACTION_BITS + 1)) as f64;
    let k = (e * finest / 2.0).floor();
    match e * finest <= k + 1.0 {
        // The same number of spacings for all values.
        true => (k + 0.5) / finest,
        // The worst case: a value whose bound is just below one more spacing.
        false => e * (k + 0.5) / (k + 1.0),
    }
}
