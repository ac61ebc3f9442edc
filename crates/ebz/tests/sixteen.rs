//! 16-bit elements: their size, and the bound of the rounded values. Conformance, corruption and
//! golden tests cover them too.

use ebz::{Bound, Element, Options, Reader, View, bf16, f16};
use ebz_testkit::exact;
use ebz_testkit::fields::{Content, Field};

const SHAPE: [usize; 3] = [12, 70, 90];

fn size<T: Element>(values: &[T], options: &Options) -> usize {
    let view = View::new(values, &SHAPE).unwrap();
    let mut bytes = Vec::new();
    let stats = ebz::compress_into(&view, options, &mut bytes).unwrap();
    let decoded = ebz::decompress::<T>(&bytes).unwrap();
    let fill = options.fill.values();
    exact::check(values, decoded.values(), stats.tolerance, &fill).unwrap();
    bytes.len()
}

fn field<T: Element>(content: Content) -> Field<T> {
    content.field(&SHAPE, 3)
}

/// With bounds from far below to far above the spacing of the values, and near its multiples,
/// 16-bit values take hardly more than the same values as f32.
fn takes_no_more_than_f32<T: Element>() {
    let narrow: Field<T> = field(Content::Smooth);
    let wide: Field<f32> = narrow.rounded();
    // The spacing of the upper half of the values, which reach about 30.
    let spacing = 16.0 / f64::from(1u32 << T::FRACTION_BITS);
    for codec in ["fz", "ceaz", "interp"] {
        for share in [0.3, 0.9, 1.0, 1.1, 1.5, 1.9, 2.0, 3.7, 20.0, 100.3] {
            let bound = Bound::Abs(share * spacing);
            let options = Options::new(bound).codec(codec).threads(1);
            let sizes = [size(&narrow.values, &options), size(&wide.values, &options)];
            println!("{codec} {} {share}: {sizes:?}", T::TYPE);
            // At most one more bit per value, where the bound is just below a multiple of the
            // spacing.
            let bit = wide.values.len() / 8;
            assert!(sizes[0] <= sizes[1] + bit, "{codec} {bound}: {sizes:?}");
        }
    }
}

#[test]
fn sixteen_bit_values_take_no_more_than_f32() {
    takes_no_more_than_f32::<f16>();
    takes_no_more_than_f32::<bf16>();
}

#[test]
fn incompressible_values_take_two_bytes() {
    fn check<T: Element>() {
        let noise: Field<T> = field(Content::RandomBits);
        for entry in ebz::codec::TABLE {
            let options = Options::new(Bound::Lossless).codec(entry.info.name);
            if options.check().is_ok() {
                let size = size(&noise.values, &options);
                assert!(size < 2 * noise.values.len() + 200, "{}", entry.info.name);
            }
        }
        let constant: Field<T> = field(Content::Constant);
        assert!(size(&constant.values, &Options::new(Bound::Lossless)) < 150);
    }
    check::<f16>();
    check::<bf16>();
}

/// Finite values near the maximum stay finite, even if the bound extends beyond it.
#[test]
fn the_largest_values_stay_finite() {
    fn check<T: Element>(largest: u64) {
        let word = |i: usize| (largest - (i % 50) as u64) | ((i as u64 & 1) << 15);
        let count = SHAPE.iter().product();
        let values: Vec<T> = (0..count).map(|i| T::from_word(word(i))).collect();
        let most = T::from_word(largest).to_f64();
        for entry in ebz::codec::TABLE {
            for share in [1e-4, 0.1, 0.6, 0.9, 1.9] {
                let options = Options::new(Bound::Abs(share * most)).codec(entry.info.name);
                if options.check().is_ok() {
                    size(&values, &options);
                }
            }
        }
    }
    check::<f16>(0x7bff);
    check::<bf16>(0x7f7f);
}

#[test]
fn range_bounds_and_searches_work() {
    fn check<T: Element>() {
        let field: Field<T> = field(Content::Smooth);
        for codec in ["fz", "interp"] {
            for bound in [Bound::Ratio(4.0), Bound::Psnr(40.0), Bound::Range(1e-2)] {
                let options = Options::new(bound).codec(codec);
                let size = size(&field.values, &options);
                if let Bound::Ratio(ratio) = bound {
                    assert!(2.0 * field.values.len() as f64 >= ratio * size as f64);
                }
            }
        }
    }
    check::<f16>();
    check::<bf16>();
}

/// A fill value that the type cannot represent is rounded; data next to it does not become missing.
#[test]
fn fill_values_are_rounded_to_the_type() {
    fn check<T: Element>() {
        let mut field: Field<T> = field(Content::Smooth);
        let mark = T::from_f64(-99.9);
        let beside = T::from_word(mark.to_word() + 1);
        for (i, value) in field.values.iter_mut().enumerate() {
            match i % 11 {
                0 => *value = mark,
                1 => *value = beside,
                _ => {}
            }
        }
        for bound in [Bound::Abs(0.7), Bound::Range(1e-2), Bound::Pointwise(0.02)] {
            for entry in ebz::codec::TABLE {
                let options = Options::new(bound).codec(entry.info.name).fill(-99.9);
                if options.check().is_err() {
                    continue;
                }
                let bytes = ebz::compress(&View::new(&field.values, &SHAPE).unwrap(), &options);
                let decoded = ebz::decompress::<T>(&bytes.unwrap()).unwrap();
                for (a, b) in field.values.iter().zip(decoded.values()) {
                    assert_eq!(*a == mark, *b == mark, "{} {bound}", entry.info.name);
                }
            }
        }
    }
    check::<f16>();
    check::<bf16>();
}

#[test]
fn regions_and_recovery_work() {
    let field: Field<bf16> = field(Content::Waves);
    let options = Options::new(Bound::Abs(1e-4)).chunk(&[4, 70, 90]);
    let bytes = ebz::compress(&View::new(&field.values, &SHAPE).unwrap(), &options).unwrap();
    let reader = Reader::from_source(&bytes[..]).unwrap();
    assert!(reader.read::<f16>().is_err() && reader.read::<f32>().is_err());
    let whole = reader.read::<bf16>().unwrap();
    let part = reader.region::<bf16>(&[5..7, 0..70, 0..90]).unwrap();
    assert_eq!(part.values(), &whole.values()[5 * 6300..7 * 6300]);
    // A truncated file has lost a chunk, which becomes NaN.
    let cut = &bytes[..bytes.len() * 3 / 4];
    let (_, saved) = ebz::recover(&cut, Vec::new()).unwrap();
    let saved = ebz::decompress::<bf16>(&saved).unwrap();
    assert_eq!(saved.values()[..4 * 6300], whole.values()[..4 * 6300]);
    assert!(saved.values()[8 * 6300..].iter().all(|x| x.is_nan()));
}
