//! FRE: streams equal those of the codec, for all kinds of values, lengths and stalls.

use ebz_rtl::{Conditions, fields, fre};
use ebz_testkit::random::Random;

const MANTISSAS: [u32; 3] = [1, 6, 20];

/// Stalls of the input and of the output, in percent.
const STALLS: [[u32; 2]; 5] = [[0, 0], [30, 30], [0, 60], [60, 0], [90, 90]];

fn stalled([stall_input, stall_output]: [u32; 2], seed: u64) -> Conditions {
    Conditions {
        stall_input,
        stall_output,
        seed,
        trace: 0,
    }
}

#[test]
fn every_length_back_to_back() {
    for mantissa in MANTISSAS {
        for (seed, stalls) in STALLS.into_iter().enumerate() {
            let mut random = Random::new(seed as u64);
            let chunks: Vec<_> = (0..=300).map(|n| fre::values(n, &mut random)).collect();
            fre::round_trip(mantissa, &chunks, stalled(stalls, seed as u64)).unwrap();
        }
    }
}

#[test]
fn each_length_alone() {
    // No chunk follows that could push out the last bits.
    for n in 0..=300 {
        let values = fre::values(n, &mut Random::new(n as u64));
        fre::round_trip(6, &[values], Conditions::SMOOTH).unwrap();
    }
}

#[test]
fn streams_that_fill_words_and_flits() {
    // 18 bits, then 2 per repetition.
    for n in 1..200 {
        fre::round_trip(6, &[vec![1.0; n], vec![-3.0; n]], Conditions::SMOOTH).unwrap();
    }
}

#[test]
fn first_values_near_zero() {
    // Their exponents are coded relative to zero's, whatever the previous chunk ended with.
    for first in [1e-38, 1e-37, 1e-35] {
        let chunks = [vec![1.0; 3], vec![first; 3], vec![-first; 5]];
        fre::round_trip(6, &chunks, Conditions::SMOOTH).unwrap();
    }
}

#[test]
fn a_million_values_at_one_per_cycle() {
    let mut random = Random::new(7);
    let mut values = fre::values(1_000_000, &mut random);
    fre::round_trip(6, std::slice::from_ref(&values), stalled([20, 20], 3)).unwrap();
    // NaN and the infinities take two cycles.
    values.retain(|x| x.is_finite());
    let run = fre::round_trip(6, std::slice::from_ref(&values), Conditions::SMOOTH).unwrap();
    for cycles in [run.compress.cycles, run.decompress.cycles] {
        assert!(cycles <= values.len() as u64 + 16, "{cycles} cycles");
    }
}

#[test]
fn real_fields() {
    for (seed, field) in fields::all().unwrap().into_iter().enumerate() {
        let part = field.values.len().min(100_000);
        let start = (field.values.len() - part) / 2;
        let chunks: Vec<_> = field.values[start..start + part]
            .chunks(30_011)
            .map(<[f32]>::to_vec)
            .collect();
        fre::round_trip(6, &chunks, stalled(STALLS[seed % 4], seed as u64))
            .unwrap_or_else(|error| panic!("{}: {error}", field.name));
    }
}
