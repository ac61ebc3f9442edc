//! Tests of the zfp family, for each of its codecs, at every level.

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Element, Error, FillValues, Tolerance};

const CODECS: [&str; 2] = ["de-zfp", "zfp-v"];

/// The codecs, and the layout by coefficients, which they share.
const LAYOUTS: [&str; 3] = ["de-zfp", "zfp-v", "zfp-v coefficients"];

/// First byte of a chunk in the layout by coefficients, without the number of axes.
const COEFFICIENTS: u8 = 128;

/// The name of a codec, and its layout.
fn codec_and_layout(name: &str) -> (&str, &str) {
    name.split_once(' ').unwrap_or((name, "blocks"))
}

/// A reproducible random number generator.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / 2f64.powi(53)
    }
}

fn dims(nz: usize, ny: usize, nx: usize) -> Dims {
    Dims { nz, ny, nx }
}

fn smooth<T: Element>(d: Dims) -> Vec<T> {
    (0..d.len())
        .map(|i| {
            let (x, y, z) = (i % d.nx, i / d.nx % d.ny, i / d.nx / d.ny);
            let wave = (x as f64 * 0.11).sin() * (y as f64 * 0.07).cos() + (z as f64 * 0.05).sin();
            T::from_f64(40.0 * wave)
        })
        .collect()
}

/// Fields that break assumptions about well-behaved numbers.
fn contents<T: Element>(d: Dims) -> Vec<(&'static str, Vec<T>)> {
    let n = d.len();
    let mut r = Random(n as u64);
    let mut make = |f: &mut dyn FnMut(&mut Random, usize) -> f64| -> Vec<T> {
        (0..n).map(|i| T::from_f64(f(&mut r, i))).collect()
    };
    let noise = make(&mut |r, _| r.unit() - 0.5);
    let zeros = make(&mut |_, _| 0.0);
    let constant = make(&mut |_, _| -273.15);
    let offset = make(&mut |r, _| 1e7 + r.unit());
    let wide = make(&mut |r, _| (r.unit() - 0.5) * 10f64.powi((r.word() % 60) as i32 - 30));
    let tiny = make(&mut |r, _| (r.unit() - 0.5) * 1e-39);
    let subnormal64 = make(&mut |r, _| (r.unit() - 0.5) * 1e-308);
    let huge = make(&mut |r, _| (r.unit() - 0.5) * 6e38);
    let fill = make(&mut |r, i| if i / 7 % 3 == 0 { 9.96921e36 } else { r.unit() });
    let negative_zero = make(&mut |r, _| {
        if r.word() % 2 == 0 {
            -0.0
        } else {
            1e-3 * r.unit()
        }
    });
    let bits: Vec<T> = (0..n).map(|_| T::from_word(r.word())).collect();
    let mut mixed = smooth::<T>(d);
    for x in &mut mixed {
        match r.word() % 29 {
            0 => *x = T::from_f64(f64::NAN),
            1 => *x = T::from_f64(f64::INFINITY),
            2 => *x = T::from_f64(f64::NEG_INFINITY),
            3 => {
                *x = T::from_word(if T::SIZE == 4 {
                    0x7fa1_2345
                } else {
                    0x7ff4_0000_dead_beef
                })
            }
            4 => *x = T::from_f64(-0.0),
            5 => *x = T::from_f64(1e30),
            _ => {}
        }
    }
    vec![
        ("smooth", smooth(d)),
        ("noise", noise),
        ("zeros", zeros),
        ("constant", constant),
        ("offset", offset),
        ("wide", wide),
        ("tiny", tiny),
        ("subnormal64", subnormal64),
        ("huge", huge),
        ("fill", fill),
        ("negative zero", negative_zero),
        ("bits", bits),
        ("mixed", mixed),
    ]
}

fn encode<T: Element>(
    codec: &str,
    level: Level,
    values: &[T],
    dims: Dims,
    tolerance: Tolerance,
    fill: FillValues,
) -> Vec<u8> {
    let (codec, layout) = codec_and_layout(codec);
    let mut params = Params::default();
    params.set("layout", layout);
    let task = Task {
        dims,
        tolerance,
        fill,
        params: &params,
    };
    let mut bytes = Vec::new();
    let entry = by_name(codec).unwrap();
    entry
        .encode(values, &task, &mut Context::new(level), &mut bytes)
        .unwrap();
    bytes
}

fn decode<T: Element>(
    codec: &str,
    level: Level,
    bytes: &[u8],
    dims: Dims,
) -> Result<Vec<T>, Error> {
    let mut out = vec![T::from_f64(777.0); dims.len()];
    by_name(codec_and_layout(codec).0).unwrap().decode(
        bytes,
        dims,
        &mut Context::new(level),
        &mut out,
    )?;
    Ok(out)
}

/// |x − y| ≤ e in exact arithmetic: the rounded difference and its rounding error.
fn within(x: f64, y: f64, e: f64) -> bool {
    let difference = x - y;
    let back = difference + y;
    let rest = (x - back) - (y - (back - difference));
    let (difference, rest) = if difference < 0.0 {
        (-difference, -rest)
    } else {
        (difference, rest)
    };
    difference < e || (difference == e && rest <= 0.0)
}

fn check_bound<T: Element>(what: &str, values: &[T], back: &[T], e: f64, fill: FillValues) {
    for (i, (x, y)) in values.iter().zip(back).enumerate() {
        let exact = !x.is_finite() || fill.as_slice().iter().any(|f| *x == T::from_f64(*f));
        if exact {
            assert_eq!(x.to_word(), y.to_word(), "{what}: value {i} is not exact");
        } else {
            assert!(
                within(x.to_f64(), y.to_f64(), e),
                "{what}: value {i} is {x}, decoded to {y}, bound {e}"
            );
        }
    }
}

fn check_all<T: Element>() {
    let shapes = [
        dims(1, 1, 1),
        dims(1, 1, 3),
        dims(1, 1, 5),
        dims(1, 1, 64),
        dims(1, 1, 67),
        dims(1, 3, 5),
        dims(1, 4, 4),
        dims(1, 17, 40),
        dims(2, 5, 9),
        dims(3, 2, 70),
        dims(4, 4, 4),
        dims(5, 7, 11),
        dims(8, 9, 65),
        dims(1, 1, 0),
        dims(0, 3, 4),
    ];
    for d in shapes {
        for (name, values) in contents::<T>(d) {
            for e in [1e-3, 0.7, 1e-9, 1e-40, 5e-324, 1e10, 1e300] {
                for fill in [FillValues::NONE, 9.96921e36.into()] {
                    for codec in LAYOUTS {
                        let what = format!("{codec} {name} {d:?} {e} {fill:?} {}", T::TYPE);
                        let mut streams = Level::available()
                            .map(|l| encode(codec, l, &values, d, Tolerance::Abs(e), fill));
                        let bytes = streams.next().unwrap();
                        assert!(streams.all(|s| s == bytes), "{what}: bytes differ");
                        for level in Level::available() {
                            let back = decode::<T>(codec, level, &bytes, d).expect(&what);
                            check_bound(&what, &values, &back, e, fill);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn bound_holds_for_every_f32() {
    check_all::<f32>();
}

#[test]
fn bound_holds_for_every_f64() {
    check_all::<f64>();
}

#[test]
fn precision_preserves_non_finite_values_and_improves() {
    let d = dims(5, 9, 33);
    for codec in CODECS {
        for (name, values) in contents::<f32>(d) {
            for planes in [1, 7, 16, 32, 64] {
                let bytes = encode(
                    codec,
                    Level::detect(),
                    &values,
                    d,
                    Tolerance::Precision(planes),
                    FillValues::NONE,
                );
                let back = decode::<f32>(codec, Level::Portable, &bytes, d).unwrap();
                for (x, y) in values.iter().zip(&back) {
                    if !x.is_finite() {
                        assert_eq!(x.to_bits(), y.to_bits(), "{codec} {name}");
                    }
                }
            }
        }
        let values = smooth::<f64>(d);
        let errors: Vec<f64> = [4, 8, 16, 32, 64]
            .map(|planes| {
                let bytes = encode(
                    codec,
                    Level::detect(),
                    &values,
                    d,
                    Tolerance::Precision(planes),
                    FillValues::NONE,
                );
                let back = decode::<f64>(codec, Level::detect(), &bytes, d).unwrap();
                values
                    .iter()
                    .zip(&back)
                    .map(|(x, y)| (x - y).abs())
                    .fold(0.0, f64::max)
            })
            .to_vec();
        assert!(errors.is_sorted_by(|a, b| a > b), "{codec}: {errors:?}");
        assert!(errors[4] < 1e-12, "{codec}: {errors:?}");
    }
}

#[test]
fn truncated_and_damaged_streams_never_panic() {
    for codec in LAYOUTS {
        for d in [dims(5, 6, 34), dims(1, 13, 41), dims(1, 1, 99)] {
            let mut values = smooth::<f32>(d);
            values[3] = f32::NAN;
            values[17] = 1e36;
            let bytes = encode(
                codec,
                Level::detect(),
                &values,
                d,
                Tolerance::Abs(0.01),
                FillValues::NONE,
            );
            for cut in 0..bytes.len() {
                assert!(
                    decode::<f32>(codec, Level::Portable, &bytes[..cut], d).is_err(),
                    "{codec} {cut}"
                );
            }
            for level in Level::available() {
                for bit in 0..8 * bytes.len() {
                    let mut damaged = bytes.clone();
                    damaged[bit / 8] ^= 1 << (bit % 8);
                    let _ = decode::<f32>(codec, level, &damaged, d);
                    let _ = decode::<f64>(codec, level, &damaged, d);
                }
            }
        }
    }
}

#[test]
fn random_bytes_never_panic_and_decode_identically_at_every_level() {
    let mut r = Random(5);
    for codec in LAYOUTS {
        for round in 0..3000 {
            let d = [dims(5, 6, 34), dims(3, 13, 41), dims(1, 1, 99)][round % 3];
            let mut bytes: Vec<u8> = (0..r.word() % 700).map(|_| r.word() as u8).collect();
            if bytes.len() > 25 {
                // A plausible header of one segment, so that decoding reaches the streams.
                let axes = 1 + round % 3;
                let blocks = d.nx.div_ceil(4)
                    * if axes > 1 { d.ny.div_ceil(4) } else { d.ny }
                    * if axes > 2 { d.nz.div_ceil(4) } else { d.nz };
                let part = (bytes.len() as u32 - 25) / 4;
                let frame = [1, blocks.div_ceil(8) as u32, part, part, part, part];
                bytes[0] = axes as u8;
                if codec_and_layout(codec).1 == "coefficients" {
                    bytes[0] |= COEFFICIENTS;
                    bytes[1..9].copy_from_slice(&0.25f64.to_le_bytes());
                    bytes[9] = 1 + (round % 2) as u8;
                } else {
                    for (to, number) in bytes[1..].chunks_exact_mut(4).zip(frame) {
                        to.copy_from_slice(&number.to_le_bytes());
                    }
                }
            }
            let results: Vec<_> = Level::available()
                .map(|l| {
                    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
                    decode::<f32>(codec, l, &bytes, d)
                        .map(bits)
                        .map_err(|e| e.to_string())
                })
                .collect();
            assert!(results.iter().all(|x| *x == results[0]), "{codec}");
        }
    }
}

#[test]
fn segments_decode_independently() {
    for codec in CODECS {
        let d = dims(16, 32, 64);
        let mut values = smooth::<f32>(d);
        let mut r = Random(9);
        values.iter_mut().for_each(|v| *v += r.unit() as f32);
        let mut params = Params::default();
        params.set("segment", "1024");
        let task = Task {
            dims: d,
            tolerance: Tolerance::Abs(1e-3),
            fill: FillValues::NONE,
            params: &params,
        };
        let mut bytes = Vec::new();
        let entry = by_name(codec).unwrap();
        entry.validate(&params).unwrap();
        entry
            .encode(&values, &task, &mut Context::default(), &mut bytes)
            .unwrap();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let count = number(1);
        assert!(count > 20, "{codec}: {count} segments");
        let groups: Vec<usize> = (0..count).map(|s| number(5 + 20 * s)).collect();
        let length = |s: usize| (1..5).map(|i| number(5 + 20 * s + 4 * i)).sum::<usize>();
        assert!((0..count).all(|s| length(s) < 1024 + 8 * 300));

        // Without the first segment, the other blocks decode to the same values.
        let whole = decode::<f32>(codec, Level::detect(), &bytes, d).unwrap();
        let mut without = bytes.clone();
        for i in 0..4 {
            // Blocks of one bit 0: eight of them in a stream of one byte hold four groups.
            let at = 5 + 4 * (i + 1);
            let blocks_in_stream = groups[0] * 2;
            without[at..at + 4]
                .copy_from_slice(&(blocks_in_stream.div_ceil(8) as u32).to_le_bytes());
        }
        let body = 5 + 20 * count;
        let zeros = vec![0; 4 * (groups[0] * 2).div_ceil(8)];
        without.splice(body..body + length(0), zeros);
        let rest = decode::<f32>(codec, Level::detect(), &without, d).unwrap();
        let same = whole.iter().zip(&rest).filter(|(a, b)| a == b).count();
        assert!(
            rest[0] == 0.0 && same >= d.len() - groups[0] * 8 * 64,
            "{codec}"
        );
    }
}

#[test]
fn segment_sizes_are_checked() {
    for codec in CODECS {
        let mut params = Params::default();
        params.set("segment", "12");
        assert!(by_name(codec).unwrap().validate(&params).is_err());
    }
}

#[test]
fn measured_widths_keep_the_bound_and_are_smaller_for_two_axes() {
    let entry = by_name("zfp-v").unwrap();
    for d in [dims(1, 61, 90), dims(5, 20, 31), dims(1, 1, 900)] {
        let values = smooth::<f32>(d);
        let size = |widths: &str| {
            let mut params = Params::default();
            params.set("widths", widths);
            entry.validate(&params).unwrap();
            let task = Task {
                dims: d,
                tolerance: Tolerance::Abs(1e-4),
                fill: FillValues::NONE,
                params: &params,
            };
            let mut bytes = Vec::new();
            let context = &mut Context::new(Level::detect());
            entry.encode(&values, &task, context, &mut bytes).unwrap();
            let mut back = vec![0f32; values.len()];
            entry.decode(&bytes, d, context, &mut back).unwrap();
            check_bound(widths, &values, &back, 1e-4, FillValues::NONE);
            bytes.len()
        };
        let (paper, measured) = (size("2-4-8-16"), size("5-9-14-16"));
        match d.axes() {
            2 => assert!(measured < paper, "{measured} {paper}"),
            _ => assert_eq!(measured, paper),
        }
    }
}

#[test]
fn coefficients_are_laid_out_together_unless_the_bound_is_too_tight() {
    for (d, axes) in [
        (dims(9, 30, 41), 3),
        (dims(1, 60, 71), 2),
        (dims(1, 1, 999), 1),
    ] {
        let values = smooth::<f32>(d);
        for (bound, layout) in [(1e-2, COEFFICIENTS), (1e-4, COEFFICIENTS), (1e-9, 0)] {
            let tolerance = Tolerance::Abs(bound);
            let level = Level::detect();
            let bytes = encode(
                "de-zfp coefficients",
                level,
                &values,
                d,
                tolerance,
                FillValues::NONE,
            );
            assert_eq!(
                bytes[0] & (COEFFICIENTS | 3),
                layout | axes,
                "{d:?} {bound}"
            );
        }
        // Without a bound, blocks are the only layout.
        let tolerance = Tolerance::Precision(12);
        let of = |codec| {
            encode(
                codec,
                Level::detect(),
                &values,
                d,
                tolerance,
                FillValues::NONE,
            )
        };
        assert_eq!(of("zfp-v coefficients"), of("zfp-v"));
    }
}
