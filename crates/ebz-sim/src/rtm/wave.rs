//! A propagating wave: fields at two time steps, advanced by a team of threads.

use super::field::{Field, Layout};
use super::shot::Shot;
use super::stencil::{Medium, step};
use crate::team::Team;
use ebz::simd::Level;
use ebz::{Result, View};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// The wave and its medium.
pub struct Wave<'a> {
    shot: &'a Shot,
    speed: &'a Field,
    /// The last two time steps; the parity of the step count selects the current one.
    fields: [Field; 2],
    steps: usize,
    threads: usize,
    level: Level,
    slab: usize,
}

/// Planes that were just computed, still in the cache of the thread.
pub struct Planes<'a> {
    /// Steps since the start, including this one.
    pub step: usize,
    /// Number of the slab.
    pub slab: usize,
    /// Range of planes.
    pub planes: Range<usize>,
    layout: &'a Layout,
    values: &'a mut [f32],
}

impl Planes<'_> {
    /// Whether it contains a plane.
    pub fn contains(&self, plane: usize) -> bool {
        self.planes.contains(&plane)
    }

    /// The value at a grid point.
    pub fn point(&mut self, z: usize, y: usize, x: usize) -> &mut f32 {
        let first = self.layout.planes(self.planes.clone()).start;
        &mut self.values[self.layout.at(z, y, x) - first]
    }

    /// The planes without their halo.
    pub fn view(&self) -> Result<View<'_, f32>> {
        let [_, ny, nx] = self.layout.extents;
        let first = self.layout.planes(self.planes.clone()).start;
        let start = self.layout.at(self.planes.start, 0, 0) - first;
        let strides = [self.layout.plane, self.layout.row, 1];
        let shape = [self.planes.len(), ny, nx];
        View::strided(self.values, &shape, &strides.map(|s| s as isize), start)
    }

    /// The rows of the planes without their halo, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        let [_, ny, nx] = self.layout.extents;
        let first = self.layout.planes(self.planes.clone()).start;
        let rows = self
            .planes
            .clone()
            .flat_map(move |z| (0..ny).map(move |y| (z, y)));
        rows.map(move |(z, y)| {
            let at = self.layout.at(z, y, 0) - first;
            &self.values[at..at + nx]
        })
    }
}

impl<'a> Wave<'a> {
    /// A wave at rest. Threads compute slabs of `slab` planes.
    pub fn new(shot: &'a Shot, speed: &'a Field, threads: usize, slab: usize) -> Result<Self> {
        Ok(Self {
            shot,
            speed,
            fields: [Field::new(shot.layout, 0)?, Field::new(shot.layout, 1)?],
            steps: 0,
            threads,
            level: Level::detect(),
            slab: slab.max(1),
        })
    }

    /// Selects the instruction set; the values do not depend on it.
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Computes time steps, and calls `done` for each slab right after it was computed, on the same
    /// thread. Returns the largest value after the last step.
    pub fn advance(
        &mut self,
        steps: usize,
        done: impl Fn(&mut Planes<'_>) -> Result<()> + Sync,
    ) -> Result<f32> {
        let layout = &self.shot.layout;
        let depth = layout.extents[0];
        // SAFETY: no thread writes to it while a wave borrows it.
        let speed = unsafe { self.speed.all() };
        let medium = Medium {
            speed,
            keep: [0, 1, 2].map(|axis| &self.shot.keep[axis][..]),
        };
        // Non-negative floats are ordered like their bits.
        let largest = AtomicU32::new(0);
        let start = self.steps;
        Team::run(self.threads, |team| {
            for number in start..start + steps {
                let last = number + 1 == start + steps;
                let [now, old] = [number % 2, (number + 1) % 2].map(|i| &self.fields[i]);
                // SAFETY: no thread writes to `now` in this step; a barrier ends it.
                let now = unsafe { now.all() };
                while let Some(slab) = team.take(depth.div_ceil(self.slab)) {
                    let planes = slab * self.slab..depth.min((slab + 1) * self.slab);
                    // SAFETY: no other thread takes this slab in this step.
                    let values = unsafe { old.planes_mut(planes.clone()) };
                    let part = planes.clone();
                    let most = step(self.level, layout, &medium, now, values, part, last);
                    largest.fetch_max(most.to_bits(), Ordering::Relaxed);
                    done(&mut Planes {
                        step: number + 1,
                        slab,
                        planes,
                        layout,
                        values,
                    })?;
                }
                team.meet(|| Ok(()))?;
            }
            Ok(())
        })?;
        self.steps += steps;
        Ok(f32::from_bits(largest.into_inner()))
    }

    /// The current value at a grid point.
    pub fn point(&mut self, z: usize, y: usize, x: usize) -> f32 {
        let at = self.shot.layout.at(z, y, x);
        self.fields[self.steps % 2].all_mut()[at]
    }
}

/// Points per second at memory bandwidth: one pass over the three fields of a step, without
/// neighbours.
pub fn roof(shot: &Shot, speed: &Field, threads: usize) -> Result<f64> {
    const SLAB: usize = 8;
    const PASSES: usize = 4;
    let layout = &shot.layout;
    let depth = layout.extents[0];
    let fields = [Field::new(*layout, 0)?, Field::new(*layout, 1)?];
    let mut best = f64::INFINITY;
    for _ in 0..PASSES {
        let start = Instant::now();
        Team::run(threads, |team| {
            // SAFETY: no thread writes to these two.
            let (now, speed) = unsafe { (fields[0].all(), speed.all()) };
            while let Some(slab) = team.take(depth.div_ceil(SLAB)) {
                let planes = slab * SLAB..depth.min((slab + 1) * SLAB);
                let range = layout.planes(planes.clone());
                // SAFETY: no other thread takes this slab.
                let old = unsafe { fields[1].planes_mut(planes) };
                let others = now[range.clone()].iter().zip(&speed[range]);
                for (old, (now, speed)) in old.iter_mut().zip(others) {
                    *old = now * speed - *old;
                }
            }
            Ok(())
        })?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(shot.points() as f64 / best)
}
