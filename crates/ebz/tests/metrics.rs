//! Metrics against straightforward formulas.

use ebz::metrics::{Comparison, Setup, compare};
use ebz::{Fill, FillValues, FiniteRange, Tolerance};

fn noise(count: usize, seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    (0..count).map(move |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    })
}

/// A smooth field around 300, and a copy with errors of up to 0.05.
fn fields(count: usize) -> (Vec<f32>, Vec<f32>) {
    let original: Vec<f32> = (0..count)
        .map(|i| 300.0 + 5.0 * (i as f32 * 0.013).sin())
        .collect();
    let decoded = original
        .iter()
        .zip(noise(count, 7))
        .map(|(x, n)| x + 0.1 * n as f32)
        .collect();
    (original, decoded)
}

fn assert_close(a: f64, b: f64, what: &str) {
    assert!(
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        "{what}: {a} {b}"
    );
}

#[test]
fn sums_and_extremes_match_the_formulas() {
    let (original, decoded) = fields(3 * 40 * 50);
    let metrics = compare(&original, &decoded, &[3, 40, 50], Fill::None).unwrap();
    let errors: Vec<f64> = original
        .iter()
        .zip(&decoded)
        .map(|(&x, &y)| f64::from(y) - f64::from(x))
        .collect();
    let n = errors.len() as f64;
    let largest = errors.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    let rmse = (errors.iter().map(|e| e * e).sum::<f64>() / n).sqrt();
    let range = FiniteRange::of(&original, &FillValues::NONE).extent();
    assert_eq!(metrics.max_error, largest);
    assert_close(metrics.rmse, rmse, "rmse");
    assert_close(metrics.nrmse, rmse / range, "nrmse");
    assert_close(metrics.psnr, 20.0 * (range / rmse).log10(), "psnr");
    let relative = errors
        .iter()
        .zip(&original)
        .fold(0.0, |m: f64, (e, &x)| m.max(e.abs() / f64::from(x)));
    assert_close(metrics.max_relative_error, relative, "relative");
    let mean = errors.iter().sum::<f64>() / n;
    let variance: f64 = errors.iter().map(|e| (e - mean).powi(2)).sum();
    let lag: f64 = errors
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    assert!((metrics.autocorrelation - lag / variance).abs() < 1e-9);

    let histogram = &metrics.histogram;
    let half = histogram.counts.len() as f64 / 2.0;
    assert!(half * histogram.width >= largest);
    for (bin, &count) in histogram.counts.iter().enumerate() {
        let low = (bin as f64 - half) * histogram.width;
        let inside = |e: &&f64| **e != 0.0 && **e >= low && **e < low + histogram.width;
        assert_eq!(
            count as usize,
            errors.iter().filter(inside).count(),
            "{bin}"
        );
    }
}

/// Structural similarity of one slice, window by window.
fn naive_ssim(x: &[f32], y: &[f32], rows: usize, columns: usize, range: f64) -> Option<f64> {
    let (wy, wx) = (rows.min(7), columns.min(7));
    let (c1, c2) = ((0.01 * range).powi(2), (0.03 * range).powi(2));
    let mut scores = Vec::new();
    for top in 0..=rows - wy {
        for left in 0..=columns - wx {
            let pairs: Vec<(f64, f64)> = (0..wy * wx)
                .map(|i| (top + i / wx) * columns + left + i % wx)
                .map(|i| (f64::from(x[i]), f64::from(y[i])))
                .collect();
            if pairs.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
                continue;
            }
            let mean = |f: &dyn Fn(f64, f64) -> f64| {
                pairs.iter().map(|&(x, y)| f(x, y)).sum::<f64>() / pairs.len() as f64
            };
            let (mx, my) = (mean(&|x, _| x), mean(&|_, y| y));
            let vx = mean(&|x, _| (x - mx).powi(2));
            let vy = mean(&|_, y| (y - my).powi(2));
            let covariance = mean(&|x, y| (x - mx) * (y - my));
            scores.push(
                (2.0 * mx * my + c1) * (2.0 * covariance + c2)
                    / ((mx * mx + my * my + c1) * (vx + vy + c2)),
            );
        }
    }
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

#[test]
fn ssim_matches_the_naive_one_for_any_piece_size() {
    for shape in [
        vec![4, 45, 33],
        vec![45, 80],
        vec![9, 5, 6],
        vec![500],
        vec![2, 3, 20, 9],
    ] {
        let count = shape.iter().product();
        let (mut original, decoded) = fields(count);
        original[count / 2] = f32::NAN;
        let range = FiniteRange::of(&original, &FillValues::NONE);
        let columns = shape[shape.len() - 1];
        let rows = if shape.len() > 1 {
            shape[shape.len() - 2]
        } else {
            1
        };
        let slices: Vec<f64> = original
            .chunks(rows * columns)
            .zip(decoded.chunks(rows * columns))
            .filter_map(|(x, y)| naive_ssim(x, y, rows, columns, range.extent()))
            .collect();
        let expected = slices.iter().sum::<f64>() / slices.len() as f64;
        for piece in [1, 7, 100, count] {
            let setup = Setup {
                range,
                fill: FillValues::NONE,
                exact_fill: true,
                tolerance: None,
                ssim: true,
                threads: 2,
            };
            let mut comparison = Comparison::new(&shape, setup).unwrap();
            for (x, y) in original.chunks(piece).zip(decoded.chunks(piece)) {
                comparison.push(x, y).unwrap();
            }
            let metrics = comparison.finish().unwrap();
            assert_close(metrics.ssim.unwrap(), expected, "ssim");
            assert_eq!(metrics.lost_specials, 1);
        }
    }
}

#[test]
fn ssim_of_long_slices_does_not_depend_on_piece_size() {
    let shape = [2, 800, 700];
    let (original, decoded) = fields(2 * 800 * 700);
    let range = FiniteRange::of(&original, &FillValues::NONE);
    let ssim = |piece: usize, threads: usize| {
        let setup = Setup {
            range,
            fill: FillValues::NONE,
            exact_fill: true,
            tolerance: None,
            ssim: true,
            threads,
        };
        let mut comparison = Comparison::new(&shape, setup).unwrap();
        for (x, y) in original.chunks(piece).zip(decoded.chunks(piece)) {
            comparison.push(x, y).unwrap();
        }
        comparison.finish().unwrap().ssim.unwrap()
    };
    let whole = ssim(original.len(), 1);
    assert!(whole < 1.0);
    for piece in [123_457, 1 << 20] {
        assert_close(ssim(piece, 2), whole, "ssim");
    }
}

#[test]
fn special_values_are_not_errors() {
    let original = [1.0f32, f32::NAN, f32::INFINITY, -9999.0, 2.0, 0.0];
    let same = compare(&original, &original, &[6], (-9999.0).into()).unwrap();
    assert_eq!((same.ordinary, same.exact, same.lost_specials), (3, 6, 0));
    assert_eq!((same.max_error, same.value_range), (0.0, 2.0));
    assert_eq!(same.psnr, f64::INFINITY);

    let wrong = [1.0f32, 0.0, f32::NAN, -9998.0, f32::NAN, 1e-30];
    let metrics = compare(&original, &wrong, &[6], (-9999.0).into()).unwrap();
    assert_eq!(metrics.lost_specials, 3);
    assert_eq!(metrics.max_error, f64::INFINITY);
    assert_eq!(metrics.max_relative_error, f64::INFINITY);

    let nothing = compare::<f64>(&[], &[], &[0, 4], Fill::None).unwrap();
    assert_eq!((nothing.values, nothing.ssim), (0, None));
    assert!(compare(&[1.0f32], &[1.0, 2.0], &[1], Fill::None).is_err());
    assert!(compare(&[1.0f32], &[1.0], &[2], Fill::None).is_err());
}

#[test]
fn bounds_are_checked_exactly() {
    let holds = |e, x: f64, y: f64| Tolerance::Abs(e).holds(x, y);
    assert!(holds(0.5, 1.0, 1.5));
    // The difference rounds to the bound but exceeds it.
    let (x, y) = (1.0, -(2f64.powi(-60)));
    assert_eq!(x - y, 1.0);
    assert!(!holds(1.0, x, y));
    assert!(!holds(1.0, y, x));
    assert!(holds(1.0, x, 2f64.powi(-60)));
    assert!(!holds(f64::MAX, f64::MAX, -f64::MAX));
    assert!(!holds(f64::MAX, 1.0, f64::NAN));

    let holds = |e, x: f64, y: f64| Tolerance::Pointwise(e).holds(x, y);
    for scale in [1.0, 1e-300, 1e300, f64::from_bits(1 << 40)] {
        assert!(holds(0.25, scale, 0.75 * scale));
        assert!(!holds(0.25, scale, (0.75 * scale).next_down()));
    }
    // The product rounds up to the difference.
    let (e, x) = (0.9, 3.0);
    let y = x - e * x;
    assert_eq!(x - y, e * x);
    assert!(!holds(e, x, y) && !holds(e, x, y.next_up()));
    assert!(holds(e, x, y.next_up().next_up()));
    assert!(holds(0.1, 0.0, 0.0) && !holds(0.1, 0.0, 5e-324));
    assert!(holds(1e-300, 1.5, 1.5) && !holds(1e-300, 1.5, 1.5f64.next_up()));
    assert!(!Tolerance::Lossless.holds(0.0f32, -0.0));
}
