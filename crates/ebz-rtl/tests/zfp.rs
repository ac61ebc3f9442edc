//! DE-ZFP and ZFP-V2: streams equal those of the codecs, for all kinds of blocks, planes and
//! stalls.

use ebz_rtl::zfp::{Blocks, Mode, round_trip, values};
use ebz_rtl::{Conditions, fields};
use ebz_testkit::random::Random;

/// Stalls of the input and of the output, in percent.
const STALLS: [[u32; 2]; 4] = [[0, 0], [30, 30], [0, 80], [80, 0]];

fn conditions(seed: u64) -> Conditions {
    let [stall_input, stall_output] = STALLS[seed as usize % STALLS.len()];
    Conditions {
        stall_input,
        stall_output,
        seed,
        trace: 0,
    }
}

fn blocks(shape: [usize; 3], axes: usize, seed: u64) -> Blocks {
    Blocks::of(&values(shape, &mut Random::new(seed)), shape, axes)
}

#[test]
fn every_number_of_planes() {
    for axes in [2, 3] {
        for planes in 0..=32 {
            let arrays: Vec<_> = (0..3).map(|seed| blocks([8, 16, 32], axes, seed)).collect();
            round_trip(
                axes,
                Mode::Planes(planes),
                &arrays,
                conditions(planes.into()),
            )
            .unwrap();
        }
    }
}

#[test]
fn every_number_of_blocks() {
    // Streams of 0 to 15 blocks; nothing follows the last one.
    for axes in [2, 3] {
        for seed in 0..60 {
            let array = blocks([4, 4, 4 + 4 * seed as usize], axes, seed);
            round_trip(
                axes,
                Mode::Planes(seed as u32 % 33),
                &[array],
                conditions(seed),
            )
            .unwrap();
        }
    }
}

#[test]
fn up_to_300_blocks_back_to_back() {
    for axes in [2, 3] {
        for planes in [6, 15] {
            let arrays: Vec<_> = (1..=300)
                .map(|count| blocks([4, 4, 4 * count], axes, count as u64))
                .collect();
            round_trip(axes, Mode::Planes(planes), &arrays, conditions(1)).unwrap();
        }
    }
}

#[test]
fn a_million_values() {
    for (axes, shape) in [(2, [1, 1024, 1024]), (3, [64, 128, 128])] {
        let array = blocks(shape, axes, 7);
        assert_eq!(array.values.len(), 1 << 20);
        round_trip(axes, Mode::Planes(15), &[array], conditions(1)).unwrap();
    }
}

#[test]
fn streams_that_fill_flits() {
    // Each stream has 128 blocks of one bit.
    for axes in [2, 3] {
        let zeros = Blocks::of(&vec![0.0; 4 * 4 * 2048], [4, 4, 2048], axes);
        round_trip(axes, Mode::Planes(8), &[zeros], Conditions::SMOOTH).unwrap();
    }
}

#[test]
fn tolerances() {
    // Noise within a factor of a thousand, so that zfp's formula guarantees the bound and no value
    // is special.
    for axes in [2, 3] {
        for (seed, tolerance) in [1e-7, 1e-5, 1e-3, 0.1, 3.0, 1e4].into_iter().enumerate() {
            let mut random = Random::new(seed as u64);
            let array: Vec<f32> = (0..16 * 16 * 16)
                .map(|i| ((i as f64 * 0.01).sin() + random.unit()) as f32)
                .collect();
            let array = Blocks::of(&array, [16; 3], axes);
            round_trip(
                axes,
                Mode::Tolerance(tolerance),
                &[array],
                conditions(seed as u64),
            )
            .unwrap();
        }
    }
}

#[test]
fn a_row_or_a_plane_per_cycle() {
    for axes in [2, 3] {
        let smooth: Vec<f32> = (0..32 * 32 * 32).map(|i| (i as f32 * 1e-3).sin()).collect();
        let array = Blocks::of(&smooth, [32; 3], axes);
        let count = array.values.len() as u64 / [16, 64][axes - 2];
        for planes in [8, 15, 24, 32] {
            let run = round_trip(
                axes,
                Mode::Planes(planes),
                std::slice::from_ref(&array),
                Conditions::SMOOTH,
            )
            .unwrap();
            // Rows of a block, or its header and planes; plus fill and drain of four streams.
            let steps = if axes == 3 {
                u64::from(planes).max(15) + 1
            } else {
                u64::from(planes.div_ceil(8)).max(3) + 1
            };
            for cycles in [run.compress.cycles, run.decompress.cycles] {
                assert!(
                    cycles <= count * steps + 4 * 150,
                    "{axes} axes, {planes} planes: {cycles} cycles"
                );
            }
        }
    }
}

fn range(values: &[f32]) -> f64 {
    let [low, high] = values
        .iter()
        .fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], &v| {
            [low.min(v), high.max(v)]
        });
    f64::from(high) - f64::from(low)
}

#[test]
fn real_fields() {
    for (seed, field) in fields::all().unwrap().into_iter().enumerate() {
        let [nz, ny, nx] = field.shape;
        for axes in [2, 3] {
            if ny < 4 || axes == 3 && nz < 4 {
                continue;
            }
            // Some rows of blocks in the middle.
            let (z, y) = (nz.min(8), ny.min(16));
            let plane = |k: usize| (nz / 2 + k - z / 2) * ny * nx + (ny - y) / 2 * nx;
            let values: Vec<f32> = (0..z)
                .flat_map(|k| field.values[plane(k)..][..y * nx].to_vec())
                .collect();
            let array = Blocks::of(&values, [z, y, nx], axes);
            let modes = [
                Mode::Planes([8, 12, 20, 31][seed % 4]),
                Mode::Tolerance(1e-3 * range(&values)),
            ];
            for mode in modes {
                round_trip(
                    axes,
                    mode,
                    std::slice::from_ref(&array),
                    conditions(seed as u64),
                )
                .unwrap_or_else(|error| panic!("{}, {mode:?}: {error}", field.name));
            }
        }
    }
}
