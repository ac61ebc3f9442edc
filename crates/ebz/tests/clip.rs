//! Value limits and exact zeros: every codec respects them within the bound.

use ebz::codec::TABLE;
use ebz::{Bound, BoundKind, Clip, Element, Fill, Options, Reader, ValueLimits, View};
use ebz_testkit::exact;

const SHAPE: [usize; 3] = [20, 31, 47];

/// Fractions: zero in large areas, between zero and one elsewhere.
fn fractions() -> Vec<f32> {
    let wave = |i: usize, period: f32| (i as f32 / period).sin();
    (0..SHAPE.iter().product())
        .map(|i| (wave(i, 7.3) + wave(i / 47, 3.1) * wave(i / 1457, 2.2)).clamp(0.0, 1.0))
        .collect()
}

/// The decoded values, and the limits that the file stores.
fn coded<T: Element>(values: &[T], options: &Options) -> (Vec<T>, Option<ValueLimits>) {
    let view = View::new(values, &SHAPE).unwrap();
    let bytes = ebz::compress(&view, options).unwrap();
    let max_bytes = ebz::max_compressed_size(&SHAPE, T::TYPE, options).unwrap();
    assert!(
        bytes.len() <= max_bytes,
        "{options:?}: {} > {max_bytes}",
        bytes.len()
    );
    let reader = Reader::from_source(&bytes[..]).unwrap();
    let header = reader.frame(0).unwrap().header().clone();
    let decoded = ebz::decompress::<T>(&bytes).unwrap().into_values();
    exact::check(values, &decoded, header.tolerance, &header.fill.values()).unwrap();
    // Regions equal the same part of the whole.
    let part = reader
        .frame(0)
        .unwrap()
        .region::<T>(&[3..17, 0..31, 5..6])
        .unwrap();
    let expected = (3..17).flat_map(|z| {
        let decoded = &decoded;
        (0..31).map(move |y| decoded[(z * 31 + y) * 47 + 5])
    });
    assert!(part.values().iter().copied().eq(expected));
    (decoded, header.clip)
}

fn lossy() -> impl Iterator<Item = (&'static str, Bound)> {
    TABLE.iter().flat_map(|entry| {
        [Bound::Abs(0.02), Bound::Range(0.02), Bound::Pointwise(0.02)]
            .into_iter()
            .filter(|bound| entry.offers(bound.kind()))
            .map(|bound| (entry.info.name, bound))
    })
}

#[test]
fn decoded_fractions_stay_within_limits() {
    let values = fractions();
    let mut violated_without = 0;
    for (codec, bound) in lossy() {
        for clip in [Clip::Auto, Clip::Data, Clip::Between(0.0, 1.0)] {
            for chunk in [None, Some(vec![7, 31, 20])] {
                let mut options = Options::new(bound).codec(codec).clip(clip);
                options.chunk = chunk;
                let (decoded, limits) = coded(&values, &options);
                let expected = match clip {
                    Clip::Auto if bound.kind() != BoundKind::Range => None,
                    Clip::Auto => Some((0.0, f64::INFINITY)),
                    _ => Some((0.0, 1.0)),
                };
                assert_eq!(limits.map(|l| (l.min, l.max)), expected, "{codec} {bound}");
                if let Some(limits) = limits {
                    let inside = |x: &f32| (limits.min..=limits.max).contains(&f64::from(*x));
                    assert!(decoded.iter().all(inside), "{codec} {bound} {clip}");
                }
            }
        }
        let (decoded, _) = coded(&values, &Options::new(bound).codec(codec).clip(Clip::None));
        violated_without += usize::from(decoded.iter().any(|&x| x < 0.0));
    }
    assert!(
        violated_without > 0,
        "the field does not exercise the limits"
    );
}

#[test]
fn zeros_stay_exact() {
    let mut values = fractions();
    values[5] = -0.0;
    values[6] = f32::NAN;
    for (codec, bound) in lossy() {
        let options = Options::new(bound).codec(codec).keep_zeros(true);
        let (decoded, _) = coded(&values, &options);
        for (x, y) in values.iter().zip(&decoded).filter(|(x, _)| **x == 0.0) {
            assert_eq!(x.to_bits(), y.to_bits(), "{codec} {bound}");
        }
    }
}

#[test]
fn special_values_are_preserved() {
    // Values outside of the limits: within the bound of them, and far away.
    for fill in [-0.01f32, -999.0, 1e20] {
        let mut values = fractions();
        for i in (0..values.len()).step_by(97) {
            values[i] = fill;
        }
        values[1] = f32::INFINITY;
        values[2] = f32::NEG_INFINITY;
        for (codec, bound) in lossy() {
            let named = Options::new(bound).codec(codec).clip(Clip::Data);
            let found = named.clone();
            let named = named.fill(f64::from(fill));
            let (_, limits) = coded(&values, &named);
            assert_eq!(limits.map(|l| l.min), Some(0.0), "{codec} {bound}");
            if fill != -0.01 {
                coded(&values, &found);
            }
        }
    }
}

#[test]
fn data_outside_of_the_limits_is_rejected() {
    let values = fractions();
    let view = View::new(&values, &SHAPE).unwrap();
    let options = Options::new(Bound::Abs(0.02)).clip(Clip::Between(0.0, 0.99));
    assert!(
        ebz::compress(&view, &options)
            .unwrap_err()
            .to_string()
            .contains("0..0.99")
    );
    // Lossless frames need no limits.
    let options = Options::new(Bound::Lossless).clip(options.clip);
    assert_eq!(coded(&values, &options).1, None);
}

#[test]
fn searches_respect_limits() {
    let values = fractions();
    for bound in [Bound::Ratio(6.0), Bound::Psnr(40.0)] {
        for clip in [Clip::Auto, Clip::Data] {
            let options = Options::new(bound)
                .codec("interp")
                .clip(clip)
                .fill(Fill::None);
            let (decoded, limits) = coded(&values, &options);
            assert_eq!(limits.map(|l| l.min), Some(0.0));
            assert!(decoded.iter().all(|&x| x >= 0.0), "{bound} {clip}");
        }
    }
}

#[test]
fn sixteen_bit_fractions_respect_limits() {
    let values: Vec<ebz::f16> = fractions()
        .into_iter()
        .map(|x| Element::from_f64(x.into()))
        .collect();
    for (codec, bound) in lossy() {
        let options = Options::new(bound).codec(codec).clip(Clip::Data);
        let (decoded, _) = coded(&values, &options);
        assert!(
            decoded
                .iter()
                .all(|x| (0.0..=1.0).contains(&Element::to_f64(*x))),
            "{codec} {bound}"
        );
    }
}
