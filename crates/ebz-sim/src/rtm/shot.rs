//! A shot: grid, velocities, source and receivers, validated before the computation.

use super::field::{Field, Layout};
use super::model;
use super::stencil::WEIGHTS;
use ebz::{Error, Result};

/// Default time step, as a fraction of the largest stable one.
const STABILITY_MARGIN: f64 = 0.9;

/// A Ricker wavelet has negligible energy above this multiple of its peak frequency.
const MAX_FREQUENCY_RATIO: f64 = 2.5;

/// Points per wavelength that the stencil needs to avoid dispersion.
const POINTS_PER_WAVELENGTH: f64 = 4.0;

/// Parameters of a shot.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Grid points, depth first, absorbing boundaries included.
    pub extents: [usize; 3],
    /// Grid spacing in metres.
    pub spacing: f64,
    /// Number of time steps.
    pub steps: usize,
    /// Time step in seconds; derived from the velocities if absent.
    pub time_step: Option<f64>,
    /// Peak frequency of the source in Hz; derived from grid and velocities if absent.
    pub frequency: Option<f64>,
    /// Width of the absorbing boundary on every side, in points.
    pub margin: usize,
    /// Distance between receivers, in points.
    pub receiver_spacing: usize,
    /// Radius of the smoothing for the migration, in points.
    pub smoothing: usize,
}

impl Setup {
    /// Defaults for everything except grid and steps.
    pub fn new(extents: [usize; 3], steps: usize) -> Self {
        let least = extents.into_iter().min().unwrap_or(0);
        Self {
            extents,
            spacing: 10.0,
            steps,
            time_step: None,
            frequency: None,
            margin: (least / 8).min(20),
            receiver_spacing: 2,
            smoothing: 4,
        }
    }
}

/// A validated shot.
pub struct Shot {
    /// The parameters.
    pub setup: Setup,
    /// Time step in seconds.
    pub time_step: f64,
    /// Peak frequency of the source in Hz.
    pub frequency: f64,
    /// Points per shortest wavelength; waves disperse below 4.
    pub points_per_wavelength: f64,
    /// The largest number of steps per frame that still samples the whole wave.
    pub most_between_frames: usize,
    pub(super) layout: Layout,
    pub(super) velocities: Vec<f32>,
    pub(super) keep: [Vec<f32>; 3],
    pub(super) wavelet: Vec<f32>,
}

impl Shot {
    /// Validates everything; `velocities` in m/s at every grid point, depth first.
    pub fn new(setup: Setup, velocities: Vec<f32>) -> Result<Self> {
        let layout = Layout::new(setup.extents)?;
        let [nz, ny, nx] = setup.extents;
        if setup.extents.iter().any(|&n| n < 2 * setup.margin + 8) || setup.steps == 0 {
            return Err(Error::invalid(format!(
                "a grid of {nz}x{ny}x{nx} with absorbing boundaries of {} points and {} steps leaves \
                 nothing to compute: take at least {} points along every axis and one step",
                setup.margin,
                setup.steps,
                2 * setup.margin + 8
            )));
        }
        if velocities.len() != layout.points() {
            return Err(Error::invalid(format!(
                "the velocity model has {} values, but a grid of {nz}x{ny}x{nx} has {} points: \
                 check --grid",
                velocities.len(),
                layout.points()
            )));
        }
        let bad = |v: &f32| !(v.is_finite() && *v > 0.0);
        if let Some(at) = velocities.iter().position(bad) {
            return Err(Error::invalid(format!(
                "the velocity at point {at} is {}: velocities must be above 0 m/s",
                velocities[at]
            )));
        }
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let given = [Some(setup.spacing), setup.time_step, setup.frequency];
        if !given.into_iter().flatten().all(positive) || setup.receiver_spacing == 0 {
            return Err(Error::invalid(
                "spacing, time step, frequency and receiver distance must be above 0",
            ));
        }
        let fold = |f: fn(f32, f32) -> f32, start| velocities.iter().copied().fold(start, f);
        let fastest = f64::from(fold(f32::max, 0.0));
        let slowest = f64::from(fold(f32::min, f32::INFINITY));
        let stable = stable_step(setup.spacing, fastest);
        let time_step = setup.time_step.unwrap_or(STABILITY_MARGIN * stable);
        if time_step > stable {
            return Err(Error::invalid(format!(
                "a time step of {time_step:.3e} s is unstable: with {fastest:.0} m/s and points \
                 {} m apart it may be at most {stable:.3e} s; use smaller steps or a larger spacing",
                setup.spacing
            )));
        }
        let shortest = POINTS_PER_WAVELENGTH * setup.spacing;
        let frequency = setup
            .frequency
            .unwrap_or(slowest / (shortest * MAX_FREQUENCY_RATIO));
        let highest = MAX_FREQUENCY_RATIO * frequency;
        Ok(Self {
            time_step,
            frequency,
            points_per_wavelength: slowest / (highest * setup.spacing),
            most_between_frames: (1.0 / (2.0 * highest * time_step)) as usize,
            keep: keep(&setup, &layout),
            wavelet: wavelet(setup.steps, time_step, frequency),
            layout,
            velocities,
            setup,
        })
    }

    /// The same velocities with other parameters.
    pub fn with(&self, setup: Setup) -> Result<Self> {
        Self::new(setup, self.velocities.clone())
    }

    /// Number of grid points.
    pub fn points(&self) -> usize {
        self.layout.points()
    }

    /// Bytes of fields, image and recordings, without the frames.
    pub fn memory(&self) -> u64 {
        let fields = 3 * self.layout.values() + 2 * self.points();
        let recordings = 2 * self.setup.steps * self.receivers().count();
        (size_of::<f32>() * (fields + recordings)) as u64
    }

    /// The plane of source and receivers.
    pub fn surface(&self) -> usize {
        self.setup.margin + 1
    }

    /// Row and column of the source.
    pub(super) fn source(&self) -> (usize, usize) {
        (self.setup.extents[1] / 2, self.setup.extents[2] / 2)
    }

    /// Row and column of every receiver.
    pub(super) fn receivers(&self) -> impl Iterator<Item = (usize, usize)> {
        let [_, ny, nx] = self.setup.extents;
        let (margin, apart) = (self.setup.margin, self.setup.receiver_spacing);
        let columns = move || (margin..nx - margin).step_by(apart);
        let rows = (margin..ny - margin).step_by(apart);
        rows.flat_map(move |y| columns().map(move |x| (y, x)))
    }

    /// (velocity · dt / spacing)² as a field, of the original or the smoothed velocities.
    pub fn speed(&self, smooth: bool) -> Result<Field> {
        let mut velocities = self.velocities.clone();
        if smooth {
            model::smooth(&mut velocities, self.setup.extents, self.setup.smoothing);
        }
        let mut field = Field::new(self.layout, 2)?;
        let scale = (self.time_step / self.setup.spacing) as f32;
        let [_, ny, nx] = self.setup.extents;
        let values = field.all_mut();
        for (number, row) in velocities.chunks_exact(nx).enumerate() {
            let at = self.layout.at(number / ny, number % ny, 0);
            for (value, velocity) in values[at..at + nx].iter_mut().zip(row) {
                *value = (velocity * scale) * (velocity * scale);
            }
        }
        Ok(field)
    }
}

/// The largest stable time step: the stencil's largest eigenvalue times (v dt / h)² is at most 4.
fn stable_step(spacing: f64, fastest: f64) -> f64 {
    let axis: f64 = WEIGHTS[1..].iter().map(|&w| 2.0 * f64::from(w.abs())).sum();
    let eigenvalue = f64::from(-WEIGHTS[0]) + 3.0 * axis;
    2.0 / eigenvalue.sqrt() * spacing / fastest
}

/// Damping factors at each point of each axis.
fn keep(setup: &Setup, layout: &Layout) -> [Vec<f32>; 3] {
    // Stronger damping reflects more.
    const MAX_DAMPING: f64 = 0.25;
    let margin = setup.margin;
    let keep = |place: usize, extent: usize| {
        let depth = margin.saturating_sub(place.min(extent - 1 - place));
        let share = depth as f64 / margin.max(1) as f64;
        (1.0 - MAX_DAMPING * share * share) as f32
    };
    let mut all = setup.extents.map(|extent| {
        (0..extent)
            .map(|place| keep(place, extent))
            .collect::<Vec<_>>()
    });
    // Zero beyond the last column.
    all[2].resize(layout.width().max(setup.extents[2]), 0.0);
    all
}

/// Ricker wavelet, delayed so that it starts near zero.
fn wavelet(steps: usize, time_step: f64, frequency: f64) -> Vec<f32> {
    let delay = 1.5 / frequency;
    let at = |step: usize| {
        let phase = std::f64::consts::PI * frequency * ((step + 1) as f64 * time_step - delay);
        ((1.0 - 2.0 * phase * phase) * (-phase * phase).exp()) as f32
    };
    (0..steps).map(at).collect()
}
