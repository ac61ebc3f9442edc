//! The data SSIM of climate science: structural similarity of floating-point slices (Baker, Pinard and Hammerling
//! 2022, "DSSIM: a structural similarity index for floating-point data", arXiv:2202.02616).
//!
//! Both slices are scaled to 0…1 by their common range and rounded to 256 levels; windows are Gaussian, 11 × 11 values
//! with a standard deviation of 1.5; the constants are 1e-8. Windows that exceed the slice or contain a missing value
//! are ignored. The result is that of the worst slice.

use ebz::Element;

/// Radius of a window in values.
const RADIUS: usize = 5;
const DEVIATION: f64 = 1.5;
const LEVELS: f64 = 255.0;
const CONSTANT: f64 = 1e-8;
/// Maximum number of values in the slices examined.
const MAX_VALUES: usize = 1 << 18;

/// The least DSSIM of some slices; `None` if no window is free of missing values.
pub fn dssim<T: Element>(
    shape: &[usize],
    values: &[T],
    decoded: &[T],
    is_missing: &impl Fn(T) -> bool,
) -> Option<f64> {
    let &[.., rows, columns] = shape else {
        return None;
    };
    let slice = rows * columns;
    if rows <= 2 * RADIUS || columns <= 2 * RADIUS {
        return None;
    }
    let step = (values.len() / slice)
        .div_ceil((MAX_VALUES / slice).max(1))
        .max(1);
    let slices = values.chunks_exact(slice).zip(decoded.chunks_exact(slice));
    slices
        .step_by(step)
        .filter_map(|(x, y)| of_slice(columns, x, y, is_missing))
        .reduce(f64::min)
}

fn of_slice<T: Element>(
    columns: usize,
    x: &[T],
    y: &[T],
    is_missing: &impl Fn(T) -> bool,
) -> Option<f64> {
    let there = |of: &T| !is_missing(*of);
    let both = || {
        x.iter()
            .zip(y)
            .filter(|(x, _)| there(x))
            .flat_map(|(x, y)| [x, y])
    };
    let (min, max) = both().fold((f64::MAX, f64::MIN), |(min, max), v| {
        (min.min(v.to_f64()), max.max(v.to_f64()))
    });
    if max <= min {
        return (max == min).then_some(1.0);
    }
    let scaled = |v: &T| match there(v) {
        true => ((v.to_f64() - min) / (max - min) * LEVELS).round() / LEVELS,
        false => f64::NAN,
    };
    let (x, y): (Vec<f64>, Vec<f64>) = (
        x.iter().map(scaled).collect(),
        y.iter().map(scaled).collect(),
    );
    let of = |f: &dyn Fn(f64, f64) -> f64| {
        let products = x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect();
        blurred(products, columns)
    };
    // NaN spreads to every window that contains it.
    let (mx, my) = (of(&|x, _| x), of(&|_, y| y));
    let (xx, yy, xy) = (of(&|x, _| x * x), of(&|_, y| y * y), of(&|x, y| x * y));
    let means = mx.iter().zip(&my);
    let squares = xx.iter().zip(&yy).zip(&xy);
    let mut sum = (0.0, 0u32);
    for ((mx, my), ((xx, yy), xy)) in means.zip(squares) {
        let (vx, vy, cov) = (xx - mx * mx, yy - my * my, xy - mx * my);
        let similarity = (2.0 * mx * my + CONSTANT) / (mx * mx + my * my + CONSTANT)
            * ((2.0 * cov + CONSTANT) / (vx + vy + CONSTANT));
        if similarity.is_finite() {
            sum = (sum.0 + similarity, sum.1 + 1);
        }
    }
    (sum.1 > 0).then(|| sum.0 / f64::from(sum.1))
}

/// Gaussian means over windows within the slice.
fn blurred(values: Vec<f64>, columns: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..=2 * RADIUS)
        .map(|i| {
            let distance = i as f64 - RADIUS as f64;
            (-distance * distance / (2.0 * DEVIATION * DEVIATION)).exp()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let mean = |window: &mut dyn Iterator<Item = f64>| {
        window.zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total
    };
    let inner = columns - 2 * RADIUS;
    let across: Vec<f64> = values
        .chunks_exact(columns)
        .flat_map(|row| row.windows(weights.len()))
        .map(|window| mean(&mut window.iter().copied()))
        .collect();
    let rows = across.len() / inner;
    (0..(rows - 2 * RADIUS) * inner)
        .map(|i| mean(&mut (0..weights.len()).map(|row| across[i + row * inner])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(noise: f64) -> Vec<f64> {
        let value = |i: usize| {
            let (row, column) = ((i / 60) as f64, (i % 60) as f64);
            (row / 9.0).sin() * (column / 7.0).cos()
                + noise * ((i * 7919 % 101) as f64 / 50.0 - 1.0)
        };
        (0..40 * 60).map(value).collect()
    }

    #[test]
    fn equal_slices_are_perfect_and_noise_is_not() {
        let found = |noise: f64| dssim(&[40, 60], &wave(0.0), &wave(noise), &|_| false).unwrap();
        assert_eq!(found(0.0), 1.0);
        // Below half a level hardly anything is visible.
        assert!(found(1e-4) > 0.999, "{}", found(1e-4));
        assert!(
            found(0.1) < 0.95 && found(0.3) < found(0.1),
            "{} {}",
            found(0.1),
            found(0.3)
        );
    }

    #[test]
    fn missing_values_do_not_count() {
        let (mut a, b) = (wave(0.0), wave(0.0));
        a[60 * 20 + 30] = 1e20;
        let found = dssim(&[40, 60], &a, &b, &|x| x == 1e20).unwrap();
        assert_eq!(found, 1.0);
        assert_eq!(dssim(&[2400], &a, &b, &|_| false), None);
    }
}
