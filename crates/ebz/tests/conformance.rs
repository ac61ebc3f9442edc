//! Every codec of the table × element type × shape × content × tolerance, at chunk and file level.

use ebz::codec::{Entry, TABLE};
use ebz::{Bound, Element, ElementType, Options, bf16, f16, with_type};
use ebz_testkit::conformance::{self, Cases, Checker};
use ebz_testkit::fields::{AnyField, Content, Field, shared_fields};

/// Chunk shapes: lengths around block and vector sizes, primes, long and thin shapes.
const CHUNKS: &[&[usize]] = &[
    &[1],
    &[3],
    &[4],
    &[5],
    &[63],
    &[64],
    &[65],
    &[1021],
    &[1, 1],
    &[3, 5],
    &[17, 31],
    &[64, 65],
    &[1, 1009],
    &[1009, 1],
    &[2, 2, 2],
    &[5, 3, 4],
    &[16, 16, 16],
    &[11, 13, 17],
    &[2, 1, 129],
    &[129, 1, 2],
    &[3, 4, 5, 6],
    &[2, 3, 2, 3, 5],
];

/// File shapes, with empty axes and up to the maximum number of axes, and chunk extents for some.
const FILES: &[(&[usize], Option<&[usize]>)] = &[
    (&[], None),
    (&[0], None),
    (&[1], None),
    (&[7, 0, 3], None),
    (&[257], Some(&[64])),
    (&[300], None),
    (&[1, 400], Some(&[1, 63])),
    (&[400, 1], Some(&[65, 1])),
    (&[23, 29], Some(&[5, 29])),
    (&[9, 10, 11], Some(&[2, 10, 11])),
    (&[9, 10, 11], Some(&[4, 3, 5])),
    (&[3, 4, 5, 6], Some(&[1, 4, 5, 6])),
    (&[2, 3, 2, 3, 5], Some(&[2, 2, 2, 2, 2])),
    (&[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2], None),
];

fn every_type(cases: &mut Cases, entry: &Entry, shape: &[usize], content: Content) {
    for element in ElementType::ALL {
        with_type!(element, T => of::<T>(cases, entry, shape, content));
    }

    fn of<T: Element>(cases: &mut Cases, entry: &Entry, shape: &[usize], content: Content) {
        let field: Field<T> = content.field(shape, 1);
        let mut checker = Checker::default();
        for params in conformance::variants(entry) {
            for tolerance in conformance::tolerances(entry, &field) {
                let label = || {
                    let (name, element) = (conformance::name(entry, &params), T::TYPE);
                    format!("{name} {element} {shape:?} {content:?} {tolerance:?}")
                };
                cases.case(label, || checker.chunk(entry, &params, &field, tolerance));
            }
        }
    }
}

#[test]
fn small_chunks_conform() {
    let mut cases = Cases::default();
    for entry in TABLE {
        for shape in CHUNKS {
            for content in Content::ALL {
                every_type(&mut cases, entry, shape, content);
            }
        }
    }
    cases.finish("small chunks");
}

#[test]
fn large_chunks_conform() {
    let mut cases = Cases::default();
    for entry in TABLE {
        for shape in [&[40_009][..], &[150, 257], &[33, 35, 37]] {
            for content in [
                Content::Smooth,
                Content::Noise,
                Content::Specials,
                Content::FillHuge,
            ] {
                every_type(&mut cases, entry, shape, content);
            }
        }
    }
    cases.finish("large chunks");
}

#[test]
fn files_conform() {
    fn of<T: Element>(cases: &mut Cases, entry: &Entry) {
        let bounds = [
            Bound::Abs(1e-2),
            Bound::Abs(0.0),
            Bound::Range(1e-3),
            Bound::Range(1e-17),
            Bound::Range(0.0),
            Bound::Pointwise(1e-3),
            Bound::Pointwise(0.0),
            Bound::Precision(12),
            Bound::Lossless,
        ];
        let contents = [
            Content::Smooth,
            Content::Specials,
            Content::FillHuge,
            Content::DynamicRange,
        ];
        for bound in bounds {
            if !entry.offers(bound.kind()) {
                continue;
            }
            for (shape, chunk) in FILES {
                for content in contents {
                    let field: Field<T> = content.field(shape, 2);
                    let mut options = Options::new(bound).codec(entry.info.name);
                    options.chunk = chunk.map(<[usize]>::to_vec);
                    let label = || {
                        let (name, element) = (entry.info.name, T::TYPE);
                        format!("{name} {element} {shape:?} by {chunk:?} {content:?} {bound}")
                    };
                    cases.case(label, || conformance::file(&field, &options));
                }
            }
        }
    }
    let mut cases = Cases::default();
    for entry in TABLE {
        for element in ElementType::ALL {
            with_type!(element, T => of::<T>(&mut cases, entry));
        }
    }
    cases.finish("files");
}

#[test]
fn real_fields_keep_their_bounds() {
    fn of<T: Element>(cases: &mut Cases, field: &Field<T>) {
        for entry in TABLE {
            for bound in [
                Bound::Range(1e-3),
                Bound::Range(1e-5),
                Bound::Pointwise(1e-3),
                Bound::Lossless,
            ] {
                if !entry.offers(bound.kind()) {
                    continue;
                }
                for params in conformance::variants(entry) {
                    let mut options = Options::new(bound).codec(entry.info.name);
                    let name = conformance::name(entry, &params);
                    options.params = params;
                    let label = || format!("{name} {} {bound}", field.name);
                    cases.case(label, || conformance::file(field, &options));
                }
            }
        }
    }
    let mut fields = shared_fields().unwrap();
    println!("{} real fields", fields.len());
    // Plus synthetic fields of several chunks, so that the check also runs without real data.
    fields.push(AnyField::F32(Content::Waves.field(&[40, 150, 200], 3)));
    fields.push(AnyField::F64(Content::Smooth.field(&[700, 1001], 3)));
    let mut cases = Cases::default();
    for field in &fields {
        match field {
            AnyField::F32(field) => {
                of(&mut cases, field);
                of(&mut cases, &field.rounded::<f16>());
                of(&mut cases, &field.rounded::<bf16>());
            }
            AnyField::F64(field) => of(&mut cases, field),
        }
    }
    cases.finish("real fields");
}

#[test]
fn codec_descriptions_are_unique_and_complete() {
    for (i, entry) in TABLE.iter().enumerate() {
        let info = &entry.info;
        for other in &TABLE[..i] {
            assert_ne!(info.id, other.info.id);
            assert_ne!(info.name, other.info.name);
        }
        assert!(
            !info.tolerances.is_empty(),
            "{} supports no bound",
            info.name
        );
        assert!(!info.summary.is_empty());
        let unknown = Options::new(Bound::Lossless)
            .codec(info.name)
            .param("no such", "1");
        assert!(
            unknown.check().is_err(),
            "{} accepts an unknown parameter",
            info.name
        );
    }
}
