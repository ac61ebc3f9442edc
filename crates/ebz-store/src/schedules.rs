//! The store under thousands of random schedules of its threads, each a run that ends, without a
//! deadlock, with the right frames:
//!
//! ```console
//! RUSTFLAGS="--cfg shuttle" cargo test -p ebz-store --lib schedules
//! ```

use crate::{FrameStore, Plan, Policy, StoreOptions};
use ebz::{Bound, Options, View};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

const SHAPE: [usize; 2] = [4, 8];
const FRAMES: usize = 5;

fn frame(number: usize) -> Vec<f32> {
    (0..32).map(|i| (number * 100 + i) as f32).collect()
}

fn options(servants: usize, buffers: usize) -> StoreOptions {
    let coding = Options::new(Bound::Lossless).codec("raw").chunk(&[2, 8]);
    StoreOptions::new(Policy::CompressedMemory, coding.threads(1))
        .servants(servants)
        .buffers(buffers)
}

/// A store with some frames, whole ones and ones by slabs; one frame is begun and abandoned.
fn store(servants: usize, buffers: usize) -> FrameStore<f32> {
    let mut store = FrameStore::create(&SHAPE, options(servants, buffers)).unwrap();
    for number in 0..FRAMES {
        let mut values = frame(number);
        if number % 3 < 2 {
            store.put(&mut values).unwrap();
            continue;
        }
        let tolerance = store.tolerance().unwrap();
        drop(store.begin(tolerance).unwrap());
        let new = store.begin(tolerance).unwrap();
        for slab in [1, 0] {
            let part = &values[16 * slab..16 * (slab + 1)];
            new.slab(slab, &View::new(part, &[2, 8]).unwrap()).unwrap();
        }
        new.finish().unwrap();
    }
    store
}

fn everything(servants: usize, buffers: usize) {
    let mut frames = store(servants, buffers).into_reader(Plan::Reverse).unwrap();
    assert_eq!(frames.frames(), FRAMES);
    let mut out = Vec::new();
    for number in (0..FRAMES).rev() {
        // Decoding ahead starts with the first whole frame.
        if number == FRAMES - 1 {
            let open = frames.open(number).unwrap();
            out.resize(32, 0.0);
            open.slab(0, &mut out[..16]).unwrap();
            open.slab(1, &mut out[16..]).unwrap();
        } else if number != 2 {
            frames.get(number, &mut out).unwrap();
        } else {
            continue; // A frame that nobody asks for.
        }
        assert_eq!(out, frame(number));
    }
}

/// Ends while servants still work.
fn abandoned(servants: usize, buffers: usize) {
    drop(store(servants, buffers));
    let mut frames = store(servants, buffers).into_reader(Plan::Forward).unwrap();
    let mut out = Vec::new();
    frames.get(0, &mut out).unwrap();
    assert_eq!(out, frame(0));
}

fn run(
    scheduler: impl Scheduler + 'static,
    test: fn(usize, usize),
    servants: usize,
    buffers: usize,
) {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    Runner::new(scheduler, config).run(move || test(servants, buffers));
}

#[test]
fn no_schedule_deadlocks_or_loses_a_frame() {
    let times = std::env::var("EBZ_SCHEDULES").map_or(200, |text| text.parse().unwrap());
    for test in [everything, abandoned] {
        for (servants, buffers) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2)] {
            run(RandomScheduler::new(times), test, servants, buffers);
            run(PctScheduler::new(3, times), test, servants, buffers);
        }
    }
    println!("{} schedules", 2 * 5 * 2 * times);
}
