//! The stencil kernels against naive implementations and physics, and sweeps in every state.

mod naive;

use ebz::simd::Level;
use ebz::{Array, Bound, Options, Result};
use ebz_sim::stencil::heat::Heat;
use ebz_sim::stencil::lbm::{Lbm, Scene};
use ebz_sim::stencil::run::{Plan, Run, run};
use ebz_sim::stencil::srad::{Parameters, Srad};
use ebz_sim::stencil::{Kernel, Value, compare};
use ebz_store::grid::{Grid, State};
use std::path::Path;
use std::sync::Arc;

fn best() -> Level {
    Level::detect()
}

fn plan(state: State, steps: u64, per_pass: usize, folder: &Path) -> Plan {
    Plan {
        state,
        steps,
        per_pass,
        threads: 2,
        slab: Some(3),
        memory: 1 << 30,
        options: Options::new(Bound::Range(1e-6)),
        folder: folder.join(state.name()),
        rate: Arc::default(),
        resume: false,
    }
}

fn values<T: Value>(grid: &Grid<T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    grid.for_each_plane(|_, plane| {
        all.extend_from_slice(plane);
        Ok(())
    })?;
    Ok(all)
}

fn in_memory<T: Value>(kernel: &dyn Kernel<T>, steps: u64) -> Vec<T> {
    let plan = plan(State::RawMemory, steps, 1, Path::new("unused"));
    values(&run(kernel, &plan, |_| ()).unwrap().grid).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], most: f64) {
    assert_eq!(found.len(), expected.len());
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let worst = worst.fold(0.0, |worst, d| if d <= worst { worst } else { d });
    assert!(worst <= most, "differs by {worst:e}");
}

fn kernels<T: Value>() -> Vec<Box<dyn Kernel<T>>> {
    let lbm = |shape, scene| Lbm::new(shape, scene, 0.7, 0.1, best()).unwrap();
    let srad = Srad::synthetic([31, 37], Parameters::default(), best()).unwrap();
    vec![
        Box::new(Heat::new([23, 9, 21], 0.15, best()).unwrap()),
        Box::new(lbm([26, 45], Scene::Cylinder)),
        Box::new(lbm([19, 23], Scene::Cavity)),
        Box::new(srad),
    ]
}

#[test]
fn heat_is_what_its_definition_says() {
    let shape = [7, 6, 11];
    let kernel = Heat::new(shape, 0.1, best()).unwrap();
    let expected = naive::heat(shape, 0.1, naive::start(&kernel), 5);
    assert_close(&in_memory(&kernel, 5), &expected, 1e-13);
}

#[test]
fn a_mode_of_heat_decays_as_theory_says() {
    let waves = [2, 3, 5];
    let kernel = Heat::new([16, 20, 24], 1.0 / 6.0, best())
        .unwrap()
        .with_mode(waves);
    let factor = kernel.decay(waves).powi(50);
    let expected: Vec<f64> = naive::start(&kernel).iter().map(|v| v * factor).collect();
    assert!(factor < 0.1, "the mode must decay visibly: {factor}");
    assert_close(&in_memory(&kernel, 50), &expected, 1e-13);
}

#[test]
fn lattice_boltzmann_is_what_its_definition_says() {
    for scene in [Scene::Channel, Scene::Cylinder, Scene::Cavity] {
        for shape in [[20, 43], [9, 4], [6, 10]] {
            let kernel = Lbm::new(shape, scene, 0.8, 0.1, best()).unwrap();
            let start = naive::start(&kernel);
            let expected = naive::lbm(shape, scene, 0.8, 0.1, start, 30);
            assert_close(&in_memory(&kernel, 30), &expected, 1e-13);
        }
    }
}

#[test]
fn a_channel_reaches_the_parabola_and_keeps_its_mass() {
    let (ny, nx, velocity) = (24, 8, 0.05);
    let kernel = Lbm::new([ny, nx], Scene::Channel, 0.9, velocity, best()).unwrap();
    let end = in_memory::<f64>(&kernel, 6000);
    let mut mass = 0.0;
    for (y, row) in end.chunks_exact(9 * nx).enumerate() {
        let at = (y as f64 + 0.5) / ny as f64;
        let expected = 4.0 * velocity * at * (1.0 - at);
        let (density, ux, uy) = kernel.flow(row, nx / 2);
        assert!(
            (ux - expected).abs() < 0.01 * velocity,
            "{y}: {ux} not {expected}"
        );
        assert!(uy.abs() < 1e-9);
        mass += density * nx as f64;
    }
    assert!((mass / (ny * nx) as f64 - 1.0).abs() < 1e-12);
}

#[test]
fn a_lid_drives_a_vortex_and_no_mass_is_lost() {
    let n = 32;
    let kernel = Lbm::new([n, n], Scene::Cavity, 0.65, 0.1, best()).unwrap();
    let end = in_memory::<f64>(&kernel, 3000);
    let row = |y: usize| &end[y * 9 * n..(y + 1) * 9 * n];
    // The fluid follows the lid at the top and returns at the bottom.
    assert!(kernel.flow(row(n - 1), n / 2).1 > 0.05);
    assert!(kernel.flow(row(n / 3), n / 2).1 < -0.005);
    let mass: f64 = (0..n).map(|y| kernel.sums(y, row(y))[0]).sum();
    assert!((mass / (n * n) as f64 - 1.0).abs() < 1e-12);
}

#[test]
fn speckle_reduction_is_what_its_definition_says() {
    let parameters = Parameters::default();
    let kernel = Srad::synthetic([13, 18], parameters, best()).unwrap();
    let expected = naive::srad([13, 18], parameters, naive::start(&kernel), 6);
    assert_close(&in_memory(&kernel, 6), &expected, 1e-12);
}

/// A kernel that measures its speckle scale before every step.
fn measured(shape: [usize; 2]) -> (Parameters, Srad) {
    let parameters = Parameters {
        measured: true,
        ..Parameters::default()
    };
    let kernel = Srad::synthetic(shape, parameters, best()).unwrap();
    (parameters, kernel)
}

#[test]
fn a_measured_speckle_scale_is_that_of_the_stored_image() -> Result<()> {
    let (parameters, kernel) = measured([13, 18]);
    let start = naive::start(&kernel);
    let expected = naive::srad([13, 18], parameters, start.clone(), 6);
    assert_close(&in_memory(&kernel, 6), &expected, 1e-12);
    let decaying = naive::srad([13, 18], Parameters::default(), start, 6);
    assert_ne!(decaying, expected);
    // The same with every number of threads, on disk, compressed, and continued.
    let folder = tempfile::tempdir()?;
    for state in [State::RawDisk, State::CompressedDisk] {
        let plan = |steps, threads, resume| Plan {
            threads,
            resume,
            ..plan(state, steps, 1, folder.path())
        };
        let whole = values(&run::<f64>(&kernel, &plan(6, 1, false), |_| ())?.grid)?;
        for threads in [2, 20] {
            drop(run::<f64>(&kernel, &plan(2, threads, false), |_| ())?);
            let rest = values(&run::<f64>(&kernel, &plan(6, threads, true), |_| ())?.grid)?;
            assert_eq!(rest, whole, "{state:?} {threads}");
        }
    }
    Ok(())
}

#[test]
fn speckle_falls_and_edges_stay() {
    let n = 128;
    let kernel = Srad::synthetic([n, n], Parameters::default(), best()).unwrap();
    let (before, after) = (naive::start(&kernel), in_memory(&kernel, 150));
    let patch = |image: &[f64], rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let cells = rows.flat_map(|y| columns.clone().map(move |x| y * n + x));
        let values: Vec<f64> = cells.map(|cell| image[cell]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (mean, (squares / values.len() as f64).sqrt() / mean)
    };
    let (bright, dark) = ((38..52, 45..58), (86..94, 80..87));
    for part in [&bright, &dark] {
        let old = patch(&before, part.0.clone(), part.1.clone());
        let new = patch(&after, part.0.clone(), part.1.clone());
        assert!(new.1 < 0.5 * old.1, "speckle {} was {}", new.1, old.1);
    }
    let contrast = patch(&after, bright.0, bright.1).0 / patch(&after, dark.0, dark.1).0;
    assert!(contrast > 3.5, "the contrast was 5, and is {contrast}");
}

#[test]
fn single_precision_is_near_double() {
    for (single, double) in kernels::<f32>().iter().zip(kernels::<f64>()) {
        let found: Vec<f64> = in_memory(&**single, 20).iter().map(|&v| v.into()).collect();
        let expected = in_memory(&*double, 20);
        let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        assert_close(&found, &expected, 1e-5 * largest);
        assert_ne!(found, expected, "{}", double.name());
    }
}

#[test]
fn every_instruction_set_computes_the_same_numbers() {
    let with = |level| {
        let heat = Heat::new([6, 7, 19], 0.1, level).unwrap();
        let lbm = Lbm::new([12, 21], Scene::Cylinder, 0.7, 0.1, level);
        let srad = Srad::synthetic([9, 23], Parameters::default(), level);
        let (lbm, srad) = (lbm.unwrap(), srad.unwrap());
        (
            [
                in_memory::<f64>(&heat, 4),
                in_memory(&lbm, 4),
                in_memory(&srad, 4),
            ],
            [
                in_memory::<f32>(&heat, 4),
                in_memory(&lbm, 4),
                in_memory(&srad, 4),
            ],
        )
    };
    let portable = with(Level::Portable);
    for level in Level::available() {
        assert_eq!(with(level), portable, "{level:?}");
    }
}

#[test]
fn steps_per_pass_and_threads_do_not_change_raw_grids() -> Result<()> {
    raw_grids::<f64>()?;
    raw_grids::<f32>()
}

fn raw_grids<T: Value>() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for kernel in kernels::<T>() {
        let expected = in_memory(&*kernel, 13);
        for state in [State::RawMemory, State::RawDisk] {
            for (per_pass, threads, slab) in [(1, 3, 1), (4, 1, 5), (5, 2, 2), (13, 4, 100)] {
                let plan = Plan {
                    threads,
                    slab: Some(slab),
                    ..plan(state, 13, per_pass, folder.path())
                };
                let found = values(&run(&*kernel, &plan, |_| ())?.grid)?;
                assert_eq!(found, expected, "{} {state:?} {per_pass}", kernel.name());
            }
        }
    }
    Ok(())
}

#[test]
fn compressed_grids_are_the_same_everywhere_and_near_the_raw_one() -> Result<()> {
    compressed_grids::<f64>()?;
    compressed_grids::<f32>()
}

fn compressed_grids<T: Value>() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for kernel in kernels::<T>() {
        let raw = run(
            &*kernel,
            &plan(State::RawMemory, 24, 4, folder.path()),
            |_| (),
        )?;
        let mut first: Option<Vec<T>> = None;
        for state in [State::CompressedMemory, State::CompressedDisk] {
            for threads in [1, 3] {
                let plan = Plan {
                    threads,
                    ..plan(state, 24, 4, folder.path())
                };
                let packed = run(&*kernel, &plan, |_| ())?;
                let errors = compare(&*kernel, &raw.grid, &packed.grid)?;
                assert!(errors.max > 0.0, "nothing was compressed");
                assert!(errors.l2 < 1e-4, "{} {errors:?}", kernel.name());
                let conserved = errors.quantities.iter().all(|(_, _, d)| *d < 1e-5);
                assert!(conserved, "{} {errors:?}", kernel.name());
                let found = values(&packed.grid)?;
                let first = first.get_or_insert_with(|| found.clone());
                assert_eq!(found, *first, "{} {state:?} {threads}", kernel.name());
            }
        }
    }
    Ok(())
}

#[test]
fn exact_compression_changes_nothing() -> Result<()> {
    exact_compression::<f64>()?;
    exact_compression::<f32>()
}

fn exact_compression<T: Value>() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for kernel in kernels::<T>() {
        let plan = Plan {
            options: Options::new(Bound::Lossless),
            ..plan(State::CompressedDisk, 7, 3, folder.path())
        };
        let found = values(&run(&*kernel, &plan, |_| ())?.grid)?;
        assert_eq!(found, in_memory(&*kernel, 7), "{}", kernel.name());
    }
    Ok(())
}

#[test]
fn a_run_is_continued_where_it_stopped() -> Result<()> {
    continued_run::<f64>()?;
    continued_run::<f32>()
}

fn continued_run<T: Value>() -> Result<()> {
    for kernel in kernels::<T>() {
        for state in [State::RawDisk, State::CompressedDisk] {
            let folder = tempfile::tempdir()?;
            let plan = |steps| plan(state, steps, 4, folder.path());
            let whole = values(&run(&*kernel, &plan(20), |_| ())?.grid)?;
            let half = run(&*kernel, &plan(8), |_| ())?;
            drop(half);
            let again = Plan {
                resume: true,
                ..plan(20)
            };
            let rest: Run<T> = run(&*kernel, &again, |_| ())?;
            assert_eq!(rest.steps, 12);
            assert_eq!(values(&rest.grid)?, whole);
        }
    }
    Ok(())
}

#[test]
fn a_bound_that_freezes_the_run_is_reported() -> Result<()> {
    let kernel = Heat::new([32, 32, 32], 0.1, best())?;
    let with = |bound| {
        let plan = Plan {
            options: Options::new(Bound::Range(bound)),
            ..plan(State::CompressedMemory, 8, 1, Path::new("unused"))
        };
        run::<f64>(&kernel, &plan, |_| ()).map(|run| run.warning())
    };
    let text = with(1e-2)?.expect("far too large a bound");
    assert!(text.contains("smaller bound"), "{text}");
    assert_eq!(with(1e-8)?, None);
    Ok(())
}

#[test]
fn what_cannot_run_says_why() {
    let shape = [8, 8, 8];
    let message = |result: Result<()>| result.unwrap_err().to_string();
    let heat = |r| message(Heat::new(shape, r, best()).map(|_| ()));
    assert!(heat(0.2).contains("stable"));
    assert!(heat(f64::NAN).contains("stable"));
    let lbm = |tau, u| message(Lbm::new([8, 8], Scene::Cavity, tau, u, best()).map(|_| ()));
    assert!(lbm(0.5, 0.1).contains("--tau"));
    assert!(lbm(0.6, 0.4).contains("--velocity"));
    assert!(lbm(0.6, f64::NAN).contains("--velocity"));
    let bad = Parameters {
        lambda: 1.5,
        ..Parameters::default()
    };
    assert!(message(Srad::synthetic([8, 8], bad, best()).map(|_| ())).contains("stable"));
    let image = Array::new(vec![1.0, 0.0, 1.0, 1.0], &[2, 2]).unwrap();
    let of = Srad::of(image, Parameters::default(), best()).map(|_| ());
    assert!(message(of).contains("above 0"));
    let two_steps = plan(State::RawMemory, 2, 2, Path::new("unused"));
    let error = message(run::<f64>(&measured([8, 8]).1, &two_steps, |_| ()).map(|_| ()));
    assert!(error.contains("--per-pass 1"), "{error}");
    let kernel = Heat::new(shape, 0.1, best()).unwrap();
    for state in State::ALL {
        let plan = Plan {
            memory: 4000,
            ..plan(state, 8, 8, Path::new("unused"))
        };
        let error = message(run::<f64>(&kernel, &plan, |_| ()).map(|_| ()));
        assert!(error.contains("--memory"), "{error}");
    }
}
