//! Passes over time: record, forward, backward.

use super::field::Field;
use super::shot::Shot;
use super::wave::{Planes, Wave};
use ebz::{Error, Result, View};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Receives a slab of a frame, with its number, on the thread that computed it.
pub type Give<'a> = dyn Fn(usize, &View<'_, f32>) -> Result<()> + Sync + 'a;

/// Gives access to the values of a slab of a frame.
pub type Take<'a> = dyn Fn(usize, &mut dyn FnMut(&[f32])) -> Result<()> + Sync + 'a;

/// Receives the frames of the forward pass.
pub trait Sink {
    /// Calls `compute`, which passes on every slab of the next frame. `largest` is the largest
    /// value of the previous frame, 0 for the first one.
    fn frame(
        &mut self,
        largest: f32,
        compute: &mut dyn FnMut(&Give<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// Provides the frames of the backward pass.
pub trait Origin {
    /// Calls `compute`, which reads every slab of a frame.
    fn frame(
        &mut self,
        index: usize,
        compute: &mut dyn FnMut(&Take<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// Parameters of a pass.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Number of threads; 0 means all cores.
    pub threads: usize,
    /// Planes per slab.
    pub slab: usize,
    /// Time steps per frame.
    pub every: usize,
}

impl Manner {
    /// Number of frames of a shot; its last steps may come after the last frame.
    pub fn frames(&self, shot: &Shot) -> usize {
        shot.setup.steps / self.every.max(1)
    }

    /// An error if a shot would have no frames.
    pub fn check(&self, shot: &Shot) -> Result<()> {
        if self.every == 0 || self.every > shot.setup.steps {
            return Err(Error::invalid(format!(
                "a frame every {} steps is none in {} steps: choose from 1 to {}",
                self.every, shot.setup.steps, shot.setup.steps
            )));
        }
        Ok(())
    }
}

/// Called with the number of steps since the last call; an error stops the pass.
pub type Progress<'a> = dyn Fn(usize) -> Result<()> + 'a;

/// The recording of the receivers with the true velocities: steps by receivers.
pub fn record(shot: &Shot, manner: &Manner, progress: &Progress<'_>) -> Result<Vec<f32>> {
    manner.check(shot)?;
    let speed = shot.speed(false)?;
    let mut wave = Wave::new(shot, &speed, manner.threads, manner.slab)?;
    let recording = Recording::new(shot);
    for (_, steps) in groups(shot.setup.steps, manner.every) {
        wave.advance(steps, |planes| recording.listen(shot, planes))?;
        progress(steps)?;
    }
    Ok(recording.into_values())
}

/// Propagates the wave through the smoothed velocities, passes every `every`-th field to the sink,
/// and returns `recorded` minus the recording of this wave: the reflections.
pub fn forward(
    shot: &Shot,
    speed: &Field,
    manner: &Manner,
    recorded: &[f32],
    sink: &mut dyn Sink,
    progress: &Progress<'_>,
) -> Result<Vec<f32>> {
    manner.check(shot)?;
    let mut wave = Wave::new(shot, speed, manner.threads, manner.slab)?;
    let recording = Recording::new(shot);
    let mut largest = 0.0;
    for (end, steps) in groups(shot.setup.steps, manner.every) {
        if steps < manner.every {
            // The steps after the last frame.
            wave.advance(steps, |planes| recording.listen(shot, planes))?;
        } else {
            let before = largest;
            sink.frame(before, &mut |give| {
                largest = wave.advance(steps, |planes| {
                    recording.listen(shot, planes)?;
                    match planes.step == end {
                        true => give(planes.slab, &planes.view()?),
                        false => Ok(()),
                    }
                })?;
                Ok(())
            })?;
        }
        progress(steps)?;
    }
    let mut rest = recording.into_values();
    if rest.len() != recorded.len() {
        return Err(Error::invalid(
            "the recording belongs to another shot: record this one first",
        ));
    }
    for (rest, heard) in rest.iter_mut().zip(recorded) {
        *rest = heard - *rest;
    }
    Ok(rest)
}

/// Propagates the reflections back from the receivers in reverse order, and sums up the products
/// with the frames of the forward pass. Returns the image, depth first.
pub fn backward(
    shot: &Shot,
    speed: &Field,
    manner: &Manner,
    reflections: &[f32],
    origin: &mut dyn Origin,
    progress: &Progress<'_>,
) -> Result<Vec<f32>> {
    manner.check(shot)?;
    let [_, ny, nx] = shot.setup.extents;
    let mut wave = Wave::new(shot, speed, manner.threads, manner.slab)?;
    let mut image = zeros(shot.points())?;
    let slabs: Vec<_> = image
        .chunks_mut(manner.slab.max(1) * ny * nx)
        .map(Mutex::new)
        .collect();
    let mut made = 0;
    for index in (0..manner.frames(shot)).rev() {
        // The wave after step m corresponds to the time of step `steps` + 1 − m of the forward
        // pass.
        let end = shot.setup.steps + 1 - (index + 1) * manner.every;
        let steps = end - made;
        origin.frame(index, &mut |take| {
            wave.advance(steps, |planes| {
                speak(shot, reflections, planes);
                if planes.step < end {
                    return Ok(());
                }
                let mut image = lock(&slabs[planes.slab]);
                take(planes.slab, &mut |slab| {
                    correlate(&mut image, slab, planes, nx)
                })
            })?;
            Ok(())
        })?;
        made = end;
        progress(steps)?;
    }
    drop(slabs);
    Ok(image)
}

/// image += slab × wave, row by row.
fn correlate(image: &mut [f32], slab: &[f32], planes: &Planes<'_>, nx: usize) {
    let rows = image.chunks_exact_mut(nx).zip(slab.chunks_exact(nx));
    for ((image, slab), wave) in rows.zip(planes.rows()) {
        for ((sum, forward), backward) in image.iter_mut().zip(slab).zip(wave) {
            *sum += forward * backward;
        }
    }
}

/// Ends and lengths of runs of steps, up to `all`.
fn groups(all: usize, every: usize) -> impl Iterator<Item = (usize, usize)> {
    let starts = (0..all).step_by(every);
    starts.map(move |start| (all.min(start + every), every.min(all - start)))
}

/// The recording of the receivers.
struct Recording(Mutex<Vec<f32>>, usize);

impl Recording {
    fn new(shot: &Shot) -> Self {
        let receivers = shot.receivers().count();
        Self(
            Mutex::new(vec![0.0; receivers * shot.setup.steps]),
            receivers,
        )
    }

    /// Adds the source and records, if these planes include the surface.
    fn listen(&self, shot: &Shot, planes: &mut Planes<'_>) -> Result<()> {
        let surface = shot.surface();
        if !planes.contains(surface) {
            return Ok(());
        }
        let step = planes.step - 1;
        let (y, x) = shot.source();
        *planes.point(surface, y, x) += shot.wavelet[step];
        let mut heard = lock(&self.0);
        let heard = &mut heard[step * self.1..][..self.1];
        for (heard, (y, x)) in heard.iter_mut().zip(shot.receivers()) {
            *heard = *planes.point(surface, y, x);
        }
        Ok(())
    }

    fn into_values(self) -> Vec<f32> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the recording in reverse order.
fn speak(shot: &Shot, heard: &[f32], planes: &mut Planes<'_>) {
    let surface = shot.surface();
    if planes.contains(surface) {
        let receivers = heard.len() / shot.setup.steps;
        let heard = &heard[(shot.setup.steps - planes.step) * receivers..][..receivers];
        for (heard, (y, x)) in heard.iter().zip(shot.receivers()) {
            *planes.point(surface, y, x) += heard;
        }
    }
}

fn zeros(count: usize) -> Result<Vec<f32>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| {
        Error::LimitExceeded("the image does not fit into memory: choose a smaller grid".into())
    })?;
    values.resize(count, 0.0);
    Ok(values)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
