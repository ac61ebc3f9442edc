//! Many passes over a grid, with statistics.

use super::{Kernel, Value, sweep};
use ebz::{Error, Options, Result, Tolerance};
use ebz_store::grid::{Grid, Layout, Moved, Settings, State};
use ebz_store::io::{BLOCK_BYTES, Rate};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Warn if the bound exceeds this fraction of the typical change between two stored grids.
const MAX_BOUND_TO_CHANGE: f64 = 0.1;

/// Parameters of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where and how the grid is stored.
    pub state: State,
    /// Total number of time steps.
    pub steps: u64,
    /// Time steps per pass over the grid.
    pub per_pass: usize,
    /// Number of threads.
    pub threads: usize,
    /// Planes per slab, if not chosen by the library.
    pub slab: Option<usize>,
    /// Limit of all memory in bytes.
    pub memory: u64,
    /// Bound and codec of the compressed states.
    pub options: Options,
    /// Folder of the states on disk.
    pub folder: PathBuf,
    /// Simulated speed limit of the disk.
    pub rate: Arc<Rate>,
    /// Continue from the last complete pass in the folder.
    pub resume: bool,
}

/// Result of a run.
pub struct Run<T = f64> {
    /// The last grid.
    pub grid: Grid<T>,
    /// Time steps computed (fewer than planned if the run was resumed).
    pub steps: u64,
    /// Passes computed.
    pub passes: u64,
    /// Time of these passes.
    pub time: Duration,
    /// Bytes moved, and wait times.
    pub moved: Moved,
    /// The tolerance of every stored value.
    pub tolerance: Option<Tolerance>,
    /// Root mean square of the change in the last pass (estimated from some planes).
    pub change: f64,
}

impl<T: Value> Run<T> {
    /// Cell updates per second.
    pub fn updates_per_second(&self, kernel: &dyn Kernel<T>) -> f64 {
        let cells = (kernel.cells() * kernel.shape()[0]) as f64;
        cells * self.steps as f64 / self.time.as_secs_f64()
    }

    /// Bytes per second read and written by the kernel.
    pub fn effective_bandwidth(&self) -> f64 {
        2.0 * self.grid.layout().bytes() as f64 * self.passes as f64 / self.time.as_secs_f64()
    }

    /// Raw size ÷ stored size of the last grid.
    pub fn ratio(&self) -> f64 {
        self.grid.layout().bytes() as f64 / self.grid.stored_bytes() as f64
    }

    /// A warning if the bound is not well below the change between two stored grids.
    pub fn warning(&self) -> Option<String> {
        let Some(Tolerance::Abs(bound)) = self.tolerance else {
            return None;
        };
        (bound > MAX_BOUND_TO_CHANGE * self.change).then(|| {
            format!(
                "the bound {bound:.1e} is not well below the change of {:.1e} between two stored \
                 grids, which may freeze what changes slowly: use a smaller bound or more steps per \
                 pass",
                self.change
            )
        })
    }
}

impl Plan {
    /// The configuration of the grid.
    pub fn settings<T: Value>(&self, kernel: &dyn Kernel<T>) -> Result<Settings> {
        if self.per_pass == 0 || self.steps == 0 {
            return Err(Error::invalid(
                "runs and passes need at least one step: --steps and --per-pass must be above 0",
            ));
        }
        if kernel.needs_sums() && self.per_pass != 1 {
            return Err(Error::invalid(
                "every step needs a measurement of the whole grid before it: use --per-pass 1",
            ));
        }
        let layout = Layout::new(T::TYPE, &kernel.shape(), self.slab)?;
        let tolerance = self.tolerance(kernel)?;
        let identity = format!(
            "{} {:?}, {}, {} steps per pass{}",
            kernel.name(),
            kernel.shape(),
            kernel.parameters(),
            self.per_pass,
            match self.state.is_compressed() {
                true => format!(", {} {tolerance:?}", self.options.codec),
                false => String::new(),
            }
        );
        let mut settings = Settings {
            state: self.state,
            layout,
            tolerance,
            options: self.options.clone(),
            memory: 0,
            segment: Settings::SEGMENT,
            folder: self.folder.clone(),
            rate: self.rate.clone(),
            identity,
        };
        self.fit(kernel, &mut settings)?;
        Ok(settings)
    }

    /// Divides the memory between stages, lanes and the grid.
    fn fit<T: Value>(&self, kernel: &dyn Kernel<T>, settings: &mut Settings) -> Result<()> {
        let threads = self.threads.clamp(1, settings.layout.slabs()) as u64;
        let window = (sweep::window_values(kernel, self.per_pass) * T::SIZE) as u64;
        let least = settings.layout.slab_bytes().max(BLOCK_BYTES);
        // Smaller segments if memory is scarce.
        while threads * (window + settings.lane_bytes()) > self.memory / 2
            && settings.segment / 2 >= least
        {
            settings.segment /= 2;
        }
        let grid = match self.state {
            State::RawMemory => 2 * settings.layout.bytes(),
            _ => 0,
        };
        let needed = threads * (window + settings.lane_bytes()) + grid;
        if needed > self.memory {
            let for_what = match grid {
                0 => "the planes in flight",
                _ => "two raw grids and the planes in flight",
            };
            return Err(Error::LimitExceeded(format!(
                "{for_what} take {needed} bytes, which is more than the {} allowed: give more \
                 --memory, fewer --per-pass steps or smaller slabs (--slab), or another --state",
                self.memory
            )));
        }
        settings.memory = self.memory - needed;
        Ok(())
    }

    /// The bound; relative ones refer to the range of the kernel.
    fn tolerance<T: Value>(&self, kernel: &dyn Kernel<T>) -> Result<Tolerance> {
        if !self.state.is_compressed() {
            return Ok(Tolerance::Lossless);
        }
        self.options.check()?;
        self.options.tolerance(|| Ok(kernel.range()))
    }
}

/// Runs a kernel; calls `progress` with the number of completed steps after every pass.
pub fn run<T: Value>(
    kernel: &dyn Kernel<T>,
    plan: &Plan,
    mut progress: impl FnMut(u64),
) -> Result<Run<T>> {
    let settings = plan.settings(kernel)?;
    let tolerance = plan.state.is_compressed().then_some(settings.tolerance);
    let mut grid = if plan.resume {
        Grid::resume(settings)?
    } else {
        Grid::create(settings, plan.threads, |at, plane| kernel.start(at, plane))?
    };
    let first = grid.step();
    let (mut moved, mut passes) = (Moved::default(), 0);
    let mut change = 0.0;
    let mut time = Duration::ZERO;
    while grid.step() < plan.steps {
        let steps = (plan.steps - grid.step()).min(plan.per_pass as u64) as usize;
        if grid.step() + steps as u64 == plan.steps {
            change = typical_change(kernel, &grid, steps, plan.threads)?;
        }
        let start = Instant::now();
        let step = grid.step();
        let of_pass = sweep::next_step(kernel, &grid, plan.threads)
            .and_then(|next| sweep::pass(kernel, &mut grid, next, steps, plan.threads))
            .map_err(|error| in_pass(error, step, plan))?;
        time += start.elapsed();
        moved = moved.join(of_pass);
        passes += 1;
        progress(grid.step());
    }
    Ok(Run {
        steps: grid.step() - first,
        grid,
        passes,
        time,
        moved,
        tolerance,
        change,
    })
}

/// An error, with the state that can be resumed.
fn in_pass(error: Error, step: u64, plan: &Plan) -> Error {
    if !plan.state.on_disk() {
        return error;
    }
    let left = format!(
        "; the grid after step {step} is complete in '{}': continue from it with --resume",
        plan.folder.display()
    );
    match error {
        Error::Io(io) => Error::Io(std::io::Error::new(io.kind(), format!("{io}{left}"))),
        Error::Corrupt(text) => Error::Corrupt(text),
        Error::LimitExceeded(text) => Error::LimitExceeded(text + &left),
        other => other,
    }
}

/// Root mean square of the change in the next pass, from a few planes.
fn typical_change<T: Value>(
    kernel: &dyn Kernel<T>,
    grid: &Grid<T>,
    steps: usize,
    threads: usize,
) -> Result<f64> {
    const SAMPLES: usize = 4;
    let planes = kernel.shape()[0];
    let next = sweep::next_step(kernel, grid, threads)?;
    let (mut squares, mut count) = (0.0, 0);
    for sample in 0..SAMPLES {
        let at = (planes * (2 * sample + 1)) / (2 * SAMPLES);
        let after = sweep::look_ahead(kernel, grid, next, steps, at)?;
        let mut before = grid.reader(at..at + 1)?;
        for (a, b) in after.iter().zip(before.plane(at)?) {
            squares += (a.to_f64() - b.to_f64()).powi(2);
            count += 1;
        }
    }
    Ok((squares / f64::from(count)).sqrt())
}
