//! Mixed work on both cores for some minutes: compression, regions, appends, stores, grids. Prints
//! memory, open files and threads every tenth of the time; fails if they grow.
//!
//! ```console
//! cargo run --release -p ebz-store --example soak -- 30
//! ```

use ebz::codec::TABLE;
use ebz::{Bound, ElementType, Options, Reader, Result, Tolerance, View, Writer};
use ebz_store::grid::{Grid, Layout, Settings, State};
use ebz_store::{FrameStore, Plan, Policy, StoreOptions};
use ebz_testkit::fields::{Content, Field};
use ebz_testkit::random::Random;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SHAPE: [usize; 3] = [24, 40, 48];
const BOUND: f64 = 1e-3;
const WORKERS: u64 = 2;

/// Growth of memory that is not a leak: caches of the allocator.
const MAX_GROWTH: u64 = 16 << 20;

fn main() {
    let minutes = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let minutes: f64 = minutes.expect("usage: soak MINUTES");
    let (start, length) = (Instant::now(), Duration::from_secs_f64(minutes * 60.0));
    let done = [const { AtomicU64::new(0) }; 4];
    let (_, inherited, _) = state();
    let mut states = Vec::new();
    println!(
        "| minutes | arrays | appends | frames of stores | passes of grids | memory | files | threads |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let done = &done;
            scope.spawn(move || {
                let folder = tempfile::tempdir().expect("a folder");
                let mut random = Random::new(worker);
                while start.elapsed() < length {
                    let kind = random.below(done.len());
                    let work = [arrays, appends, store, grid][kind];
                    let count = work(folder.path(), &mut random).expect("work without errors");
                    done[kind].fetch_add(count, Ordering::Relaxed);
                }
            });
        }
        for tenth in 1..=10 {
            std::thread::sleep((length * tenth / 10).saturating_sub(start.elapsed()));
            let counts = done.each_ref().map(|count| count.load(Ordering::Relaxed));
            let counts = counts.map(|count| count.to_string()).join(" | ");
            let (memory, files, threads) = state();
            let time = start.elapsed().as_secs_f64() / 60.0;
            let megabytes = memory as f64 / 1e6;
            println!("| {time:.1} | {counts} | {megabytes:.1} MB | {files} | {threads} |");
            states.push(memory);
        }
    });
    // The first tenths fill caches and buffers.
    let early = states[2..5].iter().max().expect("ten states");
    let late = states[7..].iter().min().expect("ten states");
    let (files, threads) = left();
    assert!(
        *late <= early + MAX_GROWTH,
        "memory grew from {early} to {late} bytes"
    );
    assert!(
        files <= inherited && threads == 1,
        "{files} files, {inherited} at the start, and {threads} threads are left"
    );
}

/// Open files and threads after the work. A scope does not wait until the system has ended its threads; a
/// thread that leaked stays.
fn left() -> (usize, usize) {
    let start = Instant::now();
    loop {
        let (_, files, threads) = state();
        if threads == 1 || start.elapsed() > Duration::from_secs(5) {
            return (files, threads);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Resident memory, open files, threads.
fn state() -> (u64, usize, usize) {
    let count = |path| std::fs::read_dir(path).expect("a folder of /proc").count();
    let text = std::fs::read_to_string("/proc/self/statm").expect("a file of /proc");
    let pages = text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    // One of the files is the folder that is being read.
    let files = count("/proc/self/fd") - 1;
    (
        pages.expect("a number") * 4096,
        files,
        count("/proc/self/task"),
    )
}

fn field(random: &mut Random) -> Field<f32> {
    let content = Content::ALL[random.below(Content::ALL.len())];
    content.field(&SHAPE, random.bits() % 8)
}

/// Any codec, a random region of the result.
fn arrays(_: &Path, random: &mut Random) -> Result<u64> {
    let entry = &TABLE[random.below(TABLE.len())];
    let bound = Bound::new(entry.info.tolerances[0], 0.01)?;
    let field = field(random);
    let options = Options::new(bound)
        .codec(entry.info.name)
        .chunk(&[5, 20, 48])
        .threads(2);
    let file = ebz::compress(&View::new(&field.values, &SHAPE)?, &options)?;
    let reader = Reader::from_source(&file[..])?;
    let part = SHAPE.map(|extent| {
        let start = random.below(extent);
        start..start + random.below(extent - start + 1)
    });
    reader.region::<f32>(&part)?;
    reader.read::<f32>()?;
    Ok(1)
}

/// A file that grows by eight frames.
fn appends(folder: &Path, random: &mut Random) -> Result<u64> {
    let path = folder.join("series.ebz");
    let options = Options::new(Bound::Range(BOUND)).threads(1);
    Writer::create(&path, options.clone())?.finish()?;
    for _ in 0..8 {
        let mut writer = Writer::append(&path, options.clone())?;
        writer.frame(&View::new(&field(random).values, &SHAPE)?)?;
        writer.finish()?;
    }
    assert_eq!(Reader::open(&path)?.frames(), 8);
    Ok(8)
}

/// Frames of a store, written forwards and read backwards.
fn store(folder: &Path, random: &mut Random) -> Result<u64> {
    let policy = Policy::ALL[random.below(Policy::ALL.len())];
    let coding = Options::new(Bound::Abs(BOUND));
    let options = StoreOptions::new(policy, coding).path(folder.join("store.ebz"));
    let mut store = FrameStore::<f32>::create(&SHAPE, options)?;
    for _ in 0..6 {
        store.put(&mut field(random).values)?;
    }
    let mut frames = store.into_reader(Plan::Reverse)?;
    let mut out = Vec::new();
    for number in (0..6).rev() {
        frames.get(number, &mut out)?;
    }
    Ok(6)
}

/// Passes over a grid.
fn grid(folder: &Path, random: &mut Random) -> Result<u64> {
    let settings = Settings {
        state: State::ALL[random.below(State::ALL.len())],
        layout: Layout::new(ElementType::F32, &SHAPE, Some(3))?,
        tolerance: Tolerance::Abs(BOUND),
        options: Options::new(Bound::Abs(BOUND)),
        memory: 64 << 20,
        segment: 65536,
        folder: folder.join("grid"),
        rate: Arc::default(),
        identity: "soak".into(),
    };
    let mut grid = Grid::<f32>::create(settings, 2, |at, plane| plane.fill(at as f32))?;
    for step in 1..=4 {
        for mut lane in grid.lanes(1, 1)? {
            for at in lane.range() {
                let plane = lane.reader.plane(at)?.to_vec();
                lane.writer.plane(at)?.copy_from_slice(&plane);
                lane.writer.written(at)?;
            }
            lane.finish()?;
        }
        grid.commit(step)?;
    }
    Ok(4)
}
