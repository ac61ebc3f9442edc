//! Power spectra of rows of an array and of its errors.

/// The mean power of rows at each wavenumber from 1 on; the length of rows is a power of two. The mean
/// of a row is subtracted, and a Hann window limits leakage.
pub fn power(rows: &[Vec<f64>]) -> Vec<f64> {
    let Some(length) = rows.first().map(Vec::len).filter(|n| *n >= 4) else {
        return Vec::new();
    };
    let mut total = vec![0.0; length / 2];
    let (mut re, mut im) = (vec![0.0; length], vec![0.0; length]);
    for row in rows {
        let mean = row.iter().sum::<f64>() / length as f64;
        for (i, x) in row.iter().enumerate() {
            let angle = std::f64::consts::TAU * (i as f64 + 0.5) / length as f64;
            re[i] = (x - mean) * (0.5 - 0.5 * angle.cos());
        }
        im.fill(0.0);
        transform(&mut re, &mut im);
        for (k, power) in total.iter_mut().enumerate() {
            *power += (re[k + 1].powi(2) + im[k + 1].powi(2)) / rows.len() as f64;
        }
    }
    total
}

/// In-place Fourier transform for lengths that are powers of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
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
        for start in (0..length).step_by(2 * half) {
            for k in 0..half {
                let (sin, cos) = (-std::f64::consts::PI * k as f64 / half as f64).sin_cos();
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
    use super::power;

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
