//! Power spectra of rows of an array and of its errors.

/// Maximum number of values of a piece of a row, and of pieces.
const MAX_LENGTH: usize = 2048;
const MAX_PIECES: usize = 256;

/// The rows of the fastest axis of an array, or pieces of long ones, spread over it: where they start, and their length, a
/// power of two.
pub fn pieces(shape: &[usize], values: usize) -> (Vec<usize>, usize) {
    let row = shape.last().copied().unwrap_or(1).max(1);
    let length = 1 << row.min(MAX_LENGTH).ilog2();
    let in_row = row / length;
    let all = values / row * in_row;
    let step = all.div_ceil(MAX_PIECES).max(1);
    let starts = (0..all).step_by(step);
    let starts = starts.map(|i| i / in_row * row + i % in_row * length);
    (starts.collect(), length)
}

/// The mean power of rows at each wavenumber from 1 on; the length of rows is a power of two. The mean
/// of a row is subtracted, and a Hann window limits leakage.
pub fn power(rows: &[Vec<f64>]) -> Vec<f64> {
    let Some(length) = rows.first().map(Vec::len).filter(|n| *n >= 4) else {
        return Vec::new();
    };
    let turn = std::f64::consts::TAU / length as f64;
    let window = (0..length).map(|i| 0.5 - 0.5 * (turn * (i as f64 + 0.5)).cos());
    let window: Vec<f64> = window.collect();
    let roots = (0..length / 2).map(|k| (-turn * k as f64).sin_cos());
    let roots: Vec<(f64, f64)> = roots.collect();
    let mut total = vec![0.0; length / 2];
    let (mut re, mut im) = (vec![0.0; length], vec![0.0; length]);
    for row in rows {
        let mean = row.iter().sum::<f64>() / length as f64;
        for ((re, x), weight) in re.iter_mut().zip(row).zip(&window) {
            *re = (x - mean) * weight;
        }
        im.fill(0.0);
        transform(&mut re, &mut im, &roots);
        for (k, power) in total.iter_mut().enumerate() {
            *power += (re[k + 1].powi(2) + im[k + 1].powi(2)) / rows.len() as f64;
        }
    }
    total
}

/// In-place Fourier transform for lengths that are powers of two, with the first half of the roots of unity as sines and
/// cosines.
fn transform(re: &mut [f64], im: &mut [f64], roots: &[(f64, f64)]) {
    let length = re.len();
    let bits = length.trailing_zeros();
    for i in 0..length {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < length {
        let stride = length / (2 * half);
        for start in (0..length).step_by(2 * half) {
            for k in 0..half {
                let (sin, cos) = roots[k * stride];
                let (a, b) = (start + k, start + k + half);
                let (x, y) = (re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                (re[a], im[a]) = (re[a] + x, im[a] + y);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::{pieces, power};

    #[test]
    fn pieces_are_whole_rows_or_spread_over_long_ones() {
        assert_eq!(pieces(&[3, 40], 120), (vec![0, 40, 80], 32));
        let (starts, length) = pieces(&[5000], 5000);
        assert_eq!((starts, length), (vec![0, 2048], 2048));
        let (starts, length) = pieces(&[4, 1 << 20], 4 << 20);
        assert!(starts.len() == 256 && length == 2048);
        assert!(*starts.last().unwrap() > 3 << 20 && starts.is_sorted());
        assert_eq!(pieces(&[], 1), (vec![0], 1));
    }

    #[test]
    fn a_wave_is_found_at_its_wavenumber() {
        for k in [3.0, 10.0, 25.0] {
            let wave = |i: usize| 7.0 + (std::f64::consts::TAU * k * i as f64 / 64.0).cos();
            let power = power(&[(0..64).map(wave).collect()]);
            let (at, _) = power
                .iter()
                .enumerate()
                .max_by(|a, b| a.1.total_cmp(b.1))
                .unwrap();
            assert_eq!(at + 1, k as usize);
            assert!(
                power.iter().filter(|p| **p > 1e-9).count() <= 3,
                "{power:?}"
            );
        }
        assert!(power(&[]).is_empty());
    }
}
