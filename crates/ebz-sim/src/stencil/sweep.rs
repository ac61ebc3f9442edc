//! One pass over a grid: several time steps at once, on several threads.
//!
//! Every thread owns a range of planes and advances it through all stages of all steps in one
//! stream: stage d computes plane p as soon as stage d − 1 has computed plane p + 1, so that each
//! stage holds only three planes. At the ends of its range a thread recomputes the few planes of
//! its neighbour that it needs, so threads never wait for each other.

use super::{Kernel, Step, Sums, Value};
use ebz::Result;
use ebz_store::grid::{Grid, Lane, Moved};
use ebz_store::threads::each;
use std::ops::Range;

/// The next time step of a grid.
pub fn next_step<T: Value>(kernel: &dyn Kernel<T>, grid: &Grid<T>, threads: usize) -> Result<Step> {
    let sums = match kernel.needs_sums() {
        true => sums(kernel, grid, threads)?,
        false => Sums::default(),
    };
    Ok(Step {
        number: grid.step(),
        sums,
    })
}

/// Sums over a grid, added in the order of its planes, so that they do not depend on the number of threads.
fn sums<T: Value>(kernel: &dyn Kernel<T>, grid: &Grid<T>, threads: usize) -> Result<Sums> {
    let (planes, threads) = (kernel.shape()[0], threads.max(1));
    let of_range = |range: Range<usize>| -> Result<Vec<Sums>> {
        let mut reader = grid.reader(range.clone())?;
        range
            .map(|at| Ok(kernel.sums(at, reader.plane(at)?)))
            .collect()
    };
    let bound = |thread: usize| planes * thread / threads;
    let ranges = (0..threads).map(|thread| bound(thread)..bound(thread + 1));
    let mut total = Sums::default();
    for of_plane in each(ranges, of_range)?.into_iter().flatten() {
        (0..3).for_each(|i| total[i] += of_plane[i]);
    }
    Ok(total)
}

/// Advances a grid by `steps` time steps.
pub fn pass<T: Value>(
    kernel: &dyn Kernel<T>,
    grid: &mut Grid<T>,
    first: Step,
    steps: usize,
    threads: usize,
) -> Result<Moved> {
    let depth = steps * kernel.stages();
    let lanes = grid.lanes(threads, depth)?;
    let moved = each(lanes, |lane| stream(kernel, lane, first, depth))?;
    let moved = moved.into_iter().fold(Moved::default(), Moved::join);
    grid.commit(first.number + steps as u64)?;
    Ok(moved)
}

/// Values that one thread holds between the stages of a pass.
pub fn window_values<T: Value>(kernel: &dyn Kernel<T>, steps: usize) -> usize {
    let depth = steps * kernel.stages();
    (0..depth - 1)
        .map(|level| 3 * kernel.stage_len(level % kernel.stages()))
        .sum()
}

/// The three latest planes of a stage.
struct Ring<T>([Vec<T>; 3]);

impl<T> Ring<T> {
    fn window(&self, at: usize, planes: usize) -> [&[T]; 3] {
        [at.saturating_sub(1), at, (at + 1).min(planes - 1)].map(|p| &self.0[p % 3][..])
    }
}

/// The work of one thread.
fn stream<T: Value>(
    kernel: &dyn Kernel<T>,
    mut lane: Lane<'_, T>,
    first: Step,
    depth: usize,
) -> Result<Moved> {
    let stages = kernel.stages();
    let planes = kernel.shape()[0];
    let own = lane.range();
    // The range that each level must compute for the next one.
    let needed = |level: usize| -> Range<usize> {
        let halo = depth - 1 - level;
        own.start.saturating_sub(halo)..(own.end + halo).min(planes)
    };
    let mut rings: Vec<Ring<T>> = (0..depth - 1)
        .map(|level| Ring([(); 3].map(|()| vec![T::default(); kernel.stage_len(level % stages)])))
        .collect();
    for wave in needed(0).start..own.end + depth - 1 {
        for level in 0..depth {
            let Some(at) = wave
                .checked_sub(level)
                .filter(|at| needed(level).contains(at))
            else {
                continue;
            };
            let step = first.after((level / stages) as u64);
            let stage = level % stages;
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
pub fn look_ahead<T: Value>(
    kernel: &dyn Kernel<T>,
    grid: &Grid<T>,
    next: Step,
    steps: usize,
    at: usize,
) -> Result<Vec<T>> {
    let depth = steps * kernel.stages();
    let planes = kernel.shape()[0];
    let around = |halo: usize| at.saturating_sub(halo)..(at + halo + 1).min(planes);
    let mut first = around(depth);
    let mut reader = grid.reader(first.clone())?;
    let mut values: Vec<Vec<T>> = Vec::new();
    for at in first.clone() {
        values.push(reader.plane(at)?.to_vec());
    }
    for level in 0..depth {
        let needed = around(depth - 1 - level);
        let plane = |at: usize| &values[at - first.start][..];
        let step = next.after((level / kernel.stages()) as u64);
        let stage = level % kernel.stages();
        let computed = needed.clone().map(|at| {
            let mut out = vec![T::default(); kernel.stage_len(stage)];
            let window = [at.saturating_sub(1), at, (at + 1).min(planes - 1)].map(plane);
            kernel.advance(step, stage, at, window, &mut out);
            out
        });
        values = computed.collect();
        first = needed;
    }
    Ok(values.swap_remove(0))
}
