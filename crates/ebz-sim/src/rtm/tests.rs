//! Physics, and the same values on any number of threads and instruction set.

use super::*;
use crate::rtm::pass::{backward, forward, record};
use crate::rtm::snapshots::{Read, Written};
use ebz::simd::Level;
use ebz::{Bound, Error, Options, Result};
use ebz_store::{Frames, Plan, Policy, StoreOptions};
use std::sync::Mutex;

/// Raw frames in memory.
#[derive(Default)]
struct Kept {
    frames: Vec<Vec<f32>>,
    slab: usize,
    points: usize,
}

impl Sink for Kept {
    fn frame(&mut self, _: f32, compute: &mut dyn FnMut(&Give<'_>) -> Result<()>) -> Result<()> {
        let frame = Mutex::new(vec![f32::NAN; self.points]);
        compute(&|slab, view| {
            let values = view.to_contiguous();
            frame.lock().unwrap()[slab * self.slab..][..values.len()].copy_from_slice(&values);
            Ok(())
        })?;
        self.frames.push(frame.into_inner().unwrap());
        Ok(())
    }
}

impl Origin for Kept {
    fn frame(
        &mut self,
        index: usize,
        compute: &mut dyn FnMut(&Take<'_>) -> Result<()>,
    ) -> Result<()> {
        let frame = &self.frames[index];
        compute(&|slab, show: &mut dyn FnMut(&[f32])| {
            let start = slab * self.slab;
            show(&frame[start..frame.len().min(start + self.slab)]);
            Ok(())
        })
    }
}

fn uniform(extents: [usize; 3], steps: usize, velocity: f32) -> Shot {
    let velocities = vec![velocity; extents.iter().product()];
    Shot::new(Setup::new(extents, steps), velocities).unwrap()
}

fn image(shot: &Shot, manner: &Manner) -> Vec<f32> {
    let [_, ny, nx] = shot.setup.extents;
    let mut kept = Kept {
        slab: manner.slab * ny * nx,
        points: shot.points(),
        ..Kept::default()
    };
    let quiet = |_| Ok(());
    let recorded = record(shot, manner, &quiet).unwrap();
    let speed = shot.speed(true).unwrap();
    let rest = forward(shot, &speed, manner, &recorded, &mut kept, &quiet).unwrap();
    assert_eq!(kept.frames.len(), manner.frames(shot));
    backward(shot, &speed, manner, &rest, &mut kept, &quiet).unwrap()
}

const MANNER: Manner = Manner {
    threads: 2,
    slab: 5,
    every: 4,
};

/// All values of a wave from the middle of the grid after some steps.
fn burst(shot: &Shot, threads: usize, slab: usize, level: Level, steps: usize) -> Vec<f32> {
    let speed = shot.speed(false).unwrap();
    let mut wave = Wave::new(shot, &speed, threads, slab).unwrap().level(level);
    let middle = shot.setup.extents.map(|n| n / 2);
    wave.advance(steps, |planes| {
        if planes.contains(middle[0]) {
            *planes.point(middle[0], middle[1], middle[2]) += shot.wavelet[planes.step - 1];
        }
        Ok(())
    })
    .unwrap();
    let [nz, ny, nx] = shot.setup.extents;
    let mut all = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            all.extend((0..nx).map(|x| wave.point(z, y, x)));
        }
    }
    all
}

#[test]
fn every_level_slab_and_number_of_threads_gives_the_same_values() {
    let extents = [37, 41, 43];
    let shot = Shot::new(Setup::new(extents, 60), Model::Marmousi.velocities(extents)).unwrap();
    let expected = burst(&shot, 1, 8, Level::Portable, 60);
    assert!(expected.iter().any(|&value| value != 0.0));
    for level in Level::available() {
        for (threads, slab) in [(1, 1), (2, 8), (3, 5), (2, 100)] {
            assert!(
                burst(&shot, threads, slab, level, 60) == expected,
                "{level:?}"
            );
        }
    }
}

#[test]
fn a_wave_is_symmetric_and_has_no_subnormal_values() {
    let n = 41;
    let shot = uniform([n; 3], 30, 2000.0);
    let values = burst(&shot, 2, 8, Level::detect(), 30);
    let at = |z: usize, y: usize, x: usize| values[(z * n + y) * n + x];
    let most = values.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    for z in 0..n {
        for y in 0..n {
            for x in 0..n {
                let value = at(z, y, x);
                assert!(!value.is_subnormal());
                assert!((value - at(n - 1 - z, y, x)).abs() <= 1e-5 * most);
                assert!((value - at(y, z, x)).abs() <= 1e-5 * most);
                assert!((value - at(z, x, y)).abs() <= 1e-5 * most);
            }
        }
    }
}

/// In 3-D, the wave at distance r is the source wavelet delayed by r / v and divided by r.
#[test]
fn a_wave_arrives_when_and_as_strong_as_greens_function_says() {
    let n = 97;
    let mut setup = Setup::new([n; 3], 240);
    setup.margin = 12;
    setup.frequency = Some(12.0);
    let shot = Shot::new(setup, vec![2000.0; n * n * n]).unwrap();
    let speed = shot.speed(false).unwrap();
    let mut wave = Wave::new(&shot, &speed, 2, 8).unwrap();
    let distances = [12, 24];
    let mut heard = [(0.0f32, 0), (0.0, 0)];
    for step in 1..=shot.setup.steps {
        wave.advance(1, |planes| {
            if planes.contains(n / 2) {
                *planes.point(n / 2, n / 2, n / 2) += shot.wavelet[planes.step - 1];
            }
            Ok(())
        })
        .unwrap();
        for (heard, distance) in heard.iter_mut().zip(distances) {
            let value = wave.point(n / 2, n / 2, n / 2 + distance);
            if value > heard.0 {
                *heard = (value, step);
            }
        }
    }
    let v = 2000.0 * shot.time_step / shot.setup.spacing;
    let peak = 1.5 / shot.frequency / shot.time_step;
    for ((value, step), distance) in heard.into_iter().zip(distances) {
        let arrival = peak + distance as f64 / v;
        assert!((step as f64 - arrival).abs() < 2.5, "{step} {arrival}");
        // Adding w to a point in every step is a source of w / dt², i.e. w (h / (v dt))² h / 4πr.
        let strength = 1.0 / (4.0 * std::f64::consts::PI * distance as f64 * v * v);
        assert!(
            (f64::from(value) / strength - 1.0).abs() < 0.05,
            "{value} {strength}"
        );
    }
}

#[test]
fn margins_absorb_what_reaches_them() {
    let shot = uniform([64; 3], 400, 3000.0);
    let energy = |steps| {
        let values = burst(&shot, 2, 8, Level::detect(), steps);
        values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>()
    };
    let (early, late) = (energy(120), energy(400));
    assert!(late < 1e-3 * early, "{early} {late}");
}

#[test]
fn reflectors_are_imaged_where_the_layers_are() {
    let n = 80;
    let mut setup = Setup::new([n; 3], 440);
    setup.smoothing = 3;
    let shot = Shot::new(setup, Model::Layered.velocities([n; 3])).unwrap();
    let sharp = sharpen(&image(&shot, &MANNER), shot.setup.extents);
    // Mean over the middle columns.
    let middle = |z: usize| {
        let rows = n / 2 - 4..n / 2 + 4;
        let places = rows.flat_map(|y| (n / 2 - 4..n / 2 + 4).map(move |x| (z * n + y) * n + x));
        places.map(|at| f64::from(sharp[at])).sum::<f64>().abs()
    };
    for reflector in &Model::Layered.reflectors(n)[..2] {
        let near = reflector - 7..reflector + 8;
        let peak = near
            .max_by(|a, b| middle(*a).total_cmp(&middle(*b)))
            .unwrap();
        assert!(peak.abs_diff(*reflector) <= 3, "{peak} {reflector}");
        let between = middle(reflector + 7);
        assert!(middle(peak) > 3.0 * between, "{} {between}", middle(peak));
    }
}

#[test]
fn the_image_does_not_depend_on_slabs_or_threads() {
    let extents = [40, 37, 50];
    let shot = Shot::new(
        Setup::new(extents, 121),
        Model::Marmousi.velocities(extents),
    )
    .unwrap();
    let expected = image(&shot, &MANNER);
    assert!(expected.iter().any(|&value| value != 0.0));
    for (threads, slab) in [(1, 40), (3, 7)] {
        let manner = Manner {
            threads,
            slab,
            ..MANNER
        };
        assert!(image(&shot, &manner) == expected);
    }
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let cube = |n: usize| vec![2000.0; n * n * n];
    let message = |setup: Setup, velocities: Vec<f32>| match Shot::new(setup, velocities) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted"),
    };
    let mut unstable = Setup::new([32; 3], 10);
    unstable.time_step = Some(3e-3);
    assert!(message(unstable, cube(32)).contains("unstable"));
    assert!(message(Setup::new([32; 3], 10), cube(31)).contains("29791 values"));
    assert!(message(Setup::new([4; 3], 10), cube(4)).contains("nothing to compute"));
    assert!(message(Setup::new([32; 3], 0), cube(32)).contains("nothing to compute"));
    let mut holes = cube(32);
    holes[7] = f32::NAN;
    assert!(message(Setup::new([32; 3], 10), holes).contains("point 7"));
    let huge = Setup::new([usize::MAX / 2; 3], 10);
    assert!(message(huge, Vec::new()).contains("too large"));
    let shot = uniform([32; 3], 10, 2000.0);
    let manner = Manner {
        every: 11,
        ..MANNER
    };
    assert!(record(&shot, &manner, &|_| Ok(())).is_err());
}

#[test]
fn errors_of_the_store_end_the_pass() {
    struct Full;
    impl Sink for Full {
        fn frame(
            &mut self,
            _: f32,
            compute: &mut dyn FnMut(&Give<'_>) -> Result<()>,
        ) -> Result<()> {
            compute(&|slab, _| match slab {
                3 => Err(Error::invalid("the disk is full")),
                _ => Ok(()),
            })
        }
    }
    let shot = uniform([40; 3], 20, 2000.0);
    let quiet = |_| Ok(());
    let recorded = record(&shot, &MANNER, &quiet).unwrap();
    let speed = shot.speed(true).unwrap();
    let result = forward(&shot, &speed, &MANNER, &recorded, &mut Full, &quiet);
    assert_eq!(result.unwrap_err().to_string(), "the disk is full");
}

/// A shot, its smoothed velocities, and its recording.
fn prepared() -> (Shot, Field, Vec<f32>) {
    let extents = [40, 37, 50];
    let velocities = Model::Marmousi.velocities(extents);
    let shot = Shot::new(Setup::new(extents, 121), velocities).unwrap();
    let speed = shot.speed(true).unwrap();
    let recorded = record(&shot, &MANNER, &|_| Ok(())).unwrap();
    (shot, speed, recorded)
}

#[test]
fn the_image_is_exact_with_exact_policies_and_close_with_the_others() {
    let (shot, speed, recorded) = prepared();
    let exact = image(&shot, &MANNER);
    let folder = tempfile::tempdir().unwrap();
    for policy in Policy::ALL {
        for hand_over in [HandOver::Slabs, HandOver::Frames] {
            let coding = Options::new(Bound::Range(1e-5));
            let storage = Storage {
                options: StoreOptions::new(policy, coding).path(folder.path().join("frames.ebz")),
                hand_over,
                engine: None,
            };
            let quiet = |_| Ok(());
            let run = migrate(&shot, &speed, &MANNER, &recorded, &storage, &quiet).unwrap();
            assert_eq!(run.report.frames, MANNER.frames(&shot));
            if policy.is_exact() {
                assert!(run.image == exact, "{policy} {hand_over:?}");
            } else {
                let close = closeness(&exact, &run.image).unwrap();
                assert!(
                    close.snr > 60.0 && close.snr.is_finite(),
                    "{policy} {close:?}"
                );
            }
        }
    }
}

/// Keeps the upper half of every value.
#[derive(Debug)]
struct Halves;

impl FixedRate for Halves {
    fn words(&self, shape: [usize; 3]) -> usize {
        shape.iter().product::<usize>().div_ceil(2)
    }

    fn encode(&self, values: &[f32], _: [usize; 3], words: &mut [f32]) -> Result<()> {
        for (word, pair) in words.iter_mut().zip(values.chunks(2)) {
            let upper = |i: usize| pair.get(i).map_or(0, |value| value.to_bits() >> 16);
            *word = f32::from_bits(upper(0) << 16 | upper(1));
        }
        Ok(())
    }

    fn decode(&self, words: &[f32], _: [usize; 3], values: &mut [f32]) -> Result<()> {
        for (word, pair) in words.iter().zip(values.chunks_mut(2)) {
            let halves = [word.to_bits() & 0xffff_0000, word.to_bits() << 16];
            for (value, half) in pair.iter_mut().zip(halves) {
                *value = f32::from_bits(half);
            }
        }
        Ok(())
    }
}

#[test]
fn an_engine_of_fixed_rate_replaces_the_codec() {
    let (shot, speed, recorded) = prepared();
    let exact = image(&shot, &MANNER);
    let folder = tempfile::tempdir().unwrap();
    // The last slab has fewer planes.
    let manner = Manner { slab: 7, ..MANNER };
    let run = |policy, hand_over| {
        let options = StoreOptions::new(policy, Options::new(Bound::Range(1e-5)));
        let storage = Storage {
            options: options.path(folder.path().join("frames.ebz")),
            hand_over,
            engine: Some(std::sync::Arc::new(Halves)),
        };
        migrate(&shot, &speed, &manner, &recorded, &storage, &|_| Ok(()))
    };
    let mut images = Vec::new();
    for policy in Policy::ALL {
        let run = run(policy, HandOver::Slabs).unwrap();
        let frames = manner.frames(&shot);
        assert_eq!(run.report.raw_bytes, (frames * shot.points() * 4) as u64);
        if policy.is_exact() {
            assert!(run.image == exact, "{policy}");
            continue;
        }
        // Headers, and the words that the last slab does not need.
        assert!((1.5..2.0).contains(&run.report.ratio()), "{policy}");
        assert!(run.report.encode.as_nanos() > 0 && run.report.decode.as_nanos() > 0);
        let close = closeness(&exact, &run.image).unwrap();
        assert!((40.0..60.0).contains(&close.snr), "{policy} {close:?}");
        images.push(run.image);
    }
    assert_eq!(images.len(), 3);
    assert!(images.iter().all(|image| *image == images[0]));
    let error = run(Policy::CompressedMemory, HandOver::Frames).unwrap_err();
    assert!(error.to_string().contains("--hand-over slabs"), "{error}");
}

#[test]
fn frames_that_were_damaged_between_the_passes_are_an_error() {
    let (shot, speed, recorded) = prepared();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames.ebz");
    for policy in [
        Policy::Disk,
        Policy::CompressedDisk,
        Policy::CompressedDiskServants,
    ] {
        for hand_over in [HandOver::Slabs, HandOver::Frames] {
            let options = StoreOptions::new(policy, Options::new(Bound::Range(1e-5))).path(&path);
            let storage = Storage {
                options: options.clone(),
                hand_over,
                engine: None,
            };
            let quiet = |_| Ok(());
            let mut frames = Written::create(&shot, &MANNER, &storage).unwrap();
            let rest = forward(&shot, &speed, &MANNER, &recorded, &mut frames, &quiet).unwrap();
            frames.finish().unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle..middle + 64]
                .iter_mut()
                .for_each(|byte| *byte ^= 0x55);
            std::fs::write(&path, bytes).unwrap();
            let frames = Frames::of_file(&path, Plan::Reverse, options).unwrap();
            let mut frames = Read::new(frames, hand_over);
            let result = backward(&shot, &speed, &MANNER, &rest, &mut frames, &quiet);
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Corrupt(_)), "{policy} {error}");
        }
    }
}
