//! Checks decoded values against a tolerance in exact arithmetic.
//!
//! Rounding a difference or a product to the nearest double can hide a violation of less than half
//! an ulp, so both are computed with their rounding errors. An `f32` is treated as a double: the
//! difference of two of them does not always fit a double either.

use ebz::{Element, FillValues, Tolerance};

/// A real number as the nearest double and the remainder, also a double.
///
/// Rounding to nearest is monotone, so the number with the smaller `nearest` is smaller, and for
/// equal ones `rest` decides: the derived order is that of the real numbers.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct Real {
    nearest: f64,
    rest: f64,
}

impl Real {
    const fn of(value: f64) -> Self {
        Self {
            nearest: value,
            rest: 0.0,
        }
    }

    /// |a − b| of finite numbers (Dekker's fast two-sum, larger term first).
    fn distance(a: f64, b: f64) -> Self {
        let (large, small) = if a.abs() >= b.abs() { (a, -b) } else { (-b, a) };
        let nearest = large + small;
        if nearest.is_infinite() {
            return Self::of(f64::INFINITY);
        }
        let rest = small - (nearest - large);
        let sign = if nearest < 0.0 { -1.0 } else { 1.0 };
        Self {
            nearest: sign * nearest,
            rest: sign * rest,
        }
    }

    /// a · b, whose last bit must not underflow.
    fn product(a: f64, b: f64) -> Self {
        let nearest = a * b;
        Self {
            nearest,
            rest: a.mul_add(b, -nearest),
        }
    }
}

/// |x − y| ≤ e, exactly; all are finite.
pub fn within(x: f64, y: f64, e: f64) -> bool {
    Real::distance(x, y) <= Real::of(e)
}

/// |x − y| ≤ e · |x|, exactly; all are finite and 0 < e < 1.
pub fn within_pointwise(x: f64, y: f64, e: f64) -> bool {
    if x == y {
        return true;
    }
    // Distinct doubles differ by at least 2⁻⁵³ of the larger one; and an error below |x| preserves
    // the sign and less than doubles the value.
    if e < 2f64.powi(-60) || x == 0.0 || y.abs() > 2.0 * x.abs() {
        return false;
    }
    // Scale away from subnormals, where the remainder of the product would be lost.
    let scale = if x.abs() < 1.0 { 2f64.powi(600) } else { 1.0 };
    let (x, y) = (x * scale, y * scale);
    Real::distance(x, y) <= Real::product(e, x.abs())
}

/// t ≤ e · (max − min), up to the product of two remainders (2⁻¹⁰⁰ of it).
pub fn is_range_bound(t: f64, e: f64, min: f64, max: f64) -> bool {
    let range = Real::distance(max, min);
    let product = Real::product(e, range.nearest);
    // t − nearest is exact where it matters: if the two are adjacent.
    t - product.nearest <= product.rest + e * range.rest
}

/// Checks a decoded value: `None` if it meets the tolerance, otherwise the violation.
///
/// NaN (with its payload) and infinities are exact under every tolerance, and so are fill values (a
/// zero may lose its sign, which comparisons ignore).
pub fn violation<T: Element>(
    original: T,
    decoded: T,
    tolerance: Tolerance,
    fill: &FillValues,
) -> Option<&'static str> {
    if original.to_word() == decoded.to_word() {
        return None;
    }
    if !original.is_finite() {
        return Some("NaN or infinity not exact");
    }
    if !decoded.is_finite() {
        return Some("finite value became NaN or infinite");
    }
    let missing = |fill: &f64| T::from_f64(*fill) == original;
    if fill.as_slice().iter().any(missing) && decoded != original {
        return Some("fill value not exact");
    }
    let (x, y) = (original.to_f64(), decoded.to_f64());
    match tolerance {
        Tolerance::Abs(e) if !within(x, y, e) => Some("absolute bound violated"),
        Tolerance::Pointwise(e) if !within_pointwise(x, y, e) => Some("pointwise bound violated"),
        Tolerance::Lossless => Some("bits changed"),
        // A number of planes or bits bounds no error in general.
        Tolerance::Abs(_) | Tolerance::Pointwise(_) | Tolerance::Precision(_) => None,
    }
}

/// Checks all values; describes the first violation.
pub fn check<T: Element>(
    original: &[T],
    decoded: &[T],
    tolerance: Tolerance,
    fill: &FillValues,
) -> Result<(), String> {
    if original.len() != decoded.len() {
        return Err(format!(
            "{} values decoded to {}",
            original.len(),
            decoded.len()
        ));
    }
    for (i, (&x, &y)) in original.iter().zip(decoded).enumerate() {
        if let Some(what) = violation(x, y, tolerance, fill) {
            return Err(format!(
                "{what} at {i} of {}: {x:?} ({:#x}) decoded to {y:?} ({:#x}) under {tolerance:?}",
                original.len(),
                x.to_word(),
                y.to_word()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_hidden_by_rounding_of_the_difference_is_detected() {
        // 1 + 2⁻⁶⁰ is more than 1, but rounds to it.
        let tiny = 2f64.powi(-60);
        assert_eq!(1.0 - -tiny, 1.0);
        assert!(!within(1.0, -tiny, 1.0));
        assert!(within(1.0, tiny, 1.0));
        assert!(within(-1.0, -tiny, 1.0));
        assert!(!within(-1.0, tiny, 1.0));
        assert!(!within(f64::MAX, -f64::MAX, f64::MAX));
        assert!(within(f64::MAX, 0.0, f64::MAX));
        let subnormal = f64::from_bits(3);
        assert!(within(subnormal, 0.0, subnormal));
        assert!(!within(subnormal, 0.0, f64::from_bits(2)));
    }

    #[test]
    fn a_violation_hidden_by_rounding_of_the_product_is_detected() {
        // e · x rounds up for 0.1 · 3, and a difference of exactly the rounded product is too
        // large.
        let (e, x) = (0.1, 3.0);
        let product = Real::product(e, x);
        assert!(product.rest != 0.0);
        let over = if product.rest < 0.0 {
            product.nearest
        } else {
            product.nearest.next_up()
        };
        assert!(Real::of(over) > product);
        assert!(Real::of(over.next_down()) <= product);
        assert!(within_pointwise(1.0, 0.5, 0.5));
        assert!(!within_pointwise(1.0, 0.5f64.next_down(), 0.5));
        let least = f64::from_bits(1);
        assert!(within_pointwise(least, least, 1e-3));
        assert!(!within_pointwise(least, 0.0, 0.999));
        assert!(within_pointwise(f64::from_bits(4), f64::from_bits(3), 0.25));
        assert!(!within_pointwise(
            f64::from_bits(4),
            f64::from_bits(3),
            0.25f64.next_down()
        ));
        assert!(!within_pointwise(0.0, least, 0.5));
        assert!(!within_pointwise(1.0, 1f64.next_up(), 1e-300));
        assert!(!within_pointwise(f64::MAX, -f64::MAX, 0.5));
    }

    #[test]
    fn special_values_must_be_exact() {
        let abs = Tolerance::Abs(1e9);
        let quiet = f32::from_bits(0x7fc0_0000);
        assert!(violation(f32::from_bits(0x7f80_0001), quiet, abs, &FillValues::NONE).is_some());
        assert!(
            violation(
                f32::INFINITY,
                f32::MAX,
                Tolerance::Abs(f64::MAX),
                &FillValues::NONE
            )
            .is_some()
        );
        assert!(
            violation(
                f32::MAX,
                f32::INFINITY,
                Tolerance::Abs(f64::MAX),
                &FillValues::NONE
            )
            .is_some()
        );
        assert!(violation(-999.0f32, -998.0, abs, &(-999.0).into()).is_some());
        assert!(violation(-998.0f32, -999.0, abs, &(-999.0).into()).is_none());
        assert!(violation(0.0f32, -0.0, Tolerance::Lossless, &FillValues::NONE).is_some());
        assert!(violation(0.0f32, -0.0, abs, &FillValues::NONE).is_none());
    }
}
