//! Tests specific to `ceaz`.

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Element, FillValues, Tolerance};

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform in −1 to 1.
    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn flat(length: usize) -> Dims {
    Dims {
        nz: 1,
        ny: 1,
        nx: length,
    }
}

fn encode<T: Element>(
    values: &[T],
    tolerance: Tolerance,
    params: &Params,
    level: Level,
) -> Vec<u8> {
    encode_array(values, flat(values.len()), tolerance, params, level)
}

fn encode_array<T: Element>(
    values: &[T],
    dims: Dims,
    tolerance: Tolerance,
    params: &Params,
    level: Level,
) -> Vec<u8> {
    let task = Task {
        dims,
        tolerance,
        fill: FillValues::NONE,
        params,
    };
    let mut bytes = Vec::new();
    let entry = by_name("ceaz").unwrap();
    entry
        .encode(values, &task, &mut Context::new(level), &mut bytes)
        .unwrap();
    bytes
}

fn decode<T: Element>(bytes: &[u8], length: usize, level: Level) -> ebz::Result<Vec<T>> {
    decode_array(bytes, flat(length), level)
}

fn decode_array<T: Element>(bytes: &[u8], dims: Dims, level: Level) -> ebz::Result<Vec<T>> {
    let mut out = vec![T::default(); dims.len()];
    let entry = by_name("ceaz").unwrap();
    entry.decode(bytes, dims, &mut Context::new(level), &mut out)?;
    Ok(out)
}

/// The values of a function on a grid.
fn array(dims: Dims, value: impl Fn(f64, f64, f64) -> f64) -> Vec<f32> {
    let at = |i: usize| {
        let (z, y, x) = (i / (dims.nx * dims.ny), i / dims.nx % dims.ny, i % dims.nx);
        value(z as f64, y as f64, x as f64) as f32
    };
    (0..dims.len()).map(at).collect()
}

/// Smooth and noisy stretches, zeros, jumps, and values that cannot be quantized.
fn signal(length: usize) -> Vec<f64> {
    let mut random = Random(9);
    let mut values: Vec<f64> = (0..length)
        .map(|i| match i / 700 % 4 {
            0 => 0.0,
            1 => (i as f64 * 0.01).sin(),
            2 => random.real() * 0.05,
            _ => random.real() * 40.0,
        })
        .collect();
    let odd = [
        f64::NAN,
        f64::INFINITY,
        -0.0,
        5e-324,
        1e300,
        f64::NEG_INFINITY,
    ];
    for (i, value) in odd.into_iter().enumerate() {
        if let Some(slot) = values.get_mut(i * 37 + 3) {
            *slot = value;
        }
    }
    values
}

fn within(value: f64, decoded: f64, bound: f64) -> bool {
    value.to_bits() == decoded.to_bits() || (value - decoded).abs() <= bound
}

#[test]
fn every_codebook_rule_and_sort_keeps_the_bound_at_every_level() {
    for length in [1, 3, 255, 256, 257, 5000, 40_000] {
        let values = signal(length);
        for (symbols, books, sort) in [
            ("bytes", "cost", "exact"),
            ("bytes", "cost", "centre"),
            ("bytes", "offline", "exact"),
            ("centre", "cost", "exact"),
            ("centre", "chi", "centre"),
            ("centre", "offline", "exact"),
        ] {
            let mut params = Params::default();
            params.set("symbols", symbols);
            params.set("books", books);
            params.set("sort", sort);
            params.set("unit", "16384");
            for bound in [1.0, 1e-2, 1e-4, 1e-7] {
                let tolerance = Tolerance::Abs(bound);
                let bytes = encode(&values, tolerance, &params, Level::Portable);
                for level in Level::available() {
                    assert_eq!(encode(&values, tolerance, &params, level), bytes);
                    let decoded = decode::<f64>(&bytes, length, level).unwrap();
                    let good = |(v, d): (&f64, &f64)| within(*v, *d, bound);
                    assert!(
                        values.iter().zip(&decoded).all(good),
                        "{length} {symbols} {books} {bound}"
                    );
                }
            }
        }
    }
}

#[test]
fn lossless_is_exact() {
    let values = signal(9000);
    let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let params = Params::default();
    for level in Level::available() {
        let bytes = encode(&values, Tolerance::Lossless, &params, level);
        let decoded = decode::<f64>(&bytes, values.len(), level).unwrap();
        assert!(
            values
                .iter()
                .zip(&decoded)
                .all(|(v, d)| v.to_bits() == d.to_bits())
        );
        let bytes = encode(&single, Tolerance::Lossless, &params, level);
        let decoded = decode::<f32>(&bytes, single.len(), level).unwrap();
        assert!(
            single
                .iter()
                .zip(&decoded)
                .all(|(v, d)| v.to_bits() == d.to_bits())
        );
    }
}

#[test]
fn zeros_take_less_than_a_bit_each() {
    // One spike per 64 values: at one bit per value the ratio would be 32.
    let mut values = vec![0f32; 1 << 18];
    values.iter_mut().step_by(64).for_each(|v| *v = 1.0);
    let params = Params::default();
    let bytes = encode(&values, Tolerance::Abs(0.01), &params, Level::detect());
    assert!(values.len() * 4 / bytes.len() > 100, "{}", bytes.len());
    let constant = vec![3.5f32; 1 << 18];
    let bytes = encode(&constant, Tolerance::Abs(0.01), &params, Level::detect());
    assert!(bytes.len() < 200, "{}", bytes.len());
}

#[test]
fn mostly_constant_fields_take_few_bytes() {
    let dims = Dims {
        nz: 3,
        ny: 160,
        nx: 200,
    };
    let disc = |y: f64, x: f64| (y - 80.0).hypot(x - 90.0) < 60.0;
    // Maximum size of each field in bytes.
    let fields: [(&str, Vec<f32>, f64, usize); 4] = [
        ("constant", array(dims, |_, _, _| 7.25), 1e-3, 40),
        (
            "fill values not declared",
            array(dims, |_, y, x| if disc(y, x) { 1e37 } else { 3.0 }),
            1e33,
            800,
        ),
        (
            "a step",
            array(dims, |_, y, _| f64::from(y > 70.0)),
            1e-3,
            80,
        ),
        (
            "a few spikes",
            array(dims, |z, y, x| {
                f64::from((z * 31.0 + y * 17.0 + x) % 3001.0 == 0.0)
            }),
            1e-3,
            300,
        ),
    ];
    for (name, values, bound, max_bytes) in fields {
        for level in Level::available() {
            let tolerance = Tolerance::Abs(bound);
            let bytes = encode_array(&values, dims, tolerance, &Params::default(), level);
            assert!(bytes.len() <= max_bytes, "{name}: {}", bytes.len());
            let decoded = decode_array::<f32>(&bytes, dims, level).unwrap();
            let near = |(v, d): (&f32, &f32)| within(f64::from(*v), f64::from(*d), bound);
            assert!(values.iter().zip(&decoded).all(near), "{name}");
        }
    }
}

#[test]
fn smooth_fields_use_halving_and_keep_the_bound() {
    let shapes = [[1, 200, 333], [40, 41, 42], [5, 64, 65], [300, 1, 70]];
    for [nz, ny, nx] in shapes {
        let dims = Dims { nz, ny, nx };
        let wave = |z: f64, y: f64, x: f64| {
            (0.11 * z + 0.3).sin() + (0.07 * y).cos() * (0.09 * x + 0.02 * y).sin()
        };
        let mut values = array(dims, wave);
        let bound = 0.02;
        let tolerance = Tolerance::Abs(bound);
        for odd in [None, Some(f32::NAN), Some(-1e30)] {
            if let Some(odd) = odd {
                values[dims.len() / 2 + 1] = odd;
            }
            let params = Params::default();
            let bytes = encode_array(&values, dims, tolerance, &params, Level::Portable);
            if odd.is_none() {
                // The first byte of a halved chunk.
                assert_eq!(bytes[0], 255, "{dims:?}");
                assert!(bytes.len() * 50 < values.len() * 4, "{}", bytes.len());
            }
            for level in Level::available() {
                let same = encode_array(&values, dims, tolerance, &params, level);
                assert_eq!(same, bytes);
                let decoded = decode_array::<f32>(&bytes, dims, level).unwrap();
                let near = |(v, d): (&f32, &f32)| {
                    within(f64::from(*v), f64::from(*d), bound) || v.is_nan() && d.is_nan()
                };
                assert!(values.iter().zip(&decoded).all(near), "{dims:?}");
            }
        }
        let bytes = encode_array(
            &values,
            dims,
            tolerance,
            &Params::default(),
            Level::detect(),
        );
        let mut random = Random(3);
        for cut in (0..bytes.len()).step_by(7) {
            assert!(decode_array::<f32>(&bytes[..cut], dims, Level::detect()).is_err());
        }
        for _ in 0..400 {
            let mut broken = bytes.clone();
            let at = random.next() as usize % broken.len();
            broken[at] ^= 1 << (random.next() % 8);
            let _ = decode_array::<f32>(&broken, dims, Level::detect());
        }
    }
    // A halved chunk with extents that cannot be halved.
    assert!(decode::<f32>(&[255; 64], 5000, Level::detect()).is_err());
}

#[test]
fn own_codebooks_pay_off_and_small_chunks_use_offline_ones() {
    let mut random = Random(4);
    let values: Vec<f32> = (0..200_000)
        .map(|_| (random.real() + random.real() + random.real()) as f32)
        .collect();
    let size = |length: usize, books: &str| {
        let mut params = Params::default();
        params.set("books", books);
        encode(
            &values[..length],
            Tolerance::Abs(1e-3),
            &params,
            Level::detect(),
        )
        .len()
    };
    assert!(size(200_000, "cost") < size(200_000, "offline"));
    assert_eq!(size(256, "cost"), size(256, "offline"));
}

#[test]
fn the_rule_of_the_paper_follows_the_frequencies() {
    // Calm, then a little less calm, then wild, then calm again: sixteen update units each.
    let mut random = Random(7);
    let values: Vec<f32> = [1.0, 1.3, 60.0, 1.0]
        .iter()
        .flat_map(|size| vec![*size; 16 * 4096])
        .map(|size| (size * (random.real() + random.real() + random.real())) as f32)
        .collect();
    let size = |books: &str, unit: &str| {
        let mut params = Params::default();
        params.set("symbols", "centre");
        params.set("books", books);
        params.set("unit", unit);
        encode(&values, Tolerance::Abs(0.05), &params, Level::detect()).len()
    };
    let (cost, chi, offline) = (
        size("cost", "16384"),
        size("chi", "16384"),
        size("offline", "16384"),
    );
    assert!(cost <= chi && chi < offline, "{cost} {chi} {offline}");
    // One book for everything does not fit all of it.
    assert!(chi < size("cost", "1048576"), "{chi}");
}

#[test]
fn chi_needs_update_units() {
    let options = ebz::Options::new(ebz::Bound::Abs(1.0)).codec("ceaz");
    assert!(options.clone().param("books", "chi").check().is_err());
    let centred = options.param("symbols", "centre");
    assert!(centred.clone().param("books", "chi").check().is_ok());
    for unit in ["0", "1000", "2000000000", "x"] {
        assert!(centred.clone().param("unit", unit).check().is_err());
    }
}

#[test]
fn damaged_chunks_never_panic() {
    let mut random = Random(12);
    let values = signal(3000);
    let mut centred = Params::default();
    centred.set("symbols", "centre");
    centred.set("unit", "2048");
    for (tolerance, params) in [
        (Tolerance::Abs(1e-3), Params::default()),
        (Tolerance::Abs(1e-9), Params::default()),
        (Tolerance::Lossless, Params::default()),
        (Tolerance::Abs(1e-3), centred),
    ] {
        let bytes = encode(&values, tolerance, &params, Level::detect());
        for cut in 0..bytes.len() {
            let _ = decode::<f64>(&bytes[..cut], values.len(), Level::detect());
        }
        for _ in 0..3000 {
            let mut broken = bytes.clone();
            for _ in 0..1 + random.next() % 3 {
                let at = random.next() as usize % broken.len();
                broken[at] ^= 1 << (random.next() % 8);
            }
            for level in [Level::detect(), Level::Portable] {
                let _ = decode::<f64>(&broken, values.len(), level);
            }
            let _ = decode::<f32>(&broken, values.len() / 2, Level::detect());
        }
    }
}
