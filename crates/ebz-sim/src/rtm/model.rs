//! Velocity models, and their smoothing for the migration.

use ebz::{Error, Result};
use std::str::FromStr;

/// Built-in models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Flat layers, faster with depth.
    Layered,
    /// Folded and faulted layers with a salt dome and a wedge, like Marmousi.
    Marmousi,
}

impl FromStr for Model {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "layered" => Ok(Self::Layered),
            "marmousi" => Ok(Self::Marmousi),
            _ => Err(Error::invalid(format!(
                "unknown model '{name}': use layered or marmousi, or give a file of velocities"
            ))),
        }
    }
}

/// Top of each flat layer, as a fraction of the depth, and its velocity.
const LAYERS: [(f64, f32); 5] = [
    (0.0, 1500.0),
    (0.30, 1900.0),
    (0.48, 2400.0),
    (0.66, 3100.0),
    (0.84, 3900.0),
];

/// Velocities of the folded layers, top to bottom.
const FOLDS: [f32; 12] = [
    1600.0, 1900.0, 1750.0, 2200.0, 2000.0, 2500.0, 2900.0, 2600.0, 3200.0, 3000.0, 3600.0, 4200.0,
];

impl Model {
    /// Velocities in m/s at every grid point, depth first.
    pub fn velocities(self, [nz, ny, nx]: [usize; 3]) -> Vec<f32> {
        let share = |i: usize, n: usize| i as f64 / n.max(2) as f64;
        let mut velocities = Vec::with_capacity(nz * ny * nx);
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let (z, y, x) = (share(z, nz), share(y, ny), share(x, nx));
                    velocities.push(match self {
                        Self::Layered => layered(z),
                        Self::Marmousi => marmousi(z, y, x),
                    });
                }
            }
        }
        velocities
    }

    /// Depths of flat reflectors in grid points, if the model has any.
    pub fn reflectors(self, depth: usize) -> Vec<usize> {
        match self {
            Self::Layered => LAYERS[1..]
                .iter()
                .map(|(share, _)| (share * depth as f64).ceil() as usize)
                .collect(),
            Self::Marmousi => Vec::new(),
        }
    }
}

fn layered(z: f64) -> f32 {
    let above = LAYERS.iter().take_while(|(top, _)| *top <= z);
    above.last().map_or(LAYERS[0].1, |(_, velocity)| *velocity)
}

fn marmousi(z: f64, y: f64, x: f64) -> f32 {
    const WATER: f64 = 0.22;
    if z < WATER {
        return 1500.0;
    }
    // A salt dome.
    let salt =
        ((x - 0.62) / 0.16).powi(2) + ((y - 0.5) / 0.25).powi(2) + ((z - 0.72) / 0.09).powi(2);
    if salt < 1.0 {
        return 4500.0;
    }
    // Three faults; the right side of each is lowered.
    let faults = [(0.25, 0.05), (0.45, 0.04), (0.78, -0.05)];
    let thrown = faults.iter().filter(|(at, _)| x > at + 0.25 * (z - 0.5));
    let drop: f64 = thrown.map(|(_, by)| by).sum();
    // Folds that grow with depth, slightly oblique to the grid.
    let along = x + 0.15 * (y - 0.5);
    let depth = z - WATER - drop - 0.10 * z * (along * 6.5).sin() - 0.06 * (along - 0.5);
    let layer = (depth * 15.0).clamp(0.0, (FOLDS.len() - 1) as f64) as usize;
    FOLDS[layer] + 250.0 * z as f32
}

/// Applies a box filter of 2 · `radius` + 1 points along every axis three times, which is close to
/// a Gaussian. It removes reflections and keeps travel times.
pub fn smooth(velocities: &mut [f32], [nz, ny, nx]: [usize; 3], radius: usize) {
    for _ in 0..3 {
        for z in 0..nz {
            for y in 0..ny {
                smooth_line(velocities, (z * ny + y) * nx, 1, nx, radius);
            }
        }
        for z in 0..nz {
            for x in 0..nx {
                smooth_line(velocities, z * ny * nx + x, nx, ny, radius);
            }
        }
        for y in 0..ny {
            for x in 0..nx {
                smooth_line(velocities, y * nx + x, ny * nx, nz, radius);
            }
        }
    }
}

fn smooth_line(values: &mut [f32], first: usize, stride: usize, count: usize, radius: usize) {
    let line: Vec<f64> = (0..count)
        .map(|i| f64::from(values[first + i * stride]))
        .collect();
    let mut sums = Vec::with_capacity(count + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for value in &line {
        sum += value;
        sums.push(sum);
    }
    for i in 0..count {
        let (low, high) = (i.saturating_sub(radius), (i + radius + 1).min(count));
        values[first + i * stride] = ((sums[high] - sums[low]) / (high - low) as f64) as f32;
    }
}
