//! The pointwise bound of every codec that supports it, on bit patterns of every kind.

use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{BoundKind, Element, FillValues, Tolerance, bf16, f16};
use ebz_testkit::exact;
use proptest::prelude::*;

/// The largest bound below 1, typical ones, the resolution of each type, and far below.
const BOUNDS: [f64; 10] = [
    1.0 - f64::EPSILON / 2.0,
    0.5,
    0.1,
    1e-2,
    1e-3,
    1e-5,
    1e-7,
    1e-12,
    1e-16,
    1e-300,
];

fn codecs() -> impl Iterator<Item = &'static Entry> {
    let offered = |entry: &&Entry| entry.info.tolerances.contains(&BoundKind::Pointwise);
    TABLE.iter().filter(offered)
}

/// Encodes, decodes and checks; returns the size.
fn coded<T: Element>(entry: &Entry, values: &[T], bound: f64, fill: FillValues) -> usize {
    let params = Params::default();
    let dims = Dims {
        nz: 1,
        ny: 1,
        nx: values.len(),
    };
    let tolerance = Tolerance::Pointwise(bound);
    let task = Task {
        dims,
        tolerance,
        fill,
        params: &params,
    };
    let mut context = Context::new(Level::available().last().unwrap_or(Level::Portable));
    let mut bytes = Vec::new();
    entry
        .encode(values, &task, &mut context, &mut bytes)
        .unwrap();
    if bytes.len() < size_of_val(values) {
        // Otherwise the container stores the chunk raw.
        let mut decoded = vec![T::default(); values.len()];
        entry
            .decode(&bytes, dims, &mut context, &mut decoded)
            .unwrap();
        let verdict = exact::check(values, &decoded, tolerance, &fill);
        assert_eq!(verdict, Ok(()), "{} {bound:e}", entry.info.name);
    }
    bytes.len()
}

fn every_codec<T: Element>(values: &[T], bound: f64, fill: FillValues) {
    for entry in codecs() {
        coded(entry, values, bound, fill);
    }
}

/// A value of any sign and mantissa in one of `binades` binades starting at `exponent`; any bit
/// pattern if `binades` is 0.
fn value<T: Element>(bits: u64, exponent: u64, binades: u64) -> T {
    let fraction = T::FRACTION_BITS;
    let exponents = 8 * T::SIZE as u32 - 1 - fraction;
    let mask = ((1u64 << exponents) - 1) << fraction;
    let rotated = bits.rotate_left(29);
    let chosen = rotated
        .checked_rem(binades)
        .map(|binade| (exponent + binade) << fraction);
    T::from_word(match chosen {
        Some(exponent) => bits & !mask | exponent & mask,
        None => bits,
    })
}

/// Mostly values of a few binades; every `rarity`-th may be anything.
fn values<T: Element>(bits: &[u64], exponent: u64, binades: u64, rarity: usize) -> Vec<T> {
    let one = |(i, &bits): (usize, &u64)| {
        let binades = if i % rarity == 0 { 0 } else { binades };
        value(bits, exponent, binades)
    };
    bits.iter().enumerate().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bit_pattern_keeps_the_bound(
        bits in prop::collection::vec(any::<u64>(), 1..1200),
        exponent in 0..2048u64,
        binades in prop::sample::select(&[1, 2, 8, 40, 2048][..]),
        rarity in prop::sample::select(&[1, 7, 300, 5000][..]),
        bound in prop::sample::select(&BOUNDS[..]),
    ) {
        every_codec(&values::<f32>(&bits, exponent, binades, rarity), bound, FillValues::NONE);
        every_codec(&values::<f64>(&bits, exponent, binades, rarity), bound, FillValues::NONE);
        every_codec(&values::<f16>(&bits, exponent, binades, rarity), bound, FillValues::NONE);
        every_codec(&values::<bf16>(&bits, exponent, binades, rarity), bound, FillValues::NONE);
    }
}

/// Adjacent floats around every power of two in an interval, where the exponent changes, of either
/// sign.
#[test]
fn binade_boundaries_keep_the_bound() {
    fn check<T: Element>(one: u64, fraction: u32) {
        let around = |binade: u64| (0..16).map(move |i| (one + (binade << fraction)) + i - 8);
        let words: Vec<u64> = (0..100).flat_map(around).collect();
        let sign = 1u64 << (8 * T::SIZE - 1);
        let both = words.iter().flat_map(|&word| [word, word | sign]);
        let values: Vec<T> = both.map(T::from_word).collect();
        for bound in BOUNDS {
            every_codec(&values, bound, FillValues::NONE);
        }
    }
    check::<f16>(f16::ONE.to_word(), 10);
    check::<bf16>(bf16::ONE.to_word(), 7);
    check::<f32>(1.0f32.to_bits().into(), 23);
    check::<f64>(1.0f64.to_bits(), 52);
}

/// Values that cannot be quantized are exact, whatever surrounds them.
#[test]
fn special_values_are_exact_or_within_the_bound() {
    let awkward = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::from(f32::MAX),
        f64::from(f32::MIN_POSITIVE),
        f64::from(f32::from_bits(1)),
        -999.0,
    ];
    fn check<T: Element>(awkward: &[f64]) {
        for bound in BOUNDS {
            for rarity in [2, 16, 200] {
                let value = |i: usize| match i % rarity {
                    0 => awkward[i / rarity % awkward.len()],
                    _ => 1.0 + (i as f64 * 0.01).sin() * 1.5,
                };
                let values: Vec<T> = (0..5000).map(|i| T::from_f64(value(i))).collect();
                every_codec(&values, bound, FillValues::NONE);
                every_codec(&values, bound, (-999.0).into());
            }
        }
    }
    check::<f16>(&awkward);
    check::<bf16>(&awkward);
    check::<f32>(&awkward);
    check::<f64>(&awkward);
}

/// A smooth field of both signs over many orders of magnitude is quantized rather than stored
/// exactly.
#[test]
fn wide_dynamic_range_of_both_signs_compresses() {
    fn check<T: Element>() {
        let value = |i: i32| (f64::from(i) * 1e-3).sin() * (f64::from(i) * 3e-4).exp();
        let values: Vec<T> = (0..100_000).map(|i| T::from_f64(value(i))).collect();
        for name in ["fz", "ceaz"] {
            let entry = codecs().find(|entry| entry.info.name == name).unwrap();
            for (bound, ratio) in [(1e-2, 3.5), (1e-3, 2.5), (1e-4, 2.0)] {
                let size = coded(entry, &values, bound, FillValues::NONE);
                let least = ratio * T::SIZE as f64 / 4.0;
                assert!(
                    size_of_val(&values[..]) as f64 / size as f64 > least,
                    "{name} {bound} {size}"
                );
            }
        }
    }
    check::<f32>();
    check::<f64>();
}
