//! Constant and mostly constant fields of realistic sizes with default chunks: whatever is written
//! can be read, from a file, a pipe and in regions.

use ebz::codec::{Entry, TABLE};
use ebz::{Bound, BoundKind, Element, Options, Reader, StreamReader, View};
use std::ops::Range;

/// A common fill value.
const FILL: f64 = 9.969_209_968_386_869e36;

#[derive(Debug, Clone, Copy)]
enum Content {
    Zero,
    NotANumber,
    Fill,
    /// Zero in the first half.
    LateStart,
    /// Zero but for the last value.
    OddEnd,
}

impl Content {
    fn values<T: Element>(self, count: usize) -> Vec<T> {
        let constant = match self {
            Self::NotANumber => f64::NAN,
            Self::Fill => FILL,
            _ => 0.0,
        };
        let mut values = vec![T::from_f64(constant); count];
        match self {
            Self::LateStart => {
                for (i, value) in values.iter_mut().enumerate().skip(count / 2) {
                    *value = T::from_f64((i % 1021) as f64 * 0.01);
                }
            }
            Self::OddEnd => values[count - 1] = T::from_f64(1.0),
            _ => {}
        }
        values
    }
}

/// Whether a decoded value meets the bound.
fn holds<T: Element>(bound: Bound, original: T, decoded: T) -> bool {
    if original.to_word() == decoded.to_word() {
        return true;
    }
    let (x, y) = (original.to_f64(), decoded.to_f64());
    match bound {
        Bound::Abs(e) => (x - y).abs() <= e,
        Bound::Pointwise(e) => (x - y).abs() <= e * x.abs(),
        // Bits kept: for some codecs those of a whole block.
        Bound::Precision(_) => (x - y).abs() <= 0.1,
        _ => false,
    }
}

fn round_trip<T: Element>(entry: &Entry, kind: BoundKind, shape: &[usize], content: Content) {
    let name = entry.info.name;
    let label = format!("{name} {} {kind:?} {shape:?} {content:?}", T::TYPE);
    let value = match kind {
        BoundKind::Precision => 20.0,
        BoundKind::Lossless => 0.0,
        _ => 1e-3,
    };
    let bound = Bound::new(kind, value).unwrap();
    let values = content.values::<T>(shape.iter().product());
    let options = Options::new(bound).codec(name).fill(FILL);
    let file = ebz::compress(&View::new(&values, shape).unwrap(), &options).unwrap();

    let all_hold = |decoded: &[T], originals: &[T], way: &str| {
        assert_eq!(decoded.len(), originals.len(), "{label} by {way}");
        let mut pairs = originals.iter().zip(decoded);
        let broken = pairs.position(|(x, y)| !holds(bound, *x, *y));
        assert_eq!(broken, None, "{label} by {way}");
    };
    let reader = Reader::from_source(&file[..]).unwrap();
    let decoded = reader
        .read::<T>()
        .unwrap_or_else(|e| panic!("{label}: {e}"));
    all_hold(decoded.values(), &values, "path");

    let mut raw = Vec::new();
    let mut stream = StreamReader::new(&file[..]).unwrap();
    assert!(stream.next_frame().unwrap().is_some());
    let written = stream.write_frame(&mut raw);
    written.unwrap_or_else(|e| panic!("{label} by pipe: {e}"));
    assert!(stream.next_frame().unwrap().is_none());
    assert!(
        raw == bytemuck::cast_slice::<T, u8>(decoded.values()),
        "{label}: different values from a pipe"
    );

    // The last rows, and a few values in the middle.
    let rows = shape[0] - shape[0] / 4..shape[0];
    let region: Vec<Range<usize>> = std::iter::once(rows.clone())
        .chain(shape[1..].iter().map(|&n| 0..n))
        .collect();
    let part = reader.region::<T>(&region).unwrap();
    let inner: usize = shape[1..].iter().product();
    all_hold(part.values(), &values[rows.start * inner..], "region");
    let middle: Vec<_> = shape.iter().map(|&n| n / 2..n / 2 + 1).collect();
    assert_eq!(reader.region::<T>(&middle).unwrap().values().len(), 1);

    if matches!(content, Content::Zero | Content::NotANumber | Content::Fill) {
        let chunks = reader.frame(0).unwrap().header().grid.chunks();
        assert!(file.len() < 400 + chunks * 64, "{label}: {}", file.len());
    }
}

/// Every codec × bound for one element type, alternating contents over the shapes.
fn every_codec<T: Element>(shapes: &[&[usize]]) {
    let contents = [
        Content::LateStart,
        Content::Zero,
        Content::OddEnd,
        Content::NotANumber,
        Content::Fill,
    ];
    for entry in TABLE {
        for &kind in entry.info.tolerances {
            for (number, shape) in shapes.iter().enumerate() {
                for turn in 0..2 {
                    let content = contents[(number + 2 * turn) % contents.len()];
                    round_trip::<T>(entry, kind, shape, content);
                }
            }
        }
    }
}

const SHAPES: [&[usize]; 5] = [
    &[4, 1024, 1024],
    &[1448, 1448],
    &[4_000_000],
    &[118, 118, 120],
    &[1_600_000],
];

#[test]
fn single_precision() {
    every_codec::<f32>(&SHAPES);
}

#[test]
fn double_precision() {
    every_codec::<f64>(&SHAPES);
}

#[test]
fn sixteen_bits() {
    every_codec::<ebz::f16>(&SHAPES[..2]);
    every_codec::<ebz::bf16>(&SHAPES[2..3]);
}

#[test]
fn a_large_field() {
    for codec in ["fz", "ceaz", "interp"] {
        let entry = ebz::codec::by_name(codec).unwrap();
        for content in [Content::Zero, Content::OddEnd, Content::LateStart] {
            round_trip::<f32>(entry, BoundKind::Abs, &[30, 721, 1440], content);
        }
    }
}
