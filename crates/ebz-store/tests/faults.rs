//! Errors are reported at once or at the next call; nothing hangs, and nothing is lost silently.

mod series;

use ebz::{Bound, Error, Options, Reader, Result, Tolerance, View};
use ebz_store::io::{DirectFile, Rate};
use ebz_store::{FrameStore, Plan, Policy, StoreOptions};
use series::{SHAPE, Way, check, folder, frame, options, write};
use std::sync::Arc;

const FILE_POLICIES: [Policy; 3] = [
    Policy::Disk,
    Policy::CompressedDisk,
    Policy::CompressedDiskServants,
];

/// Overwrites a byte in the middle of every slab of a frame.
fn damage(path: &std::path::Path, number: usize) -> Result<()> {
    let mut bytes = std::fs::read(path)?;
    let reader = Reader::open(path)?;
    let found = reader.frame(number)?;
    for slab in 0..found.plan()?.slabs() {
        let place = found.slab_bytes(slab)?;
        bytes[((place.start + place.end) / 2) as usize] ^= 0x55;
    }
    Ok(std::fs::write(path, bytes)?)
}

#[test]
fn a_damaged_chunk_is_detected_and_other_frames_are_readable() -> Result<()> {
    let folder = folder()?;
    for policy in FILE_POLICIES {
        for whole in [true, false] {
            let options = options(policy, folder.path()).buffers(1);
            let path = options.path.clone().unwrap_or_default();
            let mut store = FrameStore::create(&SHAPE, options.clone())?;
            write(&mut store, Way::Whole, 6)?;
            store.finish()?;
            damage(&path, 2)?;
            let mut frames = ebz_store::Frames::<f32>::of_file(&path, Plan::Reverse, options)?;
            let mut out = Vec::new();
            for number in (0..6).rev() {
                let result = match whole {
                    true => frames.get(number, &mut out),
                    false => frames.open(number)?.slab(1, &mut [0.0; 3600]),
                };
                match result {
                    Err(Error::Corrupt(_)) if number == 2 => {}
                    Ok(()) if number != 2 => {}
                    other => panic!("frame {number}: {other:?}"),
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_file_truncated_between_passes_is_an_error() -> Result<()> {
    let folder = folder()?;
    for policy in FILE_POLICIES {
        let options = options(policy, folder.path()).buffers(2);
        let path = options.path.clone().unwrap_or_default();
        let mut store = FrameStore::<f32>::create(&SHAPE, options)?;
        write(&mut store, Way::Slabs(2), 6)?;
        // Nothing is read before a plan requests it.
        let mut frames = store.into_reader(Plan::List(vec![]))?;
        DirectFile::open(&path, false, Arc::new(Rate::UNLIMITED))?.set_size(5000)?;
        let mut out = Vec::new();
        let error = frames.get(5, &mut out).unwrap_err();
        assert!(matches!(error, Error::Truncated(_)), "{error}");
    }
    Ok(())
}

#[test]
fn dropping_a_store_ends_its_threads() -> Result<()> {
    let folder = folder()?;
    for policy in Policy::ALL {
        for (frames, servants, buffers) in [(0, 3, 1), (1, 1, 1), (5, 2, 3), (4, 4, 2)] {
            let options = options(policy, folder.path())
                .servants(servants)
                .buffers(buffers);
            let path = options.path.clone().unwrap_or_default();
            let mut store = FrameStore::<f32>::create(&SHAPE, options.clone())?;
            write(&mut store, Way::Mixed, frames)?;
            // An unfinished frame is not stored.
            let tolerance = store.tolerance()?;
            let new = store.begin(tolerance)?;
            new.slab(0, &View::new(&frame(0)[..3600], &[3, 30, 40])?)?;
            drop(new);
            drop(store);
            if policy.needs_file() && frames > 0 {
                let file = std::fs::File::open(&path)?;
                let (report, _) = ebz::recover(&file, std::io::sink())?;
                assert_eq!(report.len(), frames);
                assert!(report.iter().all(|frame| frame.lost.is_empty()));
            }
            // Also while reading, whole or by slabs.
            let mut store = FrameStore::<f32>::create(&SHAPE, options)?;
            write(&mut store, Way::Whole, 8)?;
            let mut reader = store.into_reader(Plan::Forward)?;
            if frames > 1 {
                reader.get(0, &mut Vec::new())?;
            }
            drop(reader);
        }
    }
    Ok(())
}

#[test]
fn an_unfinished_frame_does_not_affect_the_store() -> Result<()> {
    let folder = folder()?;
    for policy in Policy::ALL {
        let mut store =
            FrameStore::<f32>::create(&SHAPE, options(policy, folder.path()).buffers(1))?;
        let tolerance = store.tolerance()?;
        for _ in 0..3 {
            let new = store.begin(tolerance)?;
            new.slab(1, &View::new(&frame(5)[..3600], &[3, 30, 40])?)?;
            let again = new.slab(1, &View::new(&frame(5)[..3600], &[3, 30, 40])?);
            assert!(again.unwrap_err().to_string().contains("given twice"));
            let error = new.finish().unwrap_err();
            assert!(error.to_string().contains("slab 0"), "{error}");
        }
        assert_eq!(store.frames(), 0);
        write(&mut store, Way::Mixed, 4)?;
        check(
            &mut store.into_reader(Plan::Reverse)?,
            policy,
            &[3, 2, 1, 0],
        )?;
    }
    Ok(())
}

#[test]
fn invalid_calls_return_clear_errors() -> Result<()> {
    let folder = folder()?;
    let says = |result: Result<()>, words: &str| {
        let error = result.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(words), "'{error}' does not say '{words}'");
    };
    for policy in Policy::ALL {
        let new = || options(policy, folder.path());
        for shape in [&[0][..], &[3, 0, 4], &[0, 0]] {
            let options = StoreOptions {
                coding: Options::new(Bound::Abs(1e-3)),
                ..new()
            };
            let result = FrameStore::<f32>::create(shape, options);
            says(result.map(drop), "hold no values");
        }
        let mut store = FrameStore::<f32>::create(&SHAPE, new())?;
        says(store.put(&mut vec![0.0; 5]), "5 values");
        if !policy.is_exact() {
            says(store.begin(Tolerance::Abs(f64::NAN)).map(drop), "bound");
        }
        let tolerance = store.tolerance()?;
        let begun = store.begin(tolerance)?;
        says(begun.slab(99, &View::new(&[0.0], &[1])?), "no slab 99");
        says(begun.slab(0, &View::new(&[0.0], &[1])?), "shape");
        drop(begun);
        write(&mut store, Way::Whole, 2)?;
        let mut frames = store.into_reader(Plan::Forward)?;
        says(frames.get(2, &mut Vec::new()), "no frame 2");
        says(frames.open(7).map(drop), "no frame 7");
        let open = frames.open(0)?;
        says(open.slab(7, &mut []), "no slab 7");
        says(open.slab(0, &mut [0.0; 3]), "values");
        drop(open);
        let store = FrameStore::<f32>::create(&SHAPE, new())?;
        says(
            store.into_reader(Plan::List(vec![0])).map(drop),
            "no frame 0",
        );
    }
    let search = StoreOptions::new(Policy::CompressedMemory, Options::new(Bound::Psnr(60.0)));
    says(
        FrameStore::<f32>::create(&SHAPE, search).map(drop),
        "use abs",
    );
    let coding = Options::new(Bound::Abs(1e-3));
    let nowhere = StoreOptions::new(Policy::Disk, coding);
    says(
        FrameStore::<f32>::create(&SHAPE, nowhere.clone()).map(drop),
        "path",
    );
    let missing = nowhere.path(folder.path().join("no/such/folder/file"));
    says(
        FrameStore::<f32>::create(&SHAPE, missing).map(drop),
        "no/such/folder",
    );
    says("cloud".parse::<Policy>().map(drop), "compressed-memory");
    Ok(())
}
