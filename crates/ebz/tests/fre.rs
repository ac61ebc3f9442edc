//! `fre` against an independent count of its words.

use ebz::{Bound, Options, View};
use ebz_testkit::fields::{Content, Field};
use ebz_testkit::fre_words::Count;

fn compressed(field: &Field<f32>, bound: Bound, rounding: &str) -> Vec<u8> {
    let options = Options::new(bound).codec("fre").param("rounding", rounding);
    let view = View::new(&field.values, &field.shape).unwrap();
    ebz::compress(&view, &options).unwrap()
}

#[test]
fn size_is_within_two_percent_of_the_words() {
    for content in [
        Content::Smooth,
        Content::Waves,
        Content::Noise,
        Content::Steps,
        Content::DynamicRange,
    ] {
        let field: Field<f32> = content.field(&[40, 100, 100], 5);
        for kept in [6, 10] {
            let ideal = Count::of(&field.values, kept).bits as f64 / 8.0;
            let bytes = compressed(&field, Bound::Precision(kept), "truncate").len() as f64;
            // The container adds some hundred bytes.
            assert!(
                bytes < ideal * 1.02 + 512.0,
                "{content:?}: {bytes} of {ideal}"
            );
            assert!(bytes >= ideal, "{content:?}: {bytes} of {ideal}");
        }
    }
}

#[test]
fn rounding_modes_keep_the_bound_and_differ_by_one_bit() {
    let field: Field<f32> = Content::Waves.field(&[300, 300], 5);
    let bound = 1.0 / 64.0;
    let sizes = ["nearest", "truncate"].map(|rounding| {
        let bytes = compressed(&field, Bound::Pointwise(bound), rounding);
        let decoded = ebz::decompress::<f32>(&bytes).unwrap();
        for (x, y) in field.values.iter().zip(decoded.values()) {
            let (x, y) = (f64::from(*x), f64::from(*y));
            assert!((x - y).abs() <= bound * x.abs(), "{rounding}: {x} {y}");
            assert!(rounding == "nearest" || y.abs() <= x.abs());
        }
        bytes.len()
    });
    let bit = field.values.len() / 8;
    assert!(sizes[0] + bit / 2 < sizes[1], "{sizes:?}");
}

#[test]
fn powers_of_two_are_exact_and_runs_are_short() {
    let values: Vec<f32> = (0..100_000)
        .map(|i| [0.0, 1.0, -4.0][i / 5000 % 3])
        .collect();
    let options = Options::new(Bound::Pointwise(0.1)).codec("fre");
    let bytes = ebz::compress(&View::new(&values, &[values.len()]).unwrap(), &options).unwrap();
    assert!(bytes.len() < values.len() / 4 + 2000, "{}", bytes.len());
    assert_eq!(
        ebz::decompress::<f32>(&bytes).unwrap().values(),
        &values[..]
    );
}

#[test]
fn measured_words_keep_the_bound_and_the_bytes_of_every_thread_count() {
    // Exponents differ by 2 and 3 more often than by less.
    let exponents = [0, 3, 1, 3, 5, 8];
    let value = |i: usize| (1.0 + i as f32 * 1e-6) * 2f32.powi(exponents[i % 6]);
    let values: Vec<f32> = (0..300_000).map(value).collect();
    let view = View::new(&values, &[values.len()]).unwrap();
    let bound = 1.0 / 64.0;
    for lanes in ["32", "1"] {
        let bytes = |words, threads| {
            let options = Options::new(Bound::Pointwise(bound)).codec("fre");
            let options = options.param("words", words).param("lanes", lanes);
            let options = options.chunk(&[1 << 17]).threads(threads);
            ebz::compress(&view, &options).unwrap()
        };
        let measured = bytes("measured", 1);
        assert_eq!(bytes("measured", 3), measured);
        // 9.7 instead of 12.2 bits per value.
        let paper = bytes("paper", 1);
        assert!(measured.len() * 6 < paper.len() * 5, "{lanes}");
        let decoded = ebz::decompress::<f32>(&measured).unwrap();
        assert_eq!(
            decoded.values(),
            ebz::decompress::<f32>(&paper).unwrap().values()
        );
        for (x, y) in values.iter().zip(decoded.values()) {
            assert!((x - y).abs() <= bound as f32 * x.abs(), "{x} {y}");
        }
    }
}

#[test]
fn an_unknown_rounding_mode_is_rejected() {
    let options = Options::new(Bound::Pointwise(0.1)).codec("fre");
    let error = options.param("rounding", "up").check().err().unwrap();
    assert!(error.to_string().contains("nearest, truncate"), "{error}");
}
