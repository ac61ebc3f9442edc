//! With the same number of planes kept, the zfp family decodes to zfp's values, bit for bit.

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::{Element, FillValues, Tolerance};
use ebz_peers::{Goal, Peer, ZfpC, ZfpRust};

fn field(len: usize, seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    (0..len).map(move |i| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / 2f64.powi(24) - 0.5;
        let magnitude = 10f64.powi((i / 97 % 13) as i32 - 6);
        ((i as f64 * 0.013).sin() * 3.0 + noise) * magnitude
    })
}

fn ours<T: Element>(
    codec: &str,
    values: &[T],
    dims: Dims,
    tolerance: Tolerance,
    params: &Params,
) -> Vec<T> {
    let task = Task {
        dims,
        tolerance,
        fill: FillValues::NONE,
        params,
    };
    let codec = by_name(codec).unwrap();
    let mut context = Context::default();
    let mut bytes = Vec::new();
    codec
        .encode(values, &task, &mut context, &mut bytes)
        .unwrap();
    let mut out = vec![T::default(); values.len()];
    codec.decode(&bytes, dims, &mut context, &mut out).unwrap();
    out
}

fn words<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|v| v.to_word()).collect()
}

#[test]
fn decoded_values_equal_those_of_zfp() {
    let none = Params::default();
    for codec in ["de-zfp", "zfp-v"] {
        for shape in [
            &[1003][..],
            &[37, 61],
            &[64, 64],
            &[18, 21, 43],
            &[16, 16, 32],
        ] {
            let len = shape.iter().product();
            let mut d = [1; 3];
            d[3 - shape.len()..].copy_from_slice(shape);
            let dims = Dims {
                nz: d[0],
                ny: d[1],
                nx: d[2],
            };
            let doubles: Vec<f64> = field(len, 7).collect();
            let singles: Vec<f32> = doubles.iter().map(|&v| v as f32).collect();
            for peer in [&ZfpC as &dyn Peer, &ZfpRust] {
                for planes in [1, 2, 3, 6, 9, 13, 17, 24, 31, 32] {
                    let goal = Goal::Planes(planes);
                    let what = format!("{codec}, {}, {shape:?}, {planes} planes", peer.name());
                    let mut theirs = vec![0.0; len];
                    let bytes = peer.compress_f32(&singles, shape, goal);
                    peer.decompress_f32(&bytes, shape, goal, &mut theirs);
                    assert!(
                        words(&ours(
                            codec,
                            &singles,
                            dims,
                            Tolerance::Precision(planes),
                            &none
                        )) == words(&theirs),
                        "{what}"
                    );
                }
                for planes in [1, 5, 13, 24, 33, 48, 57, 63, 64] {
                    let goal = Goal::Planes(planes);
                    let what = format!("{codec}, {}, {shape:?}, {planes} planes f64", peer.name());
                    let mut theirs = vec![0.0; len];
                    let bytes = peer.compress_f64(&doubles, shape, goal);
                    peer.decompress_f64(&bytes, shape, goal, &mut theirs);
                    if codec == "zfp-v" && shape.len() == 1 && planes > 48 {
                        // ZFP-V1 has no more planes and keeps such blocks exactly.
                        theirs.copy_from_slice(&doubles);
                    }
                    assert!(
                        words(&ours(
                            codec,
                            &doubles,
                            dims,
                            Tolerance::Precision(planes),
                            &none
                        )) == words(&theirs),
                        "{what}"
                    );
                }
            }
        }
    }
}

/// With zfp's number of planes for a tolerance, values are zfp's, or exact where zfp breaks it.
#[test]
fn planes_by_formula_are_those_of_zfp() {
    let mut params = Params::default();
    params.set("planes", "formula");
    let shape = [20, 24, 32];
    let dims = Dims {
        nz: 20,
        ny: 24,
        nx: 32,
    };
    // Of one magnitude: values beyond the reach of zfp's integers are exact, which changes their blocks.
    let values: Vec<f32> = (0..20 * 24 * 32)
        .map(|i| (i as f32 * 0.37).sin() + (i as f32 * 0.011).cos())
        .collect();
    for codec in ["de-zfp", "zfp-v"] {
        for bound in [1.0, 2f64.powi(-10), 1e-3, 1e-6] {
            let mut theirs = vec![0.0; values.len()];
            let bytes = ZfpC.compress_f32(&values, &shape, Goal::Abs(bound));
            ZfpC.decompress_f32(&bytes, &shape, Goal::Abs(bound), &mut theirs);
            let back = ours(codec, &values, dims, Tolerance::Abs(bound), &params);
            let mut same = 0;
            for ((x, y), z) in values.iter().zip(&back).zip(&theirs) {
                assert!((f64::from(*x) - f64::from(*y)).abs() <= bound);
                assert!(y == z || y == x, "{codec} {bound}: {x} became {y}, not {z}");
                same += usize::from(y == z);
            }
            assert!(2 * same > values.len(), "{codec} {bound}: {same}");
        }
    }
}

#[test]
fn zfp_breaks_its_bound_where_ours_holds() {
    // A block of a wide range: zfp's integers do not reach down to the bound.
    let values: Vec<f32> = (0..64)
        .map(|i| if i == 21 { 3e9 } else { 0.3 * i as f32 })
        .collect();
    let (dims, bound) = (
        Dims {
            nz: 4,
            ny: 4,
            nx: 4,
        },
        1e-3,
    );
    let worst = |back: &[f32]| {
        let pairs = values.iter().zip(back);
        pairs
            .map(|(x, y)| f64::from(*x) - f64::from(*y))
            .fold(0.0, |a: f64, d| a.max(d.abs()))
    };
    let mut theirs = vec![0.0; 64];
    let bytes = ZfpC.compress_f32(&values, &[4, 4, 4], Goal::Abs(bound));
    ZfpC.decompress_f32(&bytes, &[4, 4, 4], Goal::Abs(bound), &mut theirs);
    assert!(worst(&theirs) > bound);

    let params = Params::default();
    let task = Task {
        dims,
        tolerance: Tolerance::Abs(bound),
        fill: FillValues::NONE,
        params: &params,
    };
    let codec = by_name("de-zfp").unwrap();
    let (mut context, mut bytes, mut back) = (Context::default(), Vec::new(), vec![0.0; 64]);
    codec
        .encode(&values, &task, &mut context, &mut bytes)
        .unwrap();
    codec.decode(&bytes, dims, &mut context, &mut back).unwrap();
    assert!(worst(&back) <= bound);
}

#[test]
fn a_rate_gives_a_known_size() {
    let shape = [9, 10, 13];
    let values: Vec<f32> = (0..9 * 10 * 13).map(|i| (i as f32 * 0.37).sin()).collect();
    for bits in [1, 6, 32] {
        let goal = Goal::Rate(f64::from(bits));
        let bytes = ZfpC.compress_f32(&values, &shape, goal);
        // Blocks of 64 values.
        assert_eq!(bytes.len(), 3 * 3 * 4 * 8 * bits as usize);
        assert_eq!(
            bytes,
            ebz_peers::ZfpRust.compress_f32(&values, &shape, goal)
        );
        let mut decoded = [vec![0f32; values.len()], vec![0f32; values.len()]];
        ZfpC.decompress_f32(&bytes, &shape, goal, &mut decoded[0]);
        ebz_peers::ZfpRust.decompress_f32(&bytes, &shape, goal, &mut decoded[1]);
        assert_eq!(decoded[0], decoded[1]);
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        assert_eq!(values.iter().zip(&decoded[0]).all(close), bits == 32);
    }
}
