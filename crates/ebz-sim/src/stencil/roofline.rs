//! Roofline of a run: the limits of the machine, and the state that should be fastest.
//!
//! A pass takes as long as the slowest of the concurrent activities: compute (and, on compressed
//! grids, encoding and decoding on the same cores), memory, and disk.

use super::run::Plan;
use super::{Kernel, Step, Sums, Value};
use ebz::simd::Level;
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Result, View};
use ebz_store::grid::{Settings, State};
use ebz_store::io::{DiskSpeed, probe};
use ebz_store::threads::each;
use std::time::{Duration, Instant};

/// Duration of each measurement.
const MEASURE_TIME: Duration = Duration::from_millis(100);
/// Sizes of the copy and of the file for the measurements of memory and disk.
const COPY_BYTES: usize = 64 << 20;
const WRITE_BYTES: usize = 128 << 20;

/// Rates of all threads together.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Machine {
    /// Cell updates per second in cache.
    pub compute: f64,
    /// Bytes per second of a copy, counting reads and writes.
    pub memory: f64,
    /// Bytes per second read from the disk.
    pub disk_read: Option<f64>,
    /// Bytes per second written to the disk.
    pub disk_write: Option<f64>,
    /// Raw bytes per second compressed.
    pub encode: f64,
    /// Raw bytes per second decompressed.
    pub decode: f64,
    /// Compression ratio of a slab in the middle of the initial grid.
    pub ratio: f64,
    /// Bytes per cell.
    cell: f64,
}

impl Machine {
    /// Measures this machine for a run of `plan`; the disk only if a state uses it.
    pub fn measure<T: Value>(kernel: &dyn Kernel<T>, plan: &Plan) -> Result<Self> {
        let packed = Plan {
            state: match plan.state.on_disk() {
                true => State::CompressedDisk,
                false => State::CompressedMemory,
            },
            memory: u64::MAX,
            ..plan.clone()
        };
        let settings = packed.settings(kernel)?;
        let disk = if plan.state.on_disk() {
            std::fs::create_dir_all(&plan.folder)?;
            let DiskSpeed { read, write, .. } = probe(&plan.folder, WRITE_BYTES)?;
            let limit = |speed: f64| match plan.rate.bytes_per_second() {
                Some(rate) => speed.min(rate),
                None => speed,
            };
            Some((limit(read), limit(write)))
        } else {
            None
        };
        let (encode, decode, ratio) = coding(kernel, &settings, plan.threads)?;
        Ok(Self {
            compute: compute(kernel, plan.threads)?,
            memory: copying(plan.threads)?,
            disk_read: disk.map(|disk| disk.0),
            disk_write: disk.map(|disk| disk.1),
            encode,
            decode,
            ratio,
            cell: (settings.layout.plane_len() * T::SIZE) as f64 / kernel.cells() as f64,
        })
    }

    /// Upper limit of the cell updates per second in a state.
    pub fn predict(&self, state: State, per_pass: usize) -> Option<f64> {
        let computing = per_pass as f64 / self.compute;
        let coding = match state.is_compressed() {
            true => self.cell / self.encode + self.cell / self.decode,
            false => 0.0,
        };
        let stored = match state.is_compressed() {
            true => self.cell / self.ratio,
            false => self.cell,
        };
        let moving = match state.on_disk() {
            true => stored / self.disk_read? + stored / self.disk_write?,
            false => 2.0 * stored / self.memory,
        };
        Some(per_pass as f64 / (computing + coding).max(moving))
    }

    /// The state that should be fastest, of those that fit into `memory` bytes.
    pub fn best(&self, per_pass: usize, raw_bytes: u64, memory: u64) -> Option<State> {
        let fits = |state: &State| match state {
            State::RawMemory => 2 * raw_bytes <= memory,
            State::CompressedMemory => 2.0 * raw_bytes as f64 / self.ratio <= memory as f64,
            _ => true,
        };
        let speed = |state: &State| self.predict(*state, per_pass).unwrap_or(0.0);
        State::ALL
            .into_iter()
            .filter(fits)
            .max_by(|a, b| speed(a).total_cmp(&speed(b)))
    }
}

/// Rate of all threads together; `work` returns the amount of work that it did.
fn rate<S>(
    threads: usize,
    prepare: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S) -> Result<f64> + Sync,
) -> Result<f64> {
    let one = |_| -> Result<f64> {
        let mut state = prepare()?;
        work(&mut state)?;
        let (start, mut done) = (Instant::now(), 0.0);
        while start.elapsed() < MEASURE_TIME {
            done += work(&mut state)?;
        }
        Ok(done / start.elapsed().as_secs_f64())
    };
    Ok(each(0..threads.max(1), one)?.iter().sum())
}

/// Cell updates per second on planes in cache.
fn compute<T: Value>(kernel: &dyn Kernel<T>, threads: usize) -> Result<f64> {
    let (stages, middle) = (kernel.stages(), kernel.shape()[0] / 2);
    let step = Step {
        number: 0,
        sums: Sums::default(),
    };
    let prepare = || {
        let mut first = vec![T::default(); kernel.stage_len(stages - 1)];
        kernel.start(middle, &mut first);
        let outputs = (0..stages).map(|stage| vec![T::default(); kernel.stage_len(stage)]);
        Ok((first, outputs.collect::<Vec<_>>()))
    };
    rate(threads, prepare, |(first, outputs)| {
        for stage in 0..stages {
            let (before, rest) = outputs.split_at_mut(stage);
            let input = before.last().unwrap_or(first);
            kernel.advance(
                step,
                stage,
                middle,
                [input; 3].map(|p| &p[..]),
                &mut rest[0],
            );
        }
        Ok(kernel.cells() as f64)
    })
}

/// Bytes per second of copies, counting reads and writes.
fn copying(threads: usize) -> Result<f64> {
    let prepare = || Ok((vec![1u8; COPY_BYTES], vec![2u8; COPY_BYTES]));
    rate(threads, prepare, |(from, to)| {
        to.copy_from_slice(std::hint::black_box(from));
        std::hint::black_box(to);
        Ok(2.0 * COPY_BYTES as f64)
    })
}

/// Raw bytes per second encoded and decoded, and the ratio.
fn coding<T: Value>(
    kernel: &dyn Kernel<T>,
    settings: &Settings,
    threads: usize,
) -> Result<(f64, f64, f64)> {
    let layout = &settings.layout;
    let mut chunk = layout.shape().to_vec();
    chunk[0] = layout.slab_planes();
    let options = settings.options.clone().chunk(&chunk);
    let plan = FramePlan::new::<T>(layout.shape(), settings.tolerance, &options)?;
    let slab = (layout.slabs() - 1) / 2;
    let planes = layout.planes_of(slab);
    let shape: Vec<usize> = plan
        .slab_region(slab)
        .iter()
        .map(ExactSizeIterator::len)
        .collect();
    let mut values = vec![T::default(); planes.len() * layout.plane_len()];
    for (at, plane) in planes.zip(values.chunks_exact_mut(layout.plane_len())) {
        kernel.start(at, plane);
    }
    let bytes = size_of_val(&values[..]) as f64;
    let coder = || SlabCoder::new(Level::detect());
    let view = View::new(&values[..], &shape)?;
    let mut coded = EncodedSlab::default();
    coder().encode(&plan, 0, slab, &view, &mut coded)?;
    let encode = rate(
        threads,
        || Ok((coder(), EncodedSlab::default())),
        |(coder, out)| coder.encode(&plan, 0, slab, &view, out).map(|()| bytes),
    )?;
    let decode = rate(
        threads,
        || Ok((coder(), vec![T::default(); values.len()])),
        |(coder, out)| {
            coder
                .decode(&plan, 0, slab, coded.bytes(), out)
                .map(|()| bytes)
        },
    )?;
    Ok((encode, decode, bytes / coded.bytes().len() as f64))
}
