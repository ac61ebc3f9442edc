//! Simulates every mutant that `scripts/rtl_mutants.py` generated: `mutants COUNT`. At least one
//! comparison with the codecs must fail for each mutant, and all must pass without a mutation.

use ebz_rtl::zfp::{Blocks, Mode};
use ebz_rtl::{Conditions, fre, set_mutant, zfp};
use ebz_testkit::random::Random;

fn main() {
    let count: i32 = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .expect("usage: mutants COUNT");
    set_mutant(0);
    check().expect("the cores must pass without a mutation");
    let mut survivors = 0;
    for number in 1..=count {
        set_mutant(number);
        match check() {
            Ok(()) => {
                println!("{number}: NOT DETECTED");
                survivors += 1;
            }
            Err(error) => println!("{number}: {}", error.chars().take(100).collect::<String>()),
        }
    }
    println!("{} of {count} mutants are detected", count - survivors);
    std::process::exit(i32::from(survivors > 0));
}

/// A subset of the tests.
fn check() -> Result<(), String> {
    let stalled = |seed| Conditions {
        stall_input: 30,
        stall_output: 30,
        seed,
        trace: 0,
    };
    // The input is what the cores wait for.
    let starved = |seed| Conditions {
        stall_input: 80,
        stall_output: 0,
        seed,
        trace: 0,
    };
    let mut random = Random::new(1);
    let chunks: Vec<_> = (0..90).map(|n| fre::values(n, &mut random)).collect();
    for conditions in [Conditions::SMOOTH, stalled(1), stalled(2), starved(3)] {
        fre::round_trip(6, &chunks, conditions)?;
    }
    // 18 bits, then 2 per repetition: one of these streams ends at a flit boundary, and nothing
    // follows.
    for n in 36..50 {
        fre::round_trip(6, &[vec![1.0; n]], Conditions::SMOOTH)?;
    }
    // The exponent of a chunk's first value is coded relative to zero's.
    fre::round_trip(6, &[vec![1.0; 3], vec![1e-37; 3]], Conditions::SMOOTH)?;
    let many: Vec<f32> = (0..1000).map(|i| (i as f32).sin()).collect();
    let run = fre::round_trip(6, std::slice::from_ref(&many), Conditions::SMOOTH)?;
    fast_enough(
        run.compress.cycles.max(run.decompress.cycles),
        many.len() as u64 + 16,
    )?;

    for axes in [2, 3] {
        for (seed, planes) in [0, 1, 11, 12, 24, 32].into_iter().enumerate() {
            let shape = [4, 8, 16 + 16 * seed];
            let array = Blocks::of(
                &zfp::values(shape, &mut Random::new(seed as u64)),
                shape,
                axes,
            );
            zfp::round_trip(
                axes,
                Mode::Planes(planes),
                std::slice::from_ref(&array),
                Conditions::SMOOTH,
            )?;
            zfp::round_trip(
                axes,
                Mode::Planes(planes),
                &[array.clone(), array.clone()],
                stalled(seed as u64),
            )?;
            zfp::round_trip(axes, Mode::Planes(planes), &[array], starved(seed as u64))?;
        }
        let shape = [4, 64, 256];
        let values: Vec<f32> = (0..4 * 64 * 256)
            .map(|i| 1.5 + 0.4 * (i as f32 * 1e-2).sin())
            .collect();
        let array = Blocks::of(&values, shape, axes);
        for tolerance in [5e-8, 1e-2, 1e4] {
            zfp::round_trip(
                axes,
                Mode::Tolerance(tolerance),
                std::slice::from_ref(&array),
                Conditions::SMOOTH,
            )?;
        }
        // Each stream has 128 blocks of one bit.
        let zeros = Blocks::of(&vec![0.0; 4 * 4 * 2048], [4, 4, 2048], axes);
        zfp::round_trip(axes, Mode::Planes(8), &[zeros], Conditions::SMOOTH)?;
        // 1024 blocks, at one cycle per row or word.
        for (planes, cycles) in [(8, [4, 16]), (32, [5, 33])] {
            let run = zfp::round_trip(
                axes,
                Mode::Planes(planes),
                std::slice::from_ref(&array),
                Conditions::SMOOTH,
            )?;
            // Each stream fills and drains the pipeline.
            let between = run.compress.chunks.len() as u64 * [50, 140][axes - 2];
            let most = 1024 * cycles[axes - 2] + between;
            fast_enough(run.compress.cycles.max(run.decompress.cycles), most)?;
        }
    }
    Ok(())
}

fn fast_enough(cycles: u64, most: u64) -> Result<(), String> {
    if cycles > most {
        Err(format!("{cycles} cycles instead of {most}"))
    } else {
        Ok(())
    }
}
