//! Quality criteria, and whether a decompressed array meets them.

mod dssim;

use crate::spectrum;
use crate::trial::Trial;
use anyhow::{Context, Result, bail, ensure};
use ebz::Element;

/// Maximum number of values for comparing distributions.
const MAX_KS_VALUES: usize = 1 << 16;

/// A criterion with its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    pub kind: Kind,
    pub threshold: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Minimum peak signal-to-noise ratio in dB.
    Psnr,
    /// Minimum structural similarity.
    Ssim,
    /// Minimum structural similarity of data rounded to 256 levels.
    Dssim,
    /// Minimum Pearson correlation.
    Correlation,
    /// Maximum RMS change of the differences of neighbours, relative to the differences.
    Gradient,
    /// Maximum relative change of the power at any wavenumber.
    Spectrum,
    /// Minimum p-value of the Kolmogorov-Smirnov test for equal distributions.
    Ks,
}

impl Kind {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Psnr, "psnr"),
        (Self::Ssim, "ssim"),
        (Self::Dssim, "dssim"),
        (Self::Correlation, "correlation"),
        (Self::Gradient, "gradient"),
        (Self::Spectrum, "spectrum"),
        (Self::Ks, "ks"),
    ];

    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(kind, _)| *kind == self);
        named.map_or("", |(_, name)| name)
    }
}

/// Common criteria for climate data (ldcpy; Baker et al. 2014, 2019), and spectra within 1 %.
pub const DEFAULT: [Criterion; 4] = [
    criterion(Kind::Correlation, 0.99999),
    criterion(Kind::Ssim, 0.995),
    criterion(Kind::Spectrum, 0.01),
    criterion(Kind::Ks, 0.05),
];

/// Their names, as in `ssim and ks`.
pub fn names(criteria: &[Criterion]) -> String {
    let names: Vec<_> = criteria.iter().map(|one| one.kind.name()).collect();
    match &names[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        names => names.concat(),
    }
}

const fn criterion(kind: Kind, threshold: f64) -> Criterion {
    Criterion { kind, threshold }
}

impl std::str::FromStr for Criterion {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = || Kind::ALL.map(|(_, name)| name).join(", ");
        let (name, value) = text.split_once('=').with_context(|| {
            format!("'{text}': write it as ssim=0.995; criteria are {}", names())
        })?;
        let Some(&(kind, _)) = Kind::ALL.iter().find(|(_, known)| *known == name) else {
            bail!("unknown criterion '{name}': use one of {}", names());
        };
        let threshold = crate::quantity::share(value)?;
        let most = if kind == Kind::Psnr { f64::MAX } else { 1.0 };
        ensure!(
            threshold > 0.0 && threshold <= most,
            "{name} cannot be {value}"
        );
        Ok(Self { kind, threshold })
    }
}

/// The metrics of a decompressed sample for some kinds of criteria; absent if undefined.
#[derive(Debug, Clone)]
pub struct Kept(Vec<(Kind, Option<f64>)>);

impl Kept {
    /// Compares a sample with its decompressed values, without missing data.
    pub fn of<T: Element>(
        criteria: &[Criterion],
        trial: &Trial,
        shape: &[usize],
        values: &[T],
        decoded: &[T],
        is_missing: impl Fn(T) -> bool,
    ) -> Self {
        let pairs = || {
            let pairs = values.iter().zip(decoded);
            let there = pairs.filter(|(x, _)| !is_missing(**x));
            there.map(|(x, y)| (x.to_f64(), y.to_f64()))
        };
        let found = |kind: Kind| match kind {
            Kind::Psnr => Some(trial.psnr),
            Kind::Ssim => trial.ssim,
            Kind::Dssim => dssim::dssim(shape, values, decoded, &is_missing),
            Kind::Correlation => Some(correlation(pairs)),
            Kind::Gradient => gradient(shape, values, decoded, &is_missing),
            Kind::Spectrum => spectra(shape, values, decoded, &is_missing),
            Kind::Ks => Some(ks(pairs)),
        };
        let kinds = criteria.iter().map(|criterion| criterion.kind);
        Self(kinds.map(|kind| (kind, found(kind))).collect())
    }

    /// The metric of a criterion.
    pub fn get(&self, kind: Kind) -> Option<f64> {
        let found = self.0.iter().find(|(known, _)| *known == kind);
        found.and_then(|(_, value)| *value)
    }

    /// Whether a criterion is met; undefined metrics count as met.
    pub fn holds(&self, criterion: &Criterion) -> bool {
        let value = self.get(criterion.kind);
        value.is_none_or(|value| match criterion.kind {
            Kind::Spectrum | Kind::Gradient => value <= criterion.threshold,
            _ => value >= criterion.threshold,
        })
    }
}

fn correlation<I: Iterator<Item = (f64, f64)>>(pairs: impl Fn() -> I) -> f64 {
    let (n, sx, sy) = pairs().fold((0.0, 0.0, 0.0), |(n, sx, sy), (x, y)| {
        (n + 1.0, sx + x, sy + y)
    });
    let (mx, my) = (sx / n, sy / n);
    let (xx, yy, xy) = pairs().fold((0.0, 0.0, 0.0), |(xx, yy, xy), (x, y)| {
        let (x, y) = (x - mx, y - my);
        (xx + x * x, yy + y * y, xy + x * y)
    });
    match xx == 0.0 && yy == 0.0 {
        true => 1.0,
        false => xy / (xx * yy).sqrt(),
    }
}

/// RMS change of the differences of neighbours along the last two axes, relative to the RMS of the differences;
/// `None` if there are none.
fn gradient<T: Element>(
    shape: &[usize],
    values: &[T],
    decoded: &[T],
    is_missing: &impl Fn(T) -> bool,
) -> Option<f64> {
    let row = shape.last().copied().unwrap_or(1).max(1);
    let (mut changes, mut all) = (0.0, 0.0);
    let mut add = |i: usize, j: usize| {
        if !is_missing(values[i]) && !is_missing(values[j]) {
            let difference = |of: &[T]| of[j].to_f64() - of[i].to_f64();
            let (x, y) = (difference(values), difference(decoded));
            changes += (y - x) * (y - x);
            all += x * x;
        }
    };
    for i in 0..values.len() {
        if (i + 1) % row != 0 {
            add(i, i + 1);
        }
        if shape.len() > 1 && i + row < values.len() {
            add(i, i + row);
        }
    }
    (all > 0.0).then(|| f64::sqrt(changes / all))
}

/// The largest relative change of the power at any wavenumber; `None` if no row is free of missing data.
fn spectra<T: Element>(
    shape: &[usize],
    values: &[T],
    decoded: &[T],
    is_missing: &impl Fn(T) -> bool,
) -> Option<f64> {
    let (mut starts, length) = spectrum::pieces(shape, values.len());
    starts.retain(|&start| {
        let piece = &values[start..start + length];
        !piece.iter().any(|&x| is_missing(x))
    });
    let rows = |of: &[T]| -> Vec<Vec<f64>> {
        let pieces = starts.iter().map(|&start| &of[start..start + length]);
        pieces
            .map(|piece| piece.iter().map(|y| y.to_f64()).collect())
            .collect()
    };
    let (original, other) = (
        spectrum::power(&rows(values)),
        spectrum::power(&rows(decoded)),
    );
    let changes = original.iter().zip(&other).filter(|(a, _)| **a > 0.0);
    changes.map(|(a, b)| (b / a - 1.0).abs()).reduce(f64::max)
}

/// The two-sample Kolmogorov-Smirnov test.
fn ks<I: Iterator<Item = (f64, f64)>>(pairs: impl Fn() -> I) -> f64 {
    let step = pairs().count().div_ceil(MAX_KS_VALUES).max(1);
    let (mut x, mut y): (Vec<_>, Vec<_>) = pairs().step_by(step).unzip();
    x.sort_unstable_by(f64::total_cmp);
    y.sort_unstable_by(f64::total_cmp);
    let (mut i, mut j, mut distance) = (0, 0, 0usize);
    while i < x.len() && j < y.len() {
        let at = x[i].min(y[j]);
        i += x[i..].iter().take_while(|v| **v <= at).count();
        j += y[j..].iter().take_while(|v| **v <= at).count();
        distance = distance.max(i.abs_diff(j));
    }
    if distance == 0 {
        return 1.0;
    }
    let n = x.len() as f64;
    let lambda = distance as f64 / n * (n / 2.0).sqrt();
    let terms = (1..100).map(|k| {
        let k = f64::from(k);
        let sign = if k % 2.0 == 1.0 { 2.0 } else { -2.0 };
        sign * (-2.0 * k * k * lambda * lambda).exp()
    });
    // The series converges slowly where the distributions are practically the same.
    if lambda < 0.2 {
        1.0
    } else {
        terms.sum::<f64>().clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_read() {
        assert_eq!(
            "ssim=0.995".parse::<Criterion>().unwrap(),
            criterion(Kind::Ssim, 0.995)
        );
        assert_eq!(
            "spectrum=1%".parse::<Criterion>().unwrap(),
            criterion(Kind::Spectrum, 0.01)
        );
        for text in ["", "ssim", "ssim=2", "ssim=-1", "taste=1", "psnr=x"] {
            assert!(text.parse::<Criterion>().is_err(), "{text}");
        }
    }

    #[test]
    fn gradients_are_those_of_neighbours() {
        let x: Vec<f64> = (0..600)
            .map(|i| f64::from(i % 30) + 2.0 * f64::from(i / 30))
            .collect();
        let y: Vec<f64> = x.iter().map(|x| 1.1 * x).collect();
        let found = gradient(&[20, 30], &x, &y, &|_| false).unwrap();
        assert!((found - 0.1).abs() < 1e-9, "{found}");
        assert_eq!(gradient(&[600], &[1.0; 600], &[1.0; 600], &|_| false), None);
    }

    #[test]
    fn distributions_and_correlations_are_those_of_the_definitions() {
        let x: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 1e4).collect();
        let with = |f: fn(f64) -> f64| x.iter().map(move |&x| (x, f(x))).collect::<Vec<_>>();
        let same = with(|x| x);
        assert_eq!(
            (
                ks(|| same.iter().copied()),
                correlation(|| same.iter().copied())
            ),
            (1.0, 1.0)
        );
        // A shift by 0.02 is the distance: lambda = 0.02 sqrt(5000) = 1.414, p = 0.0366.
        let shifted = with(|x| x + 0.02);
        let p = ks(|| shifted.iter().copied());
        assert!((p - 0.0366).abs() < 0.002, "{p}");
        let turned = with(|x| -3.0 * x);
        assert!((correlation(|| turned.iter().copied()) + 1.0).abs() < 1e-9);
    }
}
