//! Quality of an image: comparison with a reference, and a picture.

use crate::picture::Slice;
use ebz::{Error, Result};

/// How close an image is to the one computed from exact frames.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Closeness {
    /// 20 log10(rms(image) / rms(difference)) in dB; infinite if both images are equal.
    pub snr: f64,
    /// Fraction of points with a relative error below 2 %.
    pub within_2_percent: f64,
    /// Histogram of relative errors over the bins of [`RELATIVE_ERRORS`], as fractions of the points.
    pub histogram: [f64; RELATIVE_ERRORS.len()],
}

/// Upper edges of the bins of relative errors; the last bin is unbounded.
pub const RELATIVE_ERRORS: [f64; 8] = [1e-4, 1e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, f64::INFINITY];

/// Compares an image with the reference.
pub fn closeness(reference: &[f32], image: &[f32]) -> Result<Closeness> {
    if reference.len() != image.len() || image.is_empty() {
        return Err(Error::invalid(format!(
            "images of {} and {} points cannot be compared: take the same grid for both",
            reference.len(),
            image.len()
        )));
    }
    let (mut signal, mut noise, mut within) = (0.0, 0.0, 0usize);
    let mut classes = [0usize; RELATIVE_ERRORS.len()];
    for (&exact, &other) in reference.iter().zip(image) {
        let (exact, other) = (f64::from(exact), f64::from(other));
        let error = other - exact;
        signal += exact * exact;
        noise += error * error;
        within += usize::from(error == 0.0 || error.abs() < 0.02 * exact.abs());
        let below = |&&end: &&f64| error == 0.0 || error.abs() < end * exact.abs();
        let class = RELATIVE_ERRORS.iter().take_while(|end| !below(end)).count();
        classes[class.min(classes.len() - 1)] += 1;
    }
    Ok(Closeness {
        snr: match noise == 0.0 {
            true => f64::INFINITY,
            false => 10.0 * (signal / noise).log10(),
        },
        within_2_percent: within as f64 / image.len() as f64,
        histogram: classes.map(|class| class as f64 / image.len() as f64),
    })
}

/// Minus the Laplacian of the image: keeps reflectors and removes the low-frequency artefacts of waves
/// that travel in the same direction.
pub fn sharpen(image: &[f32], [nz, ny, nx]: [usize; 3]) -> Vec<f32> {
    let mut sharp = vec![0.0; image.len()];
    for z in 1..nz.saturating_sub(1) {
        for y in 1..ny.saturating_sub(1) {
            for x in 1..nx.saturating_sub(1) {
                let at = (z * ny + y) * nx + x;
                let pairs = [1, nx, ny * nx].map(|stride| image[at - stride] + image[at + stride]);
                sharp[at] = 6.0 * image[at] - pairs.iter().sum::<f32>();
            }
        }
    }
    sharp
}

/// The middle slice, filtered, with depth downwards. Planes above `first` are left out: source and
/// receivers dominate there.
pub fn middle_slice(image: &[f32], extents: [usize; 3], first: usize) -> Slice {
    let [nz, ny, nx] = extents;
    let first = first.min(nz.saturating_sub(1));
    let sharp = sharpen(image, extents);
    // Deeper reflections are weaker, by the square of the two-way distance.
    Slice::new(nz - first, nx, |row, x| {
        let depth = (row + 1) as f64;
        f64::from(sharp[((row + first) * ny + ny / 2) * nx + x]) * depth * depth
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness_is_that_of_the_definition() {
        let exact: Vec<f32> = (0..1000).map(|i| (i as f32 * 0.1).sin()).collect();
        let off: Vec<f32> = exact.iter().map(|x| x * 1.001).collect();
        let close = closeness(&exact, &off).unwrap();
        assert!((close.snr - 60.0).abs() < 0.01, "{close:?}");
        assert_eq!(close.within_2_percent, 1.0);
        // The first value is zero in both; rounding puts the others on either side of a bin edge.
        assert_eq!(close.histogram.iter().sum::<f64>(), 1.0);
        assert_eq!(close.histogram[3..], [0.0; 5]);
        assert_eq!(closeness(&exact, &exact).unwrap().snr, f64::INFINITY);
        assert_eq!(closeness(&[0.0], &[0.0]).unwrap().snr, f64::INFINITY);
        let far: Vec<f32> = exact.iter().map(|x| x * 1.1).collect();
        // The first value is zero in both.
        let close = closeness(&exact, &far).unwrap();
        assert_eq!(close.within_2_percent, 0.001);
        assert_eq!(close.histogram[0], 0.001);
        assert!((close.histogram[6] + close.histogram[7] - 0.999).abs() < 1e-9);
        assert!(closeness(&exact, &far[1..]).is_err());
    }
}
