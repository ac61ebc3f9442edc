//! Speckle reducing anisotropic diffusion (Yu and Acton) of an image, in two stages per step:
//! the diffusion coefficient of every cell from its gradient, then the diffusion itself.
//!
//! The speckle scale q₀ decays as exp(−ρ t), as the authors propose, or is measured before every
//! step, on the whole image, so that a pass cannot have more than one step.

use super::{Kernel, Step, Sums, Value};
use ebz::simd::Level;
use ebz::{Array, Error, Result};

/// A measured speckle scale is at least this, because coefficients divide by it.
const MIN_SCALE: f64 = 1e-6;

/// The speckle reduction kernel.
pub struct Srad {
    shape: [usize; 2],
    parameters: Parameters,
    image: Option<Array<f64>>,
    level: Level,
}

/// Parameters of the diffusion.
#[derive(Debug, Clone, Copy)]
pub struct Parameters {
    /// Step size λ; stable up to 1.
    pub lambda: f64,
    /// Initial speckle scale.
    pub q0: f64,
    /// Decay rate of the speckle scale per step.
    pub rho: f64,
    /// Measure the speckle scale before every step, instead of `q0` and `rho`.
    pub measured: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            lambda: 0.5,
            q0: 0.5,
            rho: 0.02,
            measured: false,
        }
    }
}

impl Parameters {
    fn check(self) -> Result<()> {
        if !(self.lambda > 0.0 && self.lambda <= 1.0) {
            return Err(Error::invalid(format!(
                "lambda {}: the diffusion is stable above 0 and up to 1, so choose a smaller step",
                self.lambda
            )));
        }
        if !(self.q0 > 0.0 && self.q0.is_finite() && self.rho >= 0.0 && self.rho.is_finite()) {
            return Err(Error::invalid(
                "the speckle scale q0 must be above 0 and its decay rate rho must not be negative",
            ));
        }
        Ok(())
    }
}

impl Srad {
    /// A synthetic image with speckle.
    pub fn synthetic(shape: [usize; 2], parameters: Parameters, level: Level) -> Result<Self> {
        parameters.check()?;
        if shape.iter().any(|&extent| extent < 2) {
            return Err(Error::invalid(
                "srad needs at least 2 cells along every axis: use a larger --grid",
            ));
        }
        Ok(Self {
            shape,
            parameters,
            image: None,
            level,
        })
    }

    /// An image of the user; its values must be finite and above 0.
    pub fn of(image: Array<f64>, parameters: Parameters, level: Level) -> Result<Self> {
        let &[ny, nx] = image.shape() else {
            return Err(Error::invalid("srad needs an image: an array of two axes"));
        };
        let usable = |v: &f64| (*v as f32).is_finite() && *v as f32 > 0.0;
        if !image.values().iter().all(usable) {
            return Err(Error::invalid(
                "srad divides by the intensity: every value of the image must be finite and above 0, also as f32",
            ));
        }
        let plain = Self::synthetic([ny, nx], parameters, level)?;
        Ok(Self {
            image: Some(image),
            ..plain
        })
    }
}

impl Srad {
    /// Standard deviation ÷ mean of the image.
    fn speckle_index(&self, [sum, squares, _]: Sums) -> f64 {
        let n = (self.shape[0] * self.shape[1]) as f64;
        let mean = sum / n;
        (squares / n - mean * mean).max(0.0).sqrt() / mean
    }
}

/// Bright and dark regions times unit-mean speckle (the mean of eight squared noise values).
fn speckled(shape: [usize; 2], y: usize, x: usize) -> f64 {
    let (v, u) = (y as f64 / shape[0] as f64, x as f64 / shape[1] as f64);
    let disc = |cv: f64, cu: f64, r: f64| (v - cv).powi(2) + (u - cu).powi(2) < r * r;
    let truth = if disc(0.35, 0.4, 0.18) {
        2.0
    } else if disc(0.7, 0.65, 0.12) {
        0.4
    } else if (u - v).abs() < 0.03 {
        1.6
    } else {
        1.0
    };
    let seed = (y as u64) << 32 | x as u64;
    let speckle: f64 = (0..8).map(|k| -uniform(seed ^ k << 61).ln()).sum();
    truth * (speckle / 8.0).max(1e-3)
}

/// A pseudo-random number in (0, 1] from a counter (the finalizer of SplitMix64).
fn uniform(counter: u64) -> f64 {
    let mut z = counter.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    ((z >> 11) + 1) as f64 / (1u64 << 53) as f64
}

impl<T: Value> Kernel<T> for Srad {
    fn name(&self) -> &'static str {
        "srad"
    }

    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn cells(&self) -> usize {
        self.shape[1]
    }

    fn stages(&self) -> usize {
        2
    }

    fn stage_len(&self, stage: usize) -> usize {
        match stage {
            0 => 2 * self.shape[1],
            _ => self.shape[1],
        }
    }

    fn parameters(&self) -> String {
        let image = match &self.image {
            Some(image) => format!("image of sum {:e}", image.values().iter().sum::<f64>()),
            None => "synthetic image".into(),
        };
        let Parameters {
            lambda, q0, rho, ..
        } = self.parameters;
        match self.parameters.measured {
            true => format!("lambda {lambda}, q0 measured, {image}"),
            false => format!("lambda {lambda}, q0 {q0}, rho {rho}, {image}"),
        }
    }

    fn start(&self, at: usize, plane: &mut [T]) {
        let nx = self.shape[1];
        match &self.image {
            Some(image) => {
                for (value, given) in plane.iter_mut().zip(&image.values()[at * nx..]) {
                    *value = T::from_f64(*given);
                }
            }
            None => {
                for (x, value) in plane.iter_mut().enumerate() {
                    *value = T::from_f64(speckled(self.shape, at, x));
                }
            }
        }
    }

    fn needs_sums(&self) -> bool {
        self.parameters.measured
    }

    fn advance(&self, step: Step, stage: usize, _at: usize, window: [&[T]; 3], out: &mut [T]) {
        let nx = self.shape[1];
        match stage {
            0 => {
                let Parameters { q0, rho, .. } = self.parameters;
                let q0 = match self.parameters.measured {
                    true => self.speckle_index(step.sums).max(MIN_SCALE),
                    false => q0 * (-rho * step.number as f64).exp(),
                };
                let (values, coefficients) = out.split_at_mut(nx);
                values.copy_from_slice(window[1]);
                self.level.run(
                    #[inline(always)]
                    || coefficient_row(q0 * q0, window, coefficients),
                );
            }
            _ => {
                let rate = 0.25 * self.parameters.lambda;
                let rows = window.map(|row| row.split_at(nx));
                self.level.run(
                    #[inline(always)]
                    || diffuse_row(rate, rows, out),
                );
            }
        }
    }

    fn sums(&self, _at: usize, plane: &[T]) -> Sums {
        let values = || plane.iter().map(|v| v.to_f64());
        [values().sum(), values().map(|v| v * v).sum(), 0.0]
    }

    fn quantities(&self, sums: Sums) -> Vec<(&'static str, f64)> {
        vec![
            ("intensity", sums[0]),
            ("speckle index", self.speckle_index(sums)),
        ]
    }

    fn picture(&self, _at: usize, plane: &[T]) -> Vec<Vec<f64>> {
        vec![plane.iter().map(|v| v.to_f64()).collect()]
    }
}

/// Stage 1: the diffusion coefficient of each cell, from 0 (edge) to 1 (speckle).
#[inline(always)]
fn coefficient_row<T: Value>(q0: f64, [north, row, south]: [&[T]; 3], out: &mut [T]) {
    let last = row.len() - 1;
    let (north, south, out) = (&north[..=last], &south[..=last], &mut out[..=last]);
    let scale = T::from_f64(1.0 / (q0 * (1.0 + q0)));
    let [q0, zero, one] = [q0, 0.0, 1.0].map(T::from_f64);
    let [half, quarter, sixteenth] = [0.5, 0.25, 0.0625].map(T::from_f64);
    let cell = |x: usize, west: T, east: T| {
        let centre = row[x];
        let (n, s, w, e) = (
            north[x] - centre,
            south[x] - centre,
            west - centre,
            east - centre,
        );
        let inverse = one / centre;
        let gradient = ((n * n + s * s) + (w * w + e * e)) * (inverse * inverse);
        let laplacian = ((n + s) + (w + e)) * inverse;
        let numerator = half * gradient - sixteenth * (laplacian * laplacian);
        let denominator = one + quarter * laplacian;
        let q = numerator / (denominator * denominator);
        match one / (one + (q - q0) * scale) {
            coefficient if coefficient < zero => zero,
            coefficient if coefficient > one => one,
            coefficient => coefficient,
        }
    };
    out[0] = cell(0, row[0], row[1]);
    for x in 1..last {
        out[x] = cell(x, row[x - 1], row[x + 1]);
    }
    out[last] = cell(last, row[last - 1], row[last]);
}

/// Stage 2: diffusion; each row comes with its coefficients.
#[inline(always)]
fn diffuse_row<T: Value>(rate: f64, [north, row, south]: [(&[T], &[T]); 3], out: &mut [T]) {
    let rate = T::from_f64(rate);
    let last = row.0.len() - 1;
    let (values, here) = (&row.0[..=last], &row.1[..=last]);
    let (north, south, below) = (&north.0[..=last], &south.0[..=last], &south.1[..=last]);
    let out = &mut out[..=last];
    let cell = |x: usize, west: T, east: T, c_east: T| {
        let (centre, c) = (values[x], here[x]);
        let flow = (c * (north[x] - centre) + below[x] * (south[x] - centre))
            + (c * (west - centre) + c_east * (east - centre));
        centre + rate * flow
    };
    out[0] = cell(0, values[0], values[1], here[1]);
    for x in 1..last {
        out[x] = cell(x, values[x - 1], values[x + 1], here[x + 1]);
    }
    out[last] = cell(last, values[last - 1], values[last], here[last]);
}
