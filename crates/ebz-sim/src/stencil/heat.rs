//! Heat in a solid: a 7-point stencil in 3-D with insulated sides, so that the total heat is
//! conserved.
//!
//! uᵗ⁺¹ = uᵗ + r (sum of the 6 neighbours − 6 uᵗ), with the diffusion number r = α Δt / Δx².

use super::{Kernel, Step, Sums, Value};
use ebz::simd::Level;
use ebz::{Error, Result};
use std::f64::consts::PI;

/// The largest diffusion number for which the explicit scheme is stable.
pub const MAX_DIFFUSION: f64 = 1.0 / 6.0;

/// The heat kernel.
pub struct Heat {
    shape: [usize; 3],
    diffusion: f64,
    level: Level,
    start: Vec<Separable>,
}

/// A separable function: one factor per axis.
struct Separable {
    axes: [Vec<f64>; 3],
}

impl Heat {
    /// A solid with these extents; it starts warm, with hot and cold spots.
    pub fn new(shape: [usize; 3], diffusion: f64, level: Level) -> Result<Self> {
        if shape.iter().any(|&extent| extent < 2) {
            return Err(Error::invalid(
                "heat needs at least 2 cells along every axis: use a larger --grid",
            ));
        }
        if !(diffusion > 0.0 && diffusion <= MAX_DIFFUSION) {
            return Err(Error::invalid(format!(
                "diffusion number {diffusion}: the scheme is stable above 0 and up to 1/6, so choose \
                 a smaller time step (--diffusion)"
            )));
        }
        Ok(Self {
            shape,
            diffusion,
            level,
            start: spots(shape),
        })
    }

    /// Starts with a single cosine mode instead, which decays by a known factor per step.
    pub fn with_mode(mut self, waves: [usize; 3]) -> Self {
        self.start = vec![Separable::new(self.shape, 1.0, |axis, x| {
            (PI * waves[axis] as f64 * x).cos()
        })];
        self
    }

    /// The decay factor of a cosine mode per step on this grid.
    pub fn decay(&self, waves: [usize; 3]) -> f64 {
        let axis = |axis: usize| {
            (PI * waves[axis] as f64 / (2 * self.shape[axis]) as f64)
                .sin()
                .powi(2)
        };
        1.0 - 4.0 * self.diffusion * (axis(0) + axis(1) + axis(2))
    }
}

impl Separable {
    /// `f` receives the axis and the centre of a cell, from 0 to 1.
    fn new(shape: [usize; 3], scale: f64, f: impl Fn(usize, f64) -> f64) -> Self {
        let axes = [0, 1, 2].map(|axis| {
            let n = shape[axis];
            let scale = if axis == 0 { scale } else { 1.0 };
            (0..n)
                .map(|i| scale * f(axis, (i as f64 + 0.5) / n as f64))
                .collect()
        });
        Self { axes }
    }
}

/// Gaussian spots of several widths on a warm background with a long wave.
fn spots(shape: [usize; 3]) -> Vec<Separable> {
    const SPOTS: [(f64, [f64; 3], f64); 6] = [
        (1.0, [0.30, 0.35, 0.40], 0.05),
        (0.8, [0.70, 0.60, 0.25], 0.08),
        (-0.6, [0.55, 0.25, 0.70], 0.06),
        (0.7, [0.20, 0.75, 0.75], 0.10),
        (-0.4, [0.85, 0.80, 0.60], 0.07),
        (0.5, [0.45, 0.55, 0.50], 0.15),
    ];
    let mut all = vec![
        Separable::new(shape, 1.0, |_, _| 1.0),
        Separable::new(shape, 0.3, |axis, x| (PI * (axis + 2) as f64 * x).cos()),
    ];
    all.extend(SPOTS.map(|(height, centre, width)| {
        Separable::new(shape, height, move |axis, x| {
            (-((x - centre[axis]) / width).powi(2)).exp()
        })
    }));
    all
}

impl<T: Value> Kernel<T> for Heat {
    fn name(&self) -> &'static str {
        "heat"
    }

    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn cells(&self) -> usize {
        self.shape[1] * self.shape[2]
    }

    fn stage_len(&self, _stage: usize) -> usize {
        self.shape[1] * self.shape[2]
    }

    fn parameters(&self) -> String {
        format!("diffusion {}", self.diffusion)
    }

    fn start(&self, at: usize, plane: &mut [T]) {
        plane.fill(T::default());
        self.level.run(
            #[inline(always)]
            || {
                for Separable { axes: [z, y, x] } in &self.start {
                    for (row, y) in plane.chunks_exact_mut(self.shape[2]).zip(y) {
                        let scale = z[at] * y;
                        for (value, x) in row.iter_mut().zip(x) {
                            *value = T::from_f64(value.to_f64() + scale * x);
                        }
                    }
                }
            },
        );
    }

    fn advance(&self, _step: Step, _stage: usize, _at: usize, window: [&[T]; 3], out: &mut [T]) {
        let [_, ny, nx] = self.shape;
        let row = |plane: usize, y: usize| &window[plane][y * nx..(y + 1) * nx];
        self.level.run(
            #[inline(always)]
            || {
                for (y, out) in out.chunks_exact_mut(nx).enumerate() {
                    let north = row(1, y.saturating_sub(1));
                    let south = row(1, (y + 1).min(ny - 1));
                    heat_row(
                        self.diffusion,
                        row(1, y),
                        [north, south, row(0, y), row(2, y)],
                        out,
                    );
                }
            },
        );
    }

    fn sums(&self, _at: usize, plane: &[T]) -> Sums {
        [plane.iter().map(|u| u.to_f64()).sum(), 0.0, 0.0]
    }

    fn quantities(&self, [heat, ..]: Sums) -> Vec<(&'static str, f64)> {
        vec![("heat", heat)]
    }

    fn picture(&self, at: usize, plane: &[T]) -> Vec<Vec<f64>> {
        if at != self.shape[0] / 3 {
            return Vec::new();
        }
        let rows = plane.chunks_exact(self.shape[2]);
        rows.map(|row| row.iter().map(|u| u.to_f64()).collect())
            .collect()
    }
}

/// One row from the row itself and its four neighbours.
#[inline(always)]
fn heat_row<T: Value>(r: f64, row: &[T], neighbours: [&[T]; 4], out: &mut [T]) {
    let last = row.len() - 1;
    let [north, south, below, above] = neighbours.map(|b| &b[..=last]);
    let out = &mut out[..=last];
    let (keep, r) = (T::from_f64(1.0 - 6.0 * r), T::from_f64(r));
    let cell = |x: usize, west: T, east: T| {
        let around = (west + east) + (north[x] + south[x]) + (below[x] + above[x]);
        keep * row[x] + r * around
    };
    out[0] = cell(0, row[0], row[1]);
    for x in 1..last {
        out[x] = cell(x, row[x - 1], row[x + 1]);
    }
    out[last] = cell(last, row[last - 1], row[last]);
}
