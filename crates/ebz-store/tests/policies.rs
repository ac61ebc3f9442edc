//! Round trips under every policy, for every way to write and read.

mod series;

use ebz::{Bound, Error, Options, Reader, Result, Tolerance, View};
use ebz_store::{FrameStore, Frames, Plan, Policy, StoreOptions};
use series::{BOUND, SHAPE, Way, check, folder, frame, options, write};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn every_policy_returns_every_frame() -> Result<()> {
    let plans = [
        Plan::Forward,
        Plan::Reverse,
        Plan::List(vec![3, 3, 0, 6, 1, 0, 3]),
        Plan::List(vec![]),
    ];
    let folder = folder()?;
    for policy in Policy::ALL {
        for way in [Way::Whole, Way::Slabs(1), Way::Slabs(3), Way::Mixed] {
            for plan in &plans {
                let mut store = FrameStore::create(&SHAPE, options(policy, folder.path()))?;
                write(&mut store, way, 7)?;
                let mut frames = store.into_reader(plan.clone())?;
                assert_eq!(frames.frames(), 7);
                let order: Vec<_> = match plan {
                    Plan::Forward => (0..7).collect(),
                    Plan::Reverse => (0..7).rev().collect(),
                    Plan::List(list) if list.is_empty() => vec![2, 5],
                    Plan::List(list) => list.clone(),
                };
                check(&mut frames, policy, &order)?;
                let report = frames.report();
                assert_eq!(report.raw_bytes, 7 * 20 * 30 * 40 * 4);
                assert!(report.stored_bytes > 0 && report.frames == 7);
                if policy.is_exact() {
                    assert!(report.ratio() <= 1.0 && report.ratio() > 0.99, "{report}");
                } else {
                    assert!(report.ratio() > 2.0, "{report}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn frames_outside_of_the_plan_are_readable() -> Result<()> {
    let folder = folder()?;
    for policy in Policy::ALL {
        for order in [
            vec![6, 4, 2, 0],
            vec![0, 1, 2, 3, 4, 5, 6],
            vec![6, 0, 5, 0, 4, 6, 3, 2, 1, 0, 0],
        ] {
            let mut store = FrameStore::create(&SHAPE, options(policy, folder.path()))?;
            write(&mut store, Way::Whole, 7)?;
            check(&mut store.into_reader(Plan::Reverse)?, policy, &order)?;
        }
    }
    Ok(())
}

#[test]
fn a_file_does_not_depend_on_the_encoding_thread() -> Result<()> {
    let folder = folder()?;
    for policy in [
        Policy::Disk,
        Policy::CompressedDisk,
        Policy::CompressedDiskServants,
    ] {
        let mut files = Vec::new();
        for (way, servants, buffers, direct) in [
            (Way::Whole, 1, 3, true),
            (Way::Whole, 3, 1, false),
            (Way::Whole, 2, 2, true),
            (Way::Slabs(1), 1, 1, true),
            (Way::Slabs(4), 2, 3, false),
            (Way::Mixed, 2, 2, true),
        ] {
            let options = options(policy, folder.path())
                .servants(servants)
                .buffers(buffers)
                .direct(direct)
                .pin(servants == 2);
            let path = options.path.clone().unwrap_or_default();
            let mut store = FrameStore::create(&SHAPE, options)?;
            write(&mut store, way, 5)?;
            store.finish()?;
            files.push(std::fs::read(path)?);
        }
        assert!(files.iter().all(|file| *file == files[0]), "{policy}");
        // An ordinary file of the library.
        let reader = Reader::from_source(&files[0][..])?;
        assert_eq!(reader.frames(), 5);
        for number in 0..5 {
            let array = reader.frame(number)?.read::<f32>()?;
            let errors = array.values().iter().zip(frame(number));
            assert!(
                errors
                    .into_iter()
                    .all(|(a, b)| (a - b).abs() <= BOUND as f32)
            );
        }
    }
    Ok(())
}

#[test]
fn a_finished_file_is_readable_by_another_store() -> Result<()> {
    let folder = folder()?;
    let policy = Policy::CompressedDiskServants;
    let options = options(policy, folder.path());
    let path = options.path.clone().unwrap_or_default();
    let mut store = FrameStore::create(&SHAPE, options.clone())?;
    write(&mut store, Way::Whole, 5)?;
    store.finish()?;
    let mut frames = Frames::<f32>::of_file(&path, Plan::Reverse, options.clone())?;
    check(&mut frames, policy, &[4, 3, 2, 1, 0])?;
    let wrong = Frames::<f64>::of_file(&path, Plan::Reverse, options).err();
    assert!(matches!(wrong, Some(Error::Unsupported(_))));
    Ok(())
}

#[test]
fn a_range_bound_is_resolved_for_each_frame() -> Result<()> {
    let folder = folder()?;
    let coding = Options::new(Bound::Range(1e-3));
    let path = folder.path().join("range.ebz");
    let options = StoreOptions::new(Policy::CompressedDiskServants, coding).path(&path);
    let mut store = FrameStore::<f32>::create(&SHAPE, options)?;
    assert!(store.tolerance().is_err());
    for scale in [1.0, 100.0] {
        let mut values: Vec<f32> = frame(0).iter().map(|x| x * scale).collect();
        store.put(&mut values)?;
    }
    store.finish()?;
    let reader = Reader::open(&path)?;
    let tolerance = |number| match reader.frame(number).map(|f| f.header().tolerance) {
        Ok(Tolerance::Abs(bound)) => bound,
        other => panic!("{other:?}"),
    };
    assert!((tolerance(1) / tolerance(0) - 100.0).abs() < 0.01);
    Ok(())
}

#[test]
fn slabs_can_be_views_of_a_grid_with_a_halo() -> Result<()> {
    let folder = folder()?;
    let [nz, ny, nx] = SHAPE;
    let (sy, sz) = (nx + 8, (nx + 8) * (ny + 8));
    let mut halo = vec![f32::NAN; sz * nz];
    for (i, value) in frame(2).into_iter().enumerate() {
        let (z, y, x) = (i / (ny * nx), i / nx % ny, i % nx);
        halo[z * sz + (y + 4) * sy + x + 4] = value;
    }
    for policy in Policy::ALL {
        let mut store = FrameStore::<f32>::create(&SHAPE, options(policy, folder.path()))?;
        let regions: Vec<_> = (0..store.slabs()).map(|s| store.slab_region(s)).collect();
        let tolerance = store.tolerance()?;
        let new = store.begin(tolerance)?;
        for (slab, region) in regions.iter().enumerate().rev() {
            let shape = [region[0].len(), ny, nx];
            let strides = [sz as isize, sy as isize, 1];
            let start = region[0].start * sz + 4 * sy + 4;
            new.slab(slab, &View::strided(&halo, &shape, &strides, start)?)?;
        }
        new.finish()?;
        let mut frames = store.into_reader(Plan::Forward)?;
        let mut out = Vec::new();
        frames.get(0, &mut out)?;
        let good = out
            .iter()
            .zip(frame(2))
            .all(|(a, b)| (a - b).abs() <= BOUND as f32);
        assert!(good, "{policy}");
    }
    Ok(())
}

#[test]
fn handles_are_shared_between_threads() -> Result<()> {
    fn is_sync<S: Sync>(_: &S) {}
    let folder = folder()?;
    let mut store =
        FrameStore::<f32>::create(&SHAPE, options(Policy::CompressedDisk, folder.path()))?;
    let tolerance = store.tolerance()?;
    is_sync(&store.begin(tolerance)?);
    write(&mut store, Way::Whole, 2)?;
    let mut frames = store.into_reader(Plan::Forward)?;
    let slabs = frames.slabs();
    let regions: Vec<_> = (0..slabs).map(|s| frames.slab_region(s)).collect();
    let open = frames.open(1)?;
    is_sync(&open);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            loop {
                let slab = next.fetch_add(1, Ordering::Relaxed);
                let Some(region) = regions.get(slab) else {
                    return Ok(());
                };
                let count = region.iter().map(ExactSizeIterator::len).product();
                let mut tile = vec![0.0; count];
                open.slab(slab, &mut tile)?;
                let all = frame(1);
                let truth = &all[region[0].start * 1200..region[0].end * 1200];
                assert!(
                    tile.iter()
                        .zip(truth)
                        .all(|(a, b)| (a - b).abs() <= BOUND as f32)
                );
            }
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|t| t.join().expect("no panic"))
    })
}

#[test]
fn a_ratio_in_one_pass_gives_the_bytes_of_a_writer() -> Result<()> {
    let folder = folder()?;
    let coding = Options::new(Bound::Ratio(6.0))
        .one_pass(true)
        .chunk(&[2, 30, 40]);
    let mut writer = ebz::Writer::new(Vec::new(), coding.clone())?;
    for number in 0..5 {
        writer.frame(&View::new(&frame(number), &SHAPE)?)?;
    }
    let expected = writer.finish()?;
    for policy in [Policy::CompressedDisk, Policy::CompressedDiskServants] {
        let mut options = options(policy, folder.path());
        options.coding = coding.clone();
        let path = options.path.clone();
        let mut store = FrameStore::create(&SHAPE, options)?;
        write(&mut store, Way::Whole, 5)?;
        store.finish()?;
        assert!(
            std::fs::read(path.unwrap_or_default())? == expected,
            "{policy}"
        );
    }
    // Slabs of a frame that is not there yet cannot share out its bytes.
    let mut options = options(Policy::CompressedDisk, folder.path());
    options.coding = coding;
    let mut store = FrameStore::<f32>::create(&SHAPE, options)?;
    assert!(store.tolerance().is_err());
    assert!(store.begin(Tolerance::Abs(0.1)).is_err());
    Ok(())
}
