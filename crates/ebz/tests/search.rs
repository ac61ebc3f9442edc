//! `ratio` and `psnr` bounds, for every codec that offers absolute bounds.

use ebz::codec::TABLE;
use ebz::{Bound, BoundKind, FiniteRange, Options, Tolerance, View};

/// Waves and some noise.
fn field(shape: [usize; 3]) -> Vec<f32> {
    let mut state = 1u32;
    let mut values = Vec::new();
    for z in 0..shape[0] {
        for y in 0..shape[1] {
            for x in 0..shape[2] {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / (1 << 24) as f32;
                let wave = (x as f32 * 0.11).sin() * (y as f32 * 0.07).cos() + z as f32 * 0.02;
                values.push(wave + 0.002 * noise);
            }
        }
    }
    values
}

fn codecs() -> impl Iterator<Item = &'static str> {
    let lossy = |e: &&ebz::codec::Entry| e.offers(BoundKind::Abs) && e.info.name != "raw";
    TABLE.iter().filter(lossy).map(|e| e.info.name)
}

fn psnr(values: &[f32], decoded: &[f32]) -> f64 {
    let range = FiniteRange::of(values, None).extent();
    let errors = values
        .iter()
        .zip(decoded)
        .map(|(a, b)| f64::from(a - b).powi(2));
    20.0 * (range / (errors.sum::<f64>() / values.len() as f64).sqrt()).log10()
}

#[test]
fn ratios_are_met_and_hardly_exceeded() {
    for shape in [[40, 64, 100], [3, 100, 100]] {
        let values = field(shape);
        let view = View::new(&values, &shape).unwrap();
        for codec in codecs() {
            for target in [3.0, 5.0, 10.5] {
                let options = Options::new(Bound::Ratio(target)).codec(codec);
                let bytes = ebz::compress(&view, &options).unwrap();
                let ratio = (values.len() * 4) as f64 / bytes.len() as f64;
                assert!(
                    (target..target * 1.05).contains(&ratio),
                    "{codec} {target}: {ratio}"
                );
            }
        }
    }
}

#[test]
fn psnr_is_met_and_hardly_exceeded() {
    let shape = [20, 50, 60];
    let values = field(shape);
    let view = View::new(&values, &shape).unwrap();
    for codec in codecs() {
        for target in [40.0, 66.6, 90.0] {
            let options = Options::new(Bound::Psnr(target)).codec(codec);
            let bytes = ebz::compress(&view, &options).unwrap();
            let decoded = ebz::decompress::<f32>(&bytes).unwrap();
            let found = psnr(&values, decoded.values());
            assert!(
                (target..target + 1.0).contains(&found),
                "{codec} {target}: {found}"
            );
        }
    }
}

#[test]
fn unreachable_ratios_say_what_is_reachable() {
    let shape = [10, 40, 40];
    let values = field(shape);
    let view = View::new(&values, &shape).unwrap();
    for codec in codecs() {
        let options = Options::new(Bound::Ratio(1e9)).codec(codec);
        let message = ebz::compress(&view, &options).unwrap_err().to_string();
        assert!(message.contains("this array allows"), "{message}");
    }
}

#[test]
fn constant_arrays_are_exact() {
    let values = vec![2.5f64; 1000];
    let view = View::new(&values, &[1000]).unwrap();
    for bound in [Bound::Psnr(60.0), Bound::Ratio(4.0)] {
        let options = Options::new(bound).codec("ceaz");
        let bytes = ebz::compress(&view, &options).unwrap();
        assert_eq!(ebz::decompress::<f64>(&bytes).unwrap().values(), values);
    }
}

#[test]
fn every_frame_of_a_series_meets_the_ratio() {
    let shape = [20, 50, 60];
    let options = Options::new(Bound::Ratio(8.0)).codec("ceaz");
    let mut writer = ebz::Writer::new(Vec::new(), options).unwrap();
    let mut bounds = Vec::new();
    for frame in 0..4 {
        let scale = 1.0 + frame as f32;
        let values: Vec<f32> = field(shape).iter().map(|v| v * scale).collect();
        let stats = writer.frame(&View::new(&values, &shape).unwrap()).unwrap();
        assert!(stats.raw_bytes as f64 / stats.stored_bytes as f64 >= 8.0);
        let Tolerance::Abs(bound) = stats.tolerance else {
            panic!("{:?}", stats.tolerance);
        };
        bounds.push(bound);
    }
    assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
}
