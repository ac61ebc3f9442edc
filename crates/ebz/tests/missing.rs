//! Detection of undeclared fill values, without false positives.

use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Element, Fill, FillValues, Options, Reader, ValueScan, View, Writer, bf16, f16};
use ebz_testkit::fields::{self, AnyField, Field};
use ebz_testkit::random::Random;

const SHAPE: [usize; 3] = [5, 40, 60];
const COUNT: usize = SHAPE[0] * SHAPE[1] * SHAPE[2];

/// Common fill values.
const MARKS: [f64; 12] = [
    9.96921e36, 1e20, 1e30, -999.0, -9999.0, -32768.0, -1e30, 1e15, -99999.0, -1e34, -32767.0,
    9.999e20,
];

/// Fractions of missing values.
const SHARES: [f64; 6] = [0.005, 0.05, 0.3, 0.7, 0.95, 0.99];

/// Ranges of typical fields.
const RANGES: [(f64, f64); 7] = [
    (-2.0, 35.0),
    (180.0, 320.0),
    (50_000.0, 105_000.0),
    (0.0, 1e-6),
    (0.0, 1.0),
    (-3.0, 3.0),
    (0.0, 15_000.0),
];

fn smooth((low, high): (f64, f64)) -> Vec<f64> {
    let wave = |i: usize| {
        let (z, y, x) = (i / 2400, i / 60 % 40, i % 60);
        let wave = (x as f64 * 0.11).sin() * (y as f64 * 0.13 + z as f64 * 0.4).cos();
        low + (high - low) * (0.5 + 0.5 * wave)
    };
    (0..COUNT).map(wave).collect()
}

/// A field with a fraction of missing values, in areas or scattered.
fn masked<T: Element>(range: (f64, f64), mark: f64, share: f64, areas: bool) -> Vec<T> {
    let mut random = Random::new(7);
    let area = smooth((0.0, 1.0));
    let mut sorted = area.clone();
    sorted.sort_by(f64::total_cmp);
    let level = sorted[((COUNT as f64 * share) as usize).min(COUNT - 1)];
    let values = smooth(range).into_iter().zip(area);
    values
        .map(|(x, area)| {
            let missing = match areas {
                true => area < level,
                false => random.unit().abs() < share,
            };
            T::from_f64(if missing { mark } else { x })
        })
        .collect()
}

/// Checks decoded values: fill values exact, the others within the bound.
fn check<T: Element>(what: &str, values: &[T], back: &[T], mark: T, bound: impl Fn(f64) -> f64) {
    for (i, (&x, &y)) in values.iter().zip(back).enumerate() {
        match x == mark {
            true => assert_eq!(
                x.to_word(),
                y.to_word(),
                "{what}: fill value at {i} became {y}"
            ),
            false => {
                let error = (x.to_f64() - y.to_f64()).abs();
                assert!(error <= bound(x.to_f64()), "{what}: {x} at {i} became {y}");
            }
        }
    }
}

/// Writes the same array through every API path.
fn every_way<T: Element>(what: &str, values: &[T], options: &Options) -> Vec<u8> {
    let view = View::new(values, &SHAPE).unwrap();
    let bytes = ebz::compress(&view, options).unwrap();
    // 1. Several threads.
    let threads = ebz::compress(&view, &options.clone().threads(3)).unwrap();
    assert!(bytes == threads, "{what}: threads");
    if matches!(options.bound, Bound::Psnr(_) | Bound::Ratio(_)) {
        return bytes;
    }
    // 2. A stream, scanned in parts.
    let mut writer = Writer::new(Vec::new(), options.clone()).unwrap();
    let mut scan = ValueScan::new(options.fill);
    for part in values.chunks(777).rev() {
        scan.join(&ValueScan::of(part, options.fill));
    }
    let mut stream: &[u8] = bytemuck::cast_slice(values);
    let scanned = options.needs_range().then_some(&scan);
    let stats = writer
        .frame_from::<T>(&mut stream, &SHAPE, scanned)
        .unwrap();
    assert!(bytes == writer.finish().unwrap(), "{what}: stream");
    // 3. Slabs, in reverse order.
    let mut plan = FramePlan::new::<T>(&SHAPE, stats.tolerance, options).unwrap();
    if options.needs_range() {
        plan = plan
            .with_fill(scan.fill())
            .with_clip(options.clip.resolve(scan.range()));
    }
    let mut coder = SlabCoder::new(options.simd);
    let mut slabs: Vec<EncodedSlab> = Vec::new();
    for slab in (0..plan.slabs()).rev() {
        let region = plan.slab_region(slab);
        let shape: Vec<usize> = region.iter().map(|axis| axis.len()).collect();
        let planes = &values[region[0].start * SHAPE[1] * SHAPE[2]..];
        let mut out = EncodedSlab::default();
        let view = View::new(&planes[..shape.iter().product()], &shape).unwrap();
        coder.encode(&plan, 0, slab, &view, &mut out).unwrap();
        slabs.push(out);
    }
    let mut writer = Writer::new(Vec::new(), options.clone()).unwrap();
    let mut frame = writer.begin(&plan).unwrap();
    for slab in slabs.iter().rev() {
        frame.slab(slab).unwrap();
    }
    frame.end().unwrap();
    assert!(bytes == writer.finish().unwrap(), "{what}: slabs");
    bytes
}

fn extent(range: (f64, f64)) -> f64 {
    range.1 - range.0
}

fn found_with<T: Element>(mark: f64, share: f64, range: (f64, f64), areas: bool) {
    let values = masked::<T>(range, mark, share, areas);
    let mark = T::from_f64(mark);
    let of_scan = ValueScan::of(&values, Fill::Auto);
    let what = format!("{mark} at {share} of {range:?} of {}", T::TYPE);
    let expected = FillValues::from(mark.to_f64());
    assert_eq!(of_scan.fill(), Fill::Found(expected), "{what}");
    let missing = values.iter().filter(|x| **x == mark).count();
    assert_eq!(of_scan.found().count, missing as u64, "{what}");
    let rest = of_scan.range().extent();
    assert!(
        rest > 0.0 && rest <= extent(range) * (1.0 + 1e-6),
        "{what}: {rest}"
    );

    let options = |bound| Options::new(bound).chunk(&[2, 40, 60]).threads(1);
    // 1. `range` refers to the data, and the file stores the detected fill value.
    let bytes = every_way(&what, &values, &options(Bound::Range(1e-3)));
    let back = ebz::decompress::<T>(&bytes).unwrap();
    check(&what, &values, back.values(), mark, |_| 1e-3 * rest);
    let header = Reader::from_source(&bytes[..])
        .unwrap()
        .frame(0)
        .unwrap()
        .header()
        .clone();
    assert_eq!(header.fill, Fill::Found(expected), "{what}");
    // 2. With the other bounds, fill values are exact.
    let e = 0.007 * rest;
    let bytes = every_way(&what, &values, &options(Bound::Abs(e)));
    let back = ebz::decompress::<T>(&bytes).unwrap();
    check(&what, &values, back.values(), mark, |_| e);
    for codec in ["fz", "fre"] {
        let bytes = every_way(
            &what,
            &values,
            &options(Bound::Pointwise(0.01)).codec(codec),
        );
        let back = ebz::decompress::<T>(&bytes).unwrap();
        check(&what, &values, back.values(), mark, |x| 0.01 * x.abs());
    }
}

#[test]
fn every_fill_value_is_found_in_typical_fields() {
    for (i, mark) in MARKS.into_iter().enumerate() {
        for (j, range) in RANGES.into_iter().enumerate() {
            for (k, share) in SHARES.into_iter().enumerate() {
                match (i + j + k) % 4 {
                    0 => found_with::<f32>(mark, share, range, true),
                    1 => found_with::<f32>(mark, share, range, false),
                    2 => found_with::<f64>(mark, share, range, true),
                    _ => found_with::<f64>(mark, share, range, false),
                }
            }
        }
    }
}

#[test]
fn sixteen_bit_fill_values_are_found() {
    for (i, mark) in [-999.0, -9999.0, -99.9, 1e20].into_iter().enumerate() {
        let areas = i % 2 == 0;
        found_with::<bf16>(mark, 0.3, (-2.0, 35.0), areas);
        if mark < 1e5 {
            found_with::<f16>(mark, 0.3, (180.0, 320.0), areas);
        }
    }
}

#[test]
fn every_codec_preserves_detected_fill_values() {
    for codec in ebz::codec::TABLE.iter().map(|entry| entry.info) {
        for bound in [
            Bound::Abs(0.05),
            Bound::Range(1e-3),
            Bound::Psnr(60.0),
            Bound::Ratio(6.0),
        ] {
            if codec.name == "raw" || codec.name == "fre" {
                continue;
            }
            for mark in [-999.0f32, 9.96921e36] {
                let mut values = masked::<f32>((-2.0, 35.0), mark.into(), 0.3, true);
                // A second fill value, declared or of another convention.
                values[..50].fill(1e20);
                let options = Options::new(bound).codec(codec.name).threads(1);
                let stats = ebz::compress_into(
                    &View::new(&values, &SHAPE).unwrap(),
                    &options,
                    &mut Vec::new(),
                );
                assert_eq!(
                    stats.unwrap().found.values.as_slice().len(),
                    2,
                    "{}",
                    codec.name
                );
                let bytes = every_way(codec.name, &values, &options.chunk(&[2, 40, 60]));
                let back = ebz::decompress::<f32>(&bytes).unwrap();
                let pairs = values.iter().zip(back.values());
                for (&x, &y) in pairs.filter(|(x, _)| **x == mark || **x == 1e20) {
                    assert_eq!(x, y, "{} {bound}", codec.name);
                }
                let worst = values.iter().zip(back.values()).map(|(x, y)| (x - y).abs());
                let worst = worst.fold(0.0, f32::max);
                assert!(worst < 5.0, "{} {bound}: {worst}", codec.name);
            }
        }
    }
}

#[test]
fn declared_and_disabled_fill_values_are_not_detected() {
    let values = masked::<f32>((-2.0, 35.0), -999.0, 0.3, true);
    let range = |fill: &str| {
        ValueScan::of(&values, fill.parse().unwrap())
            .range()
            .extent()
    };
    assert!(range("none") > 1000.0);
    assert!(range("1e20") > 1000.0);
    assert!(range("-999") < 38.0 && range("auto,1e20") < 38.0 && range("auto") < 38.0);
    let scan = ValueScan::of(&values, "auto,7".parse().unwrap());
    assert_eq!(
        scan.fill(),
        Fill::Found(FillValues::new(&[7.0, -999.0]).unwrap())
    );
}

fn nothing_is_found<T: Element>(what: &str, values: &[T], shape: &[usize]) {
    let scan = ValueScan::of(values, Fill::Auto);
    assert_eq!(scan.fill(), Fill::Found(FillValues::NONE), "{what}");
    let plain = ValueScan::of(values, Fill::None);
    assert_eq!(scan.range(), plain.range(), "{what}");
    // Single chunks detect nothing either.
    let e = 1e-3 * plain.range().extent();
    let options = Options::new(Bound::Abs(e));
    let stats = ebz::compress_into(
        &View::new(values, shape).unwrap(),
        &options,
        &mut Vec::new(),
    );
    assert!(stats.unwrap().found.values.is_empty(), "{what}");
}

#[test]
fn no_fill_value_is_found_in_complete_data() {
    let mut random = Random::new(3);
    let mut make = |f: &mut dyn FnMut(&mut Random, usize) -> f64| -> Vec<f32> {
        (0..COUNT).map(|i| f(&mut random, i) as f32).collect()
    };
    let fields = [
        ("mask", make(&mut |_, i| (i / 37 % 2) as f64)),
        ("mask of 255", make(&mut |_, i| (i / 37 % 2) as f64 * 255.0)),
        ("two values", make(&mut |_, i| (i / 37 % 2) as f64 * 9999.0)),
        (
            "three values",
            make(&mut |_, i| [0.0, 1.0, 5000.0][i / 37 % 3]),
        ),
        (
            "zeros and rain",
            make(&mut |r, i| {
                if i / 50 % 9 > 0 {
                    0.0
                } else {
                    r.unit().abs() * 1e-7
                }
            }),
        ),
        (
            "zeros around",
            make(&mut |r, i| if i % 5 > 0 { 0.0 } else { 1000.0 + r.unit() }),
        ),
        ("plateaus", make(&mut |_, i| (i / 700) as f64 * 12.5)),
        (
            "saturated",
            make(&mut |r, _| (r.unit() * 1e5).clamp(-32768.0, 32767.0)),
        ),
        (
            "saturated at 1",
            make(&mut |r, i| if i / 99 % 3 > 0 { 1.0 } else { r.unit() * 1e-4 }),
        ),
        (
            "layers",
            make(&mut |r, i| {
                if i < 4000 {
                    1500.0
                } else {
                    2000.0 + 2500.0 * r.unit().abs()
                }
            }),
        ),
        (
            "whole numbers",
            make(&mut |r, _| (r.unit() * 999.0).round()),
        ),
        (
            "a spike",
            make(&mut |r, i| if i == 999 { 1e12 } else { r.unit() }),
        ),
        ("constant", make(&mut |_, _| 12345.0)),
    ];
    for (what, values) in fields {
        nothing_is_found(what, &values, &SHAPE);
    }
    for what in [vec![], vec![f64::NAN; 8], vec![f64::INFINITY, -999.0]] {
        let scan = ValueScan::of(&what, Fill::Auto);
        assert_eq!(scan.fill(), Fill::Found(FillValues::NONE), "{what:?}");
    }
}

#[test]
fn real_fields_match_their_manifest() {
    fn judge<T: Element>(field: &Field<T>) {
        match field.fill.as_slice() {
            [] => nothing_is_found(&field.name, &field.values, &field.shape),
            named => {
                let named: Vec<f64> = named.iter().map(|&x| T::from_f64(x).to_f64()).collect();
                let scan = ValueScan::of(&field.values, Fill::Auto);
                assert_eq!(scan.fill().values().as_slice(), named, "{}", field.name);
            }
        }
    }
    for field in fields::shared_fields().unwrap() {
        match field {
            AnyField::F32(field) => judge(&field),
            AnyField::F64(field) => judge(&field),
        }
    }
}
