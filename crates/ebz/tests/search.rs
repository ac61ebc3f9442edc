//! `ratio` and `psnr` targets, for every codec that supports absolute bounds.

use ebz::codec::TABLE;
use ebz::{
    Bound, BoundKind, Element, FillValues, FiniteRange, FrameStats, Options, SearchOutcome,
    SearchStats, Tolerance, View,
};

/// Waves with some noise.
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
    let range = FiniteRange::of(values, &FillValues::NONE).extent();
    let errors = values
        .iter()
        .zip(decoded)
        .map(|(a, b)| f64::from(a - b).powi(2));
    20.0 * (range / (errors.sum::<f64>() / values.len() as f64).sqrt()).log10()
}

#[test]
fn ratio_targets_are_met_closely() {
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
fn psnr_targets_are_met_closely() {
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

/// The search result, after checking the written stream.
fn search<T: Element>(
    values: &[T],
    shape: &[usize],
    options: &Options,
) -> ebz::Result<SearchStats> {
    let mut bytes = Vec::new();
    let stats = ebz::compress_into(&View::new(values, shape)?, options, &mut bytes)?;
    let search = stats.search.unwrap();
    let what = format!("{} {}: {search:?}", options.codec, options.bound);
    match options.bound {
        Bound::Ratio(ratio) => {
            assert!(
                std::mem::size_of_val(values) as f64 >= ratio * bytes.len() as f64,
                "{what}"
            );
        }
        _ => assert!(search.found >= options.bound.value(), "{what}"),
    }
    let decoded = ebz::decompress::<T>(&bytes)?;
    for (value, decoded) in values.iter().zip(decoded.values()) {
        let (value, decoded) = (value.to_f64(), decoded.to_f64());
        let kept = match stats.tolerance {
            Tolerance::Abs(bound) if value.is_finite() => (value - decoded).abs() <= bound,
            _ => value.to_bits() == decoded.to_bits() || value.is_nan() && decoded.is_nan(),
        };
        assert!(kept, "{what}: {value} became {decoded}");
    }
    Ok(search)
}

/// The reachable range in an error message.
fn reachable(message: &str) -> (f64, f64) {
    let (_, after) = message.split_once("this array allows ").expect(message);
    let numbers: Vec<f64> = after
        .split([' ', ',', ':'])
        .filter_map(|word| word.parse().ok())
        .collect();
    (numbers[0], numbers[numbers.len() - 1])
}

/// Requests an unreachable target, then the reachable ones that the message states.
fn check_reach<T: Element>(values: &[T], shape: &[usize], codec: &str) {
    let options = |bound| Options::new(bound).codec(codec);
    let message = search(values, shape, &options(Bound::Ratio(1e9)))
        .unwrap_err()
        .to_string();
    let (exact, most) = reachable(&message);
    assert!(exact <= most, "{codec}: {message}");
    for ratio in [0.99 * exact, 0.99 * most] {
        if ratio >= 1.0 {
            let found = search(values, shape, &options(Bound::Ratio(ratio)));
            assert!(found.is_ok(), "{codec} {ratio}: {found:?} after {message}");
        }
    }
    // A lossless copy meets any PSNR.
    for decibels in [0.1, 50.0, 1e4] {
        search(values, shape, &options(Bound::Psnr(decibels))).unwrap();
    }
}

#[test]
fn the_reported_reachable_targets_are_reachable() {
    let single = field([10, 40, 40]);
    let double: Vec<f64> = single.iter().map(|&v| f64::from(v) * 1.1).collect();
    let scaled = |scale: f64| -> Vec<f64> { double.iter().map(|v| v * scale).collect() };
    let mut holes = single.clone();
    for (place, value) in holes.iter_mut().enumerate() {
        match place % 50 {
            0 => *value = f32::NAN,
            1 => *value = f32::INFINITY,
            2 => *value = -0.0,
            _ => {}
        }
    }
    for codec in codecs() {
        check_reach(&single, &[10, 40, 40], codec);
        check_reach(&double, &[10, 40, 40], codec);
        check_reach(&holes, &[16_000], codec);
        // Ranges that overflow when squared, or at all.
        check_reach(&scaled(1e-305), &[100, 160], codec);
        check_reach(&scaled(1e200), &[100, 160], codec);
        let full = scaled(1e308);
        assert!(full.iter().all(|v| v.is_finite()));
        check_reach(&full, &[100, 160], codec);
        // Constant or nearly constant.
        check_reach(&[2.5f64; 1000], &[1000], codec);
        check_reach(&[f32::NAN; 1000], &[10, 100], codec);
        check_reach(&[1.0f32], &[1], codec);
        check_reach(&[1.0f32, 7.0, f32::NAN], &[3], codec);
    }
}

#[test]
fn constant_arrays_are_exact() {
    let values = vec![2.5f64; 1000];
    for bound in [Bound::Psnr(60.0), Bound::Ratio(4.0)] {
        let found = search(&values, &[1000], &Options::new(bound).codec("ceaz")).unwrap();
        assert_eq!((found.outcome, found.codings), (SearchOutcome::Exact, 1));
    }
}

#[test]
fn a_psnr_below_all_others_uses_the_largest_bound() {
    let values: Vec<f32> = field([10, 40, 40]).iter().map(|v| v.signum()).collect();
    for codec in codecs() {
        let options = Options::new(Bound::Psnr(0.5)).codec(codec);
        let found = search(&values, &[10, 40, 40], &options).unwrap();
        assert_eq!(found.outcome, SearchOutcome::Least, "{codec}: {found:?}");
        assert!(
            found.beyond.is_none() && found.found > 1.5,
            "{codec}: {found:?}"
        );
    }
}

#[test]
fn targets_on_erratic_curves_are_met() {
    // Undeclared huge fill values: the PSNR depends on how close a lattice point happens to be, so
    // trials do not predict each other.
    let shape = [60, 80, 90];
    let mut values = field(shape);
    for row in values.chunks_exact_mut(90) {
        row[..20].fill(9.969_21e36);
    }
    for codec in ["fz", "ceaz", "interp"] {
        for target in [40.0, 60.0, 80.0] {
            let options = Options::new(Bound::Psnr(target)).codec(codec);
            let found = search(&values, &shape, &options).unwrap();
            assert_eq!(
                found.outcome,
                SearchOutcome::Close,
                "{codec} {target}: {found:?}"
            );
            assert!(found.codings <= 20, "{codec} {target}: {found:?}");
        }
    }
}

#[test]
fn sampling_saves_trials() {
    let shape = [60, 80, 90];
    let values = field(shape);
    for codec in codecs() {
        for bound in [Bound::Ratio(6.0), Bound::Psnr(55.0)] {
            let options = Options::new(bound).codec(codec);
            let found = search(&values, &shape, &options).unwrap();
            assert_eq!(
                found.outcome,
                SearchOutcome::Close,
                "{codec} {bound}: {found:?}"
            );
            assert!(
                found.sampled > 0 && found.codings <= 6,
                "{codec} {bound}: {found:?}"
            );
        }
    }
}

/// Frames of a simulation with drifting amplitude, and their statistics.
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
fn a_series_needs_one_or_two_trials_per_frame() {
    for codec in codecs() {
        let (frames, bytes) = series(codec, Bound::Ratio(8.0), 20);
        for frame in &frames {
            let ratio = frame.raw_bytes as f64 / frame.stored_bytes as f64;
            assert!((8.0..8.0 * 1.06).contains(&ratio), "{codec}: {ratio}");
        }
        let bounds: Vec<_> = frames.iter().map(|f| bound_of(f.tolerance)).collect();
        let growth = bounds[19] / bounds[0];
        assert!((1.5..6.0).contains(&growth), "{codec}: {bounds:?}");
        // The frames store the bound they used.
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
fn appends_start_from_the_last_frame() {
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
    // Another target starts a new search.
    writer.options_mut().bound = Bound::Ratio(20.0);
    let stats = writer.frame(&view).unwrap();
    assert!(stats.search.unwrap().found >= 20.0);
    writer.finish().unwrap();
}

#[test]
fn targets_within_a_jump_are_met_from_above() {
    // Every bound below 1 keeps the signs, any other keeps nothing.
    let sign = |i: u32| {
        if i.wrapping_mul(2_654_435_761) >> 31 == 0 {
            -1.0
        } else {
            1.0
        }
    };
    let values: Vec<f32> = (0..40_000).map(sign).collect();
    let found = search(&values, &[40_000], &Options::new(Bound::Ratio(100.0))).unwrap();
    let (bound, below) = found.beyond.unwrap();
    assert!(found.found > 200.0 && below < 50.0, "{found:?}");
    assert_eq!(found.outcome, SearchOutcome::Jump);
    assert!((0.9..1.1).contains(&bound), "{found:?}");
}

#[test]
fn ratios_of_lossless_copies_are_lossless() {
    let values: Vec<f32> = (0..100_000).map(|i| (i / 500) as f32).collect();
    for codec in codecs() {
        let options = Options::new(Bound::Ratio(2.0)).codec(codec);
        let found = search(&values, &[100_000], &options).unwrap();
        assert_eq!(found.outcome, SearchOutcome::Exact, "{codec}: {found:?}");
        assert!(
            found.found > 2.1 && found.codings == 1,
            "{codec}: {found:?}"
        );
    }
}

#[test]
fn huge_values_do_not_break_the_search() {
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
fn the_search_does_not_depend_on_the_thread_count() {
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
