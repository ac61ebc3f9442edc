//! `ratio` and `psnr` bounds, for every codec that offers absolute bounds.

use ebz::codec::TABLE;
use ebz::{Bound, BoundKind, FiniteRange, FrameStats, Options, Tolerance, View};

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

/// Frames of a simulation whose amplitude drifts, and what became of them.
fn series(codec: &str, bound: Bound, frames: usize) -> (Vec<FrameStats>, Vec<u8>) {
    let shape = [20, 50, 60];
    let options = Options::new(bound).codec(codec);
    let mut writer = ebz::Writer::new(Vec::new(), options).unwrap();
    let mut all = Vec::new();
    for frame in 0..frames {
        let scale = 1.06f32.powi(frame as i32);
        let values: Vec<f32> = field(shape).iter().map(|v| v * scale).collect();
        all.push(writer.frame(&View::new(&values, &shape).unwrap()).unwrap());
    }
    (all, writer.finish().unwrap())
}

fn bound_of(tolerance: Tolerance) -> f64 {
    match tolerance {
        Tolerance::Abs(bound) => bound,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_bound_follows_a_series_at_the_price_of_a_coding_or_two() {
    for codec in codecs() {
        let (frames, bytes) = series(codec, Bound::Ratio(8.0), 20);
        for frame in &frames {
            let ratio = frame.raw_bytes as f64 / frame.stored_bytes as f64;
            assert!((8.0..8.0 * 1.06).contains(&ratio), "{codec}: {ratio}");
        }
        let bounds: Vec<_> = frames.iter().map(|f| bound_of(f.tolerance)).collect();
        let growth = bounds[19] / bounds[0];
        assert!((1.5..6.0).contains(&growth), "{codec}: {bounds:?}");
        // The frames say which bound they used.
        let reader = ebz::Reader::from_source(bytes.as_slice()).unwrap();
        for (number, &bound) in bounds.iter().enumerate() {
            let frame = reader.frame(number).unwrap();
            assert_eq!(bound_of(frame.header().tolerance), bound);
        }
        let codings = |frame: &FrameStats| frame.search.unwrap().codings;
        let later: usize = frames[1..].iter().map(codings).sum();
        assert!(later <= 2 * 19, "{codec}: {later} codings of 19 frames");
    }
    let (frames, _) = series("fz", Bound::Psnr(60.0), 6);
    assert!(frames[1..].iter().all(|f| f.search.unwrap().codings <= 2));
}

#[test]
fn appended_frames_start_from_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.ebz");
    let shape = [20, 50, 60];
    let values = field(shape);
    let view = View::new(&values, &shape).unwrap();
    let options = Options::new(Bound::Ratio(8.0)).codec("ceaz");
    let mut writer = ebz::Writer::create(&path, options.clone()).unwrap();
    writer.frame(&view).unwrap();
    writer.finish().unwrap();
    let mut writer = ebz::Writer::append(&path, options).unwrap();
    let stats = writer.frame(&view).unwrap();
    assert_eq!(stats.search.unwrap().codings, 1);
    // Another target is another search.
    writer.options_mut().bound = Bound::Ratio(20.0);
    let stats = writer.frame(&view).unwrap();
    assert!(stats.search.unwrap().found >= 20.0);
    writer.finish().unwrap();
}

#[test]
fn targets_within_a_jump_are_met_by_what_lies_above_it() {
    // Every bound below one keeps the signs, every other one keeps nothing.
    let sign = |i: u32| {
        if i.wrapping_mul(2_654_435_761) >> 31 == 0 {
            -1.0
        } else {
            1.0
        }
    };
    let values: Vec<f32> = (0..40_000).map(sign).collect();
    let view = View::new(&values, &[40_000]).unwrap();
    let mut bytes = Vec::new();
    let options = Options::new(Bound::Ratio(100.0));
    let stats = ebz::compress_into(&view, &options, &mut bytes).unwrap();
    let search = stats.search.unwrap();
    assert!(
        search.found > 200.0 && search.below.unwrap() < 50.0,
        "{search:?}"
    );
    assert!(!search.close);
    assert!(bytes.len() * 100 <= values.len() * 4);
}

#[test]
fn ratios_that_exact_copies_have_change_nothing() {
    let values: Vec<f32> = (0..100_000).map(|i| (i / 500) as f32).collect();
    let view = View::new(&values, &[100_000]).unwrap();
    for codec in ["fz", "ceaz"] {
        let options = Options::new(Bound::Ratio(2.0)).codec(codec);
        let bytes = ebz::compress(&view, &options).unwrap();
        let decoded = ebz::decompress::<f32>(&bytes).unwrap();
        assert!(decoded.values() == values, "{codec}");
    }
}

#[test]
fn huge_values_do_not_spoil_the_search() {
    let shape = [20, 50, 60];
    let mut values = field(shape);
    for value in values.iter_mut().skip(7).step_by(1000) {
        *value = 1e35;
    }
    let view = View::new(&values, &shape).unwrap();
    let bytes = ebz::compress(&view, &Options::new(Bound::Ratio(4.0))).unwrap();
    let ratio = (values.len() * 4) as f64 / bytes.len() as f64;
    assert!((4.0..4.2).contains(&ratio), "{ratio}");
}

#[test]
fn the_number_of_threads_does_not_change_what_is_found() {
    let shape = [160, 64, 64];
    let values = field(shape);
    let view = View::new(&values, &shape).unwrap();
    for bound in [Bound::Ratio(9.0), Bound::Psnr(66.0)] {
        let compress = |threads| {
            let options = Options::new(bound).chunk(&[16, 64, 64]).threads(threads);
            ebz::compress(&view, &options).unwrap()
        };
        assert_eq!(compress(1), compress(3));
    }
}
