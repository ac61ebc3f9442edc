//! Codec `auto`: what it chooses is what the codec of that name writes, and the choice depends on values only.

use ebz::codec::{AUTO, TABLE};
use ebz::simd::Level;
use ebz::slab::FramePlan;
use ebz::{
    Bound, BoundKind, Element, Error, Favor, Options, Tolerance, View, Writer, bf16, f16,
    max_compressed_size,
};
use ebz_testkit::fields::{Content, Field};

const SHAPE: [usize; 3] = [40, 50, 60];

fn bounds() -> [Bound; 6] {
    [
        Bound::Abs(1e-3),
        Bound::Range(1e-4),
        Bound::Pointwise(1e-2),
        Bound::Psnr(60.0),
        Bound::Ratio(8.0),
        Bound::Lossless,
    ]
}

fn check<T: Element>(content: Content) {
    let field: Field<T> = content.field(&SHAPE, 3);
    let view = View::new(&field.values, &SHAPE).unwrap();
    for bound in bounds() {
        for favor in Favor::ALL {
            let options = Options::new(bound).codec(AUTO).favor(favor).threads(1);
            let mut bytes = Vec::new();
            let Ok(stats) = ebz::compress_into(&view, &options, &mut bytes) else {
                // A ratio that noise does not allow.
                assert_eq!(bound.kind(), BoundKind::Ratio, "{content:?} {bound}");
                continue;
            };
            let choice = stats.choice.unwrap();
            let named = options.clone().codec(choice.codec);
            assert_eq!(ebz::compress(&view, &named).unwrap(), bytes, "{choice}");
            assert_eq!(ebz::choose(&view, &options).unwrap(), choice);
            assert!(bytes.len() <= max_compressed_size(&SHAPE, T::TYPE, &options).unwrap());
            ebz::decompress::<T>(&bytes).unwrap();
        }
    }
}

#[test]
fn files_are_those_of_the_codec_that_is_chosen() {
    for content in [Content::Smooth, Content::Noise, Content::Specials] {
        check::<f32>(content);
        check::<f64>(content);
    }
    check::<f16>(Content::Smooth);
    check::<bf16>(Content::Smooth);
}

#[test]
fn the_choice_depends_on_values_only() {
    let field: Field<f32> = Content::Smooth.field(&SHAPE, 3);
    let view = View::new(&field.values, &SHAPE).unwrap();
    for favor in Favor::ALL {
        let options = Options::new(Bound::Range(1e-3)).codec(AUTO).favor(favor);
        let bytes = ebz::compress(&view, &options).unwrap();
        for threads in [1, 3] {
            for simd in Level::available() {
                let other = options.clone().threads(threads).simd(simd);
                assert_eq!(
                    ebz::compress(&view, &other).unwrap(),
                    bytes,
                    "{threads} {simd:?}"
                );
            }
        }
        // The same values in another order of memory.
        let mut turned = vec![0.0; field.values.len()];
        let [z, y, x] = SHAPE;
        for (i, &value) in field.values.iter().enumerate() {
            let (k, j, i) = (i / (y * x), i / x % y, i % x);
            turned[i * y * z + j * z + k] = value;
        }
        let strides = [1, z as isize, (y * z) as isize];
        let strided = View::strided(&turned, &SHAPE, &strides, 0).unwrap();
        assert_eq!(ebz::compress(&strided, &options).unwrap(), bytes);
    }
}

#[test]
fn small_and_odd_arrays_are_taken() {
    for shape in [
        &[][..],
        &[0],
        &[1],
        &[3, 0, 2],
        &[7],
        &[1, 1, 1, 5],
        &[3, 5, 2, 4, 6],
    ] {
        let count: usize = shape.iter().product();
        let values: Vec<f64> = (0..count).map(|i| (i as f64).sin()).collect();
        let view = View::new(&values, shape).unwrap();
        for bound in bounds() {
            let options = Options::new(bound).codec(AUTO);
            match ebz::compress(&view, &options) {
                Ok(bytes) => assert_eq!(ebz::decompress::<f64>(&bytes).unwrap().shape(), shape),
                Err(error) => assert_eq!(bound.kind(), BoundKind::Ratio, "{shape:?}: {error}"),
            }
        }
    }
}

#[test]
fn the_smallest_wins_where_only_size_counts() {
    // All of the array is its own sample.
    let field: Field<f64> = Content::Smooth.field(&[24, 24, 24], 3);
    let view = View::new(&field.values, &[24, 24, 24]).unwrap();
    let options = Options::new(Bound::Abs(1e-3))
        .codec(AUTO)
        .favor(Favor::Ratio);
    let bytes = ebz::compress(&view, &options).unwrap().len();
    let able = TABLE.iter().filter(|entry| entry.offers(BoundKind::Abs));
    let sizes = able.map(|entry| {
        ebz::compress(&view, &options.clone().codec(entry.info.name))
            .unwrap()
            .len()
    });
    assert_eq!(Some(bytes), sizes.min());
}

#[test]
fn what_cannot_be_chosen_is_said() {
    let values = [1.0f32; 100];
    let view = View::new(&values, &[100]).unwrap();
    let auto = |bound| Options::new(bound).codec(AUTO);
    let precision = ebz::compress(&view, &auto(Bound::Precision(9)));
    assert!(matches!(precision, Err(Error::Unsupported(text)) if text.contains("precision")));
    let params = ebz::compress(&view, &auto(Bound::Abs(1.0)).param("mode", "isotropic"));
    assert!(matches!(params, Err(Error::InvalidArgument(text)) if text.contains("name it")));
    // Streams and parts of frames do not show the whole array.
    let options = auto(Bound::Abs(1.0));
    let plan = FramePlan::new::<f32>(&[100], Tolerance::Abs(1.0), &options);
    assert!(matches!(plan, Err(Error::InvalidArgument(text)) if text.contains("auto")));
    let mut writer = Writer::new(Vec::new(), options).unwrap();
    let stream = writer.frame_from::<f32>(&mut &[0u8; 400][..], &[100], None);
    assert!(matches!(stream, Err(Error::InvalidArgument(text)) if text.contains("auto")));
    assert!("taste".parse::<Favor>().is_err());
}

#[test]
fn hdf5_keeps_the_wish() {
    for favor in Favor::ALL {
        let options = Options::new(Bound::Abs(0.1)).codec(AUTO).favor(favor);
        let words = ebz::hdf5::to_words(&options).unwrap();
        let (again, rest) = ebz::hdf5::from_words(&words).unwrap();
        assert_eq!(
            (again.codec.as_str(), again.favor, rest.len()),
            (AUTO, favor, 0)
        );
    }
}
