//! A `ratio` in one pass over the array.

use ebz::codec::TABLE;
use ebz::simd::Level;
use ebz::slab::{EncodedSlab, OnePass, SlabCoder};
use ebz::{
    Bound, BoundKind, Clip, FrameStats, Options, Reader, SearchOutcome, Tolerance, View, Writer,
};

/// Waves on one half, nothing on the other, and noise that grows.
fn field(shape: [usize; 3]) -> Vec<f32> {
    let mut state = 1u32;
    let mut values = Vec::new();
    for z in 0..shape[0] {
        for y in 0..shape[1] {
            for x in 0..shape[2] {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / (1 << 24) as f32;
                let wave = (x as f32 * 0.11).sin() * (y as f32 * 0.07).cos() + z as f32 * 0.02;
                let empty = 2 * z < shape[0] && 2 * y < shape[1];
                values.push(if empty {
                    0.0
                } else {
                    wave + z as f32 * 1e-4 * noise
                });
            }
        }
    }
    values
}

const SHAPE: [usize; 3] = [96, 100, 120];

fn compress(view: &View<'_, f32>, options: &Options) -> (Vec<u8>, FrameStats) {
    let mut bytes = Vec::new();
    let stats = ebz::compress_into(view, options, &mut bytes).unwrap();
    (bytes, stats)
}

#[test]
fn ratios_are_met_about_and_the_largest_bound_holds() {
    let values = field(SHAPE);
    let view = View::new(&values, &SHAPE).unwrap();
    let lossy = TABLE
        .iter()
        .filter(|e| e.offers(BoundKind::Abs) && e.info.name != "raw");
    for codec in lossy.map(|entry| entry.info.name) {
        for target in [4.0, 10.5] {
            let options = Options::new(Bound::Ratio(target))
                .codec(codec)
                .one_pass(true);
            // Cut small, so that there is something to learn from.
            for options in [options.clone().chunk(&[8, 100, 120]), options] {
                let (bytes, stats) = compress(&view, &options);
                let ratio = (values.len() * 4) as f64 / bytes.len() as f64;
                assert!(
                    (0.85..1.15).contains(&(ratio / target)),
                    "{codec} {target}: {ratio}"
                );
                let search = stats.search.unwrap();
                assert_eq!(
                    (search.outcome, search.codings),
                    (SearchOutcome::OnePass, 1)
                );
                assert!((search.found - ratio).abs() < 1e-9);
                let decoded = ebz::decompress::<f32>(&bytes).unwrap();
                let Tolerance::Abs(bound) = stats.tolerance else {
                    panic!("{:?}", stats.tolerance);
                };
                let errors = values.iter().zip(decoded.values());
                let error = errors
                    .map(|(a, b)| f64::from(a - b).abs())
                    .fold(0.0, f64::max);
                assert!(error <= bound, "{codec} {target}: {error} > {bound}");
                let reader = Reader::from_source(&bytes[..]).unwrap();
                let header = reader.frame(0).unwrap().header().clone();
                assert_eq!(header.tolerance, stats.tolerance);
                assert_eq!(header.asked, Bound::Ratio(target));
            }
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads_or_the_way_in() {
    let values = field(SHAPE);
    let view = View::new(&values, &SHAPE).unwrap();
    let options = Options::new(Bound::Ratio(8.0))
        .one_pass(true)
        .chunk(&[4, 100, 120]);
    let (expected, _) = compress(&view, &options.clone().threads(1));
    for threads in [2, 3, 16] {
        let (bytes, _) = compress(&view, &options.clone().threads(threads));
        assert!(bytes == expected, "{threads} threads");
    }
    // Slab by slab, behind a frame of another kind.
    let mut pass = OnePass::of(&view, &options).unwrap();
    let mut coder = SlabCoder::new(Level::detect());
    let mut slabs = Vec::new();
    for (slab, part) in values.chunks(4 * 100 * 120).enumerate() {
        let mut out = EncodedSlab::default();
        let part = View::new(part, &[4, 100, 120]).unwrap();
        coder
            .encode(&pass.next_plan(), 0, slab, &part, &mut out)
            .unwrap();
        pass.note(out.bodies().iter().map(|(_, length)| *length));
        slabs.push(out);
    }
    let plan = pass.finished();
    let mut writer = Writer::new(Vec::new(), options).unwrap();
    let mut frame = writer.begin(&plan).unwrap();
    for slab in &slabs {
        frame.slab(slab).unwrap();
    }
    frame.end().unwrap();
    assert!(writer.finish().unwrap() == expected);
}

#[test]
fn arrays_with_little_in_them_are_coded_too() {
    let shapes: [&[usize]; 6] = [&[], &[0], &[1], &[5], &[3, 0, 2], &[2, 3]];
    for shape in shapes {
        for value in [0.0, 1.5, f32::NAN, f32::INFINITY] {
            let values = vec![value; shape.iter().product()];
            let view = View::new(&values, shape).unwrap();
            let options = Options::new(Bound::Ratio(10.0)).one_pass(true);
            let bytes = ebz::compress(&view, &options).unwrap();
            let back = ebz::decompress::<f32>(&bytes).unwrap();
            let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
            assert!(
                back.values().iter().zip(&values).all(same),
                "{shape:?} {value}"
            );
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let check = |options: Options| options.one_pass(true).check().is_ok();
    assert!(check(Options::new(Bound::Ratio(10.0))));
    assert!(!check(Options::new(Bound::Abs(1.0))));
    assert!(!check(Options::new(Bound::Psnr(60.0))));
    assert!(!check(Options::new(Bound::Ratio(10.0)).clip(Clip::Data)));
}
