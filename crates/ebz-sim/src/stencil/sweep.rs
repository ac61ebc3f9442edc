//! One pass over a grid: several time steps at once, on several threads.
//!
//! Every thread owns a range of planes and advances it through all stages of all steps in one
//! stream: stage d computes plane p as soon as stage d − 1 has computed plane p + 1, so that each
//! stage holds only three planes. At the ends of its range a thread recomputes the few planes of
//! its neighbour that it needs, so threads never wait for each other.

use super::Kernel;
use ebz::Result;
use ebz_store::grid::{Grid, Lane, Moved};
use std::ops::Range;

/// Advances a grid by `steps` time steps, the first of which is number `first`.
pub fn pass(
    kernel: &dyn Kernel,
    grid: &mut Grid,
    first: u64,
    steps: usize,
    threads: usize,
) -> Result<Moved> {
    let depth = steps * kernel.stages();
    let lanes = grid.lanes(threads, depth)?;
    let moved = std::thread::scope(|scope| {
        let handles: Vec<_> = lanes
            .into_iter()
            .map(|lane| scope.spawn(move || stream(kernel, lane, first, depth)))
            .collect();
        let join = |moved: Result<Moved>,
                    lane: std::thread::ScopedJoinHandle<'_, Result<Moved>>| {
            let next = lane
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok(moved?.join(next?))
        };
        handles.into_iter().fold(Ok(Moved::default()), join)
    })?;
    grid.commit(first + steps as u64)?;
    Ok(moved)
}

/// Values that one thread holds between the stages of a pass.
pub fn window_values(kernel: &dyn Kernel, steps: usize) -> usize {
    let depth = steps * kernel.stages();
    (0..depth - 1)
        .map(|level| 3 * kernel.stage_len(level % kernel.stages()))
        .sum()
}

/// The three latest planes of a stage.
struct Ring([Vec<f64>; 3]);

impl Ring {
    fn window(&self, at: usize, planes: usize) -> [&[f64]; 3] {
        [at.saturating_sub(1), at, (at + 1).min(planes - 1)].map(|p| &self.0[p % 3][..])
    }
}

/// The work of one thread.
fn stream(kernel: &dyn Kernel, mut lane: Lane<'_>, first: u64, depth: usize) -> Result<Moved> {
    let stages = kernel.stages();
    let planes = kernel.shape()[0];
    let own = lane.range();
    // The range that each level must compute for the next one.
    let needed = |level: usize| -> Range<usize> {
        let halo = depth - 1 - level;
        own.start.saturating_sub(halo)..(own.end + halo).min(planes)
    };
    let mut rings: Vec<Ring> = (0..depth - 1)
        .map(|level| Ring([(); 3].map(|()| vec![0.0; kernel.stage_len(level % stages)])))
        .collect();
    for wave in needed(0).start..own.end + depth - 1 {
        for level in 0..depth {
            let Some(at) = wave
                .checked_sub(level)
                .filter(|at| needed(level).contains(at))
            else {
                continue;
            };
            let (step, stage) = (first + (level / stages) as u64, level % stages);
            let (before, rest) = rings.split_at_mut(level);
            let input = match before.last() {
                Some(ring) => ring.window(at, planes),
                None => lane.reader.window(at)?,
            };
            match rest.first_mut() {
                Some(ring) => kernel.advance(step, stage, at, input, &mut ring.0[at % 3]),
                None => {
                    kernel.advance(step, stage, at, input, lane.writer.plane(at)?);
                    lane.writer.written(at)?;
                }
            }
        }
    }
    lane.finish()
}

/// Plane `at` after `steps` more steps, from the surrounding planes of the current grid; nothing is
/// stored.
pub fn look_ahead(kernel: &dyn Kernel, grid: &Grid, steps: usize, at: usize) -> Result<Vec<f64>> {
    let depth = steps * kernel.stages();
    let planes = kernel.shape()[0];
    let around = |halo: usize| at.saturating_sub(halo)..(at + halo + 1).min(planes);
    let mut first = around(depth);
    let mut reader = grid.reader(first.clone())?;
    let mut values: Vec<Vec<f64>> = Vec::new();
    for at in first.clone() {
        values.push(reader.plane(at)?.to_vec());
    }
    for level in 0..depth {
        let needed = around(depth - 1 - level);
        let plane = |at: usize| &values[at - first.start][..];
        let (step, stage) = (
            grid.step() + (level / kernel.stages()) as u64,
            level % kernel.stages(),
        );
        let next = needed.clone().map(|at| {
            let mut out = vec![0.0; kernel.stage_len(stage)];
            let window = [at.saturating_sub(1), at, (at + 1).min(planes - 1)].map(plane);
            kernel.advance(step, stage, at, window, &mut out);
            out
        });
        values = next.collect();
        first = needed;
    }
    Ok(values.swap_remove(0))
}
