//! The tolerance for a codec whose values are rounded to a coarser type afterwards.
//!
//! Where numbers of that type are `v` apart, errors are whole numbers of `v`: with `k = ⌊e / v⌋`, what is
//! decoded to less than `(k + ½) v` from a value is rounded to at most `k v ≤ e` from it. That may be more
//! than `e`, and is always more than `e / 2`. The least over the spacings of a chunk serves all of its
//! values, but for some beside powers of two, where the spacing changes.

use super::super::Task;
use crate::bound::Tolerance;
use crate::element::Element;

/// Spacings that fewer values than one in so many have do not count: what breaks the bound there is
/// stored exactly.
const MIN_SHARE: usize = 256;

/// Exponents of a 16-bit type, at most.
const EXPONENTS: usize = 1 << 8;

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
    let exponent = |word: u64| (word >> T::FRACTION_BITS) as usize % EXPONENTS;
    let sign = 1 << (8 * T::SIZE - 1);
    let mut counts = [0; EXPONENTS];
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
    // Zeros are no reason for a fine lattice, because all lattices have them.
    counts[0] -= zeros.min(counts[0]);
    let enough = values.len() / MIN_SHARE;
    let mut least = if zeros > enough { e } else { f64::MAX };
    for (exponent, &count) in counts.iter().enumerate() {
        let first = T::from_word((exponent.max(1) as u64) << T::FRACTION_BITS);
        if count > enough && first.is_finite() {
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

/// Spacings relative to values are 1 to 2 in so many.
fn relative<T: Element>(e: f64) -> f64 {
    let finest = (1u64 << (T::FRACTION_BITS + 1)) as f64;
    let k = (e * finest / 2.0).floor();
    match e * finest <= k + 1.0 {
        // As many spacings for all values.
        true => (k + 0.5) / finest,
        // The worst is a value whose bound is just below one more.
        false => e * (k + 0.5) / (k + 1.0),
    }
}
