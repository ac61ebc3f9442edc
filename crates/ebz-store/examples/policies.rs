//! Stores a series of frames and reads it backwards under each policy, and prints statistics.
//!
//! `cargo run --release -p ebz-store --example policies -- [EDGE] [FRAMES] [MB/s]`: frames are cubes
//! with this edge, produced and consumed slab by slab on all cores. Every value is checked.

use ebz::{Bound, Options, Result, View};
use ebz_store::{FrameStore, Frames, Plan, Policy, StoreOptions, io};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const BOUND: f64 = 1e-3;

fn main() -> Result<()> {
    let numbers: Vec<f64> = std::env::args().skip(1).flat_map(|a| a.parse()).collect();
    let edge = numbers.first().map_or(128, |&n| n as usize);
    let count = numbers.get(1).map_or(16, |&n| n as usize);
    let rate = numbers.get(2).map(|&megabytes| megabytes * 1e6);
    let path = std::env::temp_dir().join(format!("ebz-series-{}.ebz", std::process::id()));
    let folder = std::env::temp_dir();
    println!(
        "disk of {}: {}\n",
        folder.display(),
        io::probe(&folder, 256 << 20)?
    );
    for policy in Policy::ALL {
        let result = run(policy, edge, count, rate, &path);
        if policy.needs_file() {
            std::fs::remove_file(&path)?;
        }
        result?;
    }
    Ok(())
}

fn run(
    policy: Policy,
    edge: usize,
    count: usize,
    rate: Option<f64>,
    path: &std::path::Path,
) -> Result<()> {
    let options = StoreOptions::new(policy, Options::new(Bound::Abs(BOUND)))
        .path(path)
        .disk_rate(rate)
        .expected_frames(count);
    let mut store = FrameStore::<f32>::create(&[edge; 3], options)?;
    let regions: Vec<_> = (0..store.slabs())
        .map(|slab| store.slab_region(slab))
        .collect();

    // Produce a frame slab by slab, and store each while it is in the cache.
    let start = Instant::now();
    let tolerance = store.tolerance()?;
    for number in 0..count {
        let frame = store.begin(tolerance)?;
        each_slab(&regions, |slab, region, tile| {
            wave(number, region, edge, tile);
            let shape = [region[0].len(), region[1].len(), region[2].len()];
            frame.slab(slab, &View::new(tile, &shape)?)
        })?;
        frame.finish()?;
    }
    let mut frames = store.into_reader(Plan::Reverse)?;
    let forward = start.elapsed();

    // Backwards: each thread decodes slabs into its own tile.
    let start = Instant::now();
    for number in (0..count).rev() {
        use_frame(&mut frames, number, &regions, edge)?;
    }
    let backward = start.elapsed();
    println!("forward           {:.3} s", forward.as_secs_f64());
    println!("backward          {:.3} s", backward.as_secs_f64());
    println!("{}", frames.report());
    Ok(())
}

fn use_frame(
    frames: &mut Frames<f32>,
    number: usize,
    regions: &[Vec<Range<usize>>],
    edge: usize,
) -> Result<()> {
    let frame = frames.open(number)?;
    each_slab(regions, |slab, region, tile| {
        let mut truth = tile.to_vec();
        wave(number, region, edge, &mut truth);
        frame.slab(slab, tile)?;
        let good = tile
            .iter()
            .zip(&truth)
            .all(|(a, b)| (a - b).abs() <= BOUND as f32);
        assert!(good, "frame {number}, slab {slab}");
        Ok(())
    })
}

/// Runs `work` for every slab on all cores, with a tile of its size.
fn each_slab(
    regions: &[Vec<Range<usize>>],
    work: impl Fn(usize, &[Range<usize>], &mut [f32]) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<()> {
        let mut tile = Vec::new();
        loop {
            let slab = next.fetch_add(1, Ordering::Relaxed);
            let Some(region) = regions.get(slab) else {
                return Ok(());
            };
            tile.resize(region.iter().map(Range::len).product(), 0.0);
            work(slab, region, &mut tile)?;
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no panic"))
    })
}

/// A moving wave.
fn wave(number: usize, region: &[Range<usize>], edge: usize, tile: &mut [f32]) {
    let step = 12.0 / edge as f32;
    let rows = tile.chunks_mut(region[2].len());
    let places = region[0]
        .clone()
        .flat_map(|z| region[1].clone().map(move |y| (z, y)));
    for (row, (z, y)) in rows.zip(places) {
        let phase = (z + 2 * y) as f32 * step + number as f32 * 0.1;
        let (sin, cos) = phase.sin_cos();
        for (x, value) in row.iter_mut().enumerate() {
            let x = x as f32 / edge as f32;
            *value = sin * (1.0 - x) + cos * x * x;
        }
    }
}
