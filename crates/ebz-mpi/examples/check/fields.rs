//! Test data.

use ebz::{Element, Tolerance};

/// A smooth field with some noise, different on every rank.
pub fn smooth<T: Element>(length: usize, seed: usize) -> Vec<T> {
    let mut state = seed as u64 * 77 + 1;
    let value = |i: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let noise = (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
        let x = i as f64 * 0.01 + seed as f64;
        T::from_f64(x.sin() * 3.0 + (0.13 * x).cos() * 5.0 + 0.01 * noise)
    };
    (0..length).map(value).collect()
}

/// The same with values that cannot be quantized.
pub fn special<T: Element>(length: usize, seed: usize) -> Vec<T> {
    let mut values = smooth(length, seed);
    let specials = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        1e-40,
        1e20,
    ];
    for (i, special) in specials.into_iter().enumerate() {
        let at = (i * 191 + seed * 31) % length.max(1);
        if let Some(value) = values.get_mut(at) {
            *value = T::from_f64(special);
        }
    }
    values
}

/// Checks every value against the tolerance.
pub fn assert_near<T: Element>(original: &[T], decoded: &[T], tolerance: Tolerance) {
    assert_eq!(original.len(), decoded.len());
    for (i, (a, b)) in original.iter().zip(decoded).enumerate() {
        let (x, y) = (a.to_f64(), b.to_f64());
        let same = x.to_bits() == y.to_bits();
        let near = match tolerance {
            Tolerance::Abs(e) => (x - y).abs() <= e,
            Tolerance::Pointwise(e) => (x - y).abs() <= e * x.abs(),
            _ => same,
        };
        assert!(same || near, "value {i}: {x} became {y} with {tolerance:?}");
    }
}
