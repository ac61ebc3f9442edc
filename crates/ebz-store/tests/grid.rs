//! Grids in every state: passes, random access, memory limits.

use ebz::{Bound, Element, ElementType, Error, Options, Result, Tolerance};
use ebz_store::grid::{Grid, Layout, Settings, State};
use std::path::Path;
use std::sync::Arc;

const SHAPE: [usize; 3] = [29, 7, 33];
const BOUND: f64 = 1e-5;

fn settings(element: ElementType, state: State, folder: &Path) -> Result<Settings> {
    Ok(Settings {
        state,
        layout: Layout::new(element, &SHAPE, Some(3))?,
        tolerance: Tolerance::Abs(BOUND),
        options: Options::new(Bound::Abs(BOUND)),
        memory: 1 << 20,
        segment: 8192,
        folder: folder.join(state.name()),
        rate: Arc::default(),
        identity: "test".into(),
    })
}

fn truth<T: Element>(at: usize, plane: &mut [T]) {
    for (i, value) in plane.iter_mut().enumerate() {
        *value = T::from_f64((at as f64 * 0.3).sin() + (i as f64 * 0.02).cos());
    }
}

fn assert_plane<T: Element>(state: State, at: usize, plane: &[T]) {
    let mut expected = vec![T::default(); plane.len()];
    truth(at, &mut expected);
    let most = if state.is_compressed() { BOUND } else { 0.0 };
    let near = |(a, b): (&T, &T)| (a.to_f64() - b.to_f64()).abs() <= most;
    assert!(plane.iter().zip(&expected).all(near), "{state:?} {at}");
}

#[test]
fn concurrent_lanes_keep_the_bound() -> Result<()> {
    concurrent_lanes::<f64>()?;
    concurrent_lanes::<f32>()
}

fn concurrent_lanes<T: Element>() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for state in State::ALL {
        let grid = Grid::create(settings(T::TYPE, state, folder.path())?, 3, truth::<T>)?;
        assert_eq!(grid.step(), 0);
        std::thread::scope(|scope| {
            for range in [0..29, 5..6, 11..20, 28..29, 3..4] {
                let grid = &grid;
                scope.spawn(move || {
                    let mut reader = grid.reader(range.clone()).unwrap();
                    for at in range {
                        assert_plane(state, at, reader.plane(at).unwrap());
                    }
                });
            }
        });
        let mut reader = grid.reader(0..29)?;
        for at in 0..29 {
            let [below, here, above] = reader.window(at)?;
            assert_plane(state, at.saturating_sub(1), below);
            assert_plane(state, at, here);
            assert_plane(state, (at + 1).min(28), above);
        }
    }
    Ok(())
}

#[test]
fn an_unfinished_pass_changes_nothing() -> Result<()> {
    unfinished_pass::<f64>()?;
    unfinished_pass::<f32>()
}

fn unfinished_pass<T: Element>() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for state in State::ALL {
        let mut grid = Grid::create(settings(T::TYPE, state, folder.path())?, 2, truth::<T>)?;
        for mut lane in grid.lanes(2, 1)? {
            for at in lane.range() {
                lane.writer.plane(at)?.fill(T::from_f64(7.0));
                lane.writer.written(at)?;
            }
            lane.finish()?;
        }
        grid.for_each_plane(|at, plane| {
            assert_plane(state, at, plane);
            Ok(())
        })?;
        if state.on_disk() {
            drop(grid);
            let again = Grid::<T>::resume(settings(T::TYPE, state, folder.path())?)?;
            again.for_each_plane(|at, plane| {
                assert_plane(state, at, plane);
                Ok(())
            })?;
        }
    }
    Ok(())
}

#[test]
fn a_grid_of_another_type_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let double = settings(ElementType::F64, State::RawDisk, folder.path())?;
    drop(Grid::create(double.clone(), 1, truth::<f64>)?);
    // The layout says f64, the program f32; then both say f32, but the folder has f64.
    let single = settings(ElementType::F32, State::RawDisk, folder.path())?;
    for (settings, expected) in [(double, "not f32"), (single, "another run")] {
        let error = Grid::<f32>::resume(settings).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    Ok(())
}

#[test]
fn exceeding_the_memory_limit_is_an_error() -> Result<()> {
    let tight = Settings {
        memory: 2000,
        ..settings(
            ElementType::F64,
            State::CompressedMemory,
            Path::new("unused"),
        )?
    };
    let error = Grid::create(tight, 2, truth::<f64>)
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(error, Error::LimitExceeded(_)), "{error}");
    Ok(())
}

#[test]
fn a_checkpoint_of_more_than_its_file_takes_no_memory() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for state in [State::RawDisk, State::CompressedDisk] {
        let settings = settings(ElementType::F32, state, folder.path())?;
        Grid::create(settings.clone(), 1, truth::<f32>)?;
        let path = settings.folder.join("grid-0.index");
        let intact = std::fs::read(&path)?;
        // The end of the last slab.
        for end in [1u64 << 33, u64::MAX] {
            let mut index = intact.clone();
            let last = index.len() - 8;
            index[last..].copy_from_slice(&end.to_le_bytes());
            let checksum = xxhash_rust::xxh3::xxh3_64(&index[16..]);
            index[8..16].copy_from_slice(&checksum.to_le_bytes());
            std::fs::write(&path, index)?;
            let error = Grid::<f32>::resume(settings.clone()).map(drop).unwrap_err();
            assert!(error.to_string().contains("damaged"), "{error}");
        }
        std::fs::write(&path, intact)?;
        Grid::<f32>::resume(settings)?;
    }
    Ok(())
}

#[test]
fn layouts_cover_every_plane_once() -> Result<()> {
    for planes in [1, 2, 3, 7, 64, 1000] {
        for slab in [None, Some(1), Some(3), Some(2000)] {
            let layout = Layout::new(ElementType::F64, &[planes, 5], slab)?;
            let covered: Vec<usize> = (0..layout.slabs())
                .flat_map(|s| layout.planes_of(s))
                .collect();
            assert!(covered.into_iter().eq(0..planes));
            for at in 0..planes {
                assert!(
                    layout
                        .planes_of(layout.slabs_of(&(at..at + 1)).start)
                        .contains(&at)
                );
            }
        }
    }
    assert!(Layout::new(ElementType::F64, &[0, 5], None).is_err());
    assert!(Layout::new(ElementType::F64, &[5, 5], Some(0)).is_err());
    Ok(())
}
