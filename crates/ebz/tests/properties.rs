//! Property tests: random arrays, bounds, chunks, regions and strides.

use ebz::codec::TABLE;
use ebz::{Bound, BoundKind, Element, ElementType, Options, Reader, View, ViewMut, with_type};
use ebz_testkit::conformance;
use ebz_testkit::fields::{Content, Field};
use proptest::prelude::*;

/// A random array and options.
#[derive(Debug, Clone)]
struct Case {
    codec: &'static str,
    bound: Bound,
    content: Content,
    shape: Vec<usize>,
    chunk: Vec<usize>,
    seed: u64,
}

impl Case {
    fn field<T: Element>(&self) -> Field<T> {
        self.content.field(&self.shape, self.seed)
    }

    fn options(&self) -> Options {
        Options::new(self.bound)
            .codec(self.codec)
            .chunk(&self.chunk)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let bound = (
        0..TABLE.len(),
        any::<prop::sample::Index>(),
        -9.0..2.0f64,
        1..=64u32,
    );
    let bound = bound.prop_filter_map("a valid bound", |(codec, kind, exponent, bits)| {
        let entry = &TABLE[codec];
        let kinds: Vec<_> = BoundKind::ALL
            .into_iter()
            // These two search for an abs bound, which other cases cover.
            .filter(|&kind| !matches!(kind, BoundKind::Psnr | BoundKind::Ratio))
            .filter(|&kind| entry.offers(kind))
            .collect();
        let kind = *kind.get(&kinds);
        let value = match kind {
            BoundKind::Precision => f64::from(bits),
            _ => 10f64.powf(exponent),
        };
        Some((entry.info.name, Bound::new(kind, value).ok()?))
    });
    let axes = prop::collection::vec((0..14usize, 1..9usize), 0..5);
    let content = prop::sample::select(&Content::ALL[..]);
    (bound, content, axes, any::<u64>()).prop_map(|((codec, bound), content, axes, seed)| Case {
        codec,
        bound,
        content,
        shape: axes.iter().map(|axis| axis.0).collect(),
        chunk: axes.iter().map(|axis| axis.1).collect(),
        seed,
    })
}

/// The values of a region, one by one.
fn part<T: Element>(values: &[T], shape: &[usize], region: &[std::ops::Range<usize>]) -> Vec<u64> {
    let mut kept = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let mut rest = at;
        let inside = shape.iter().zip(region).rev().all(|(&extent, range)| {
            let index = rest % extent;
            rest /= extent;
            range.contains(&index)
        });
        if inside {
            kept.push(value.to_word());
        }
    }
    kept
}

fn words<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_word()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_array_conforms(case in cases(), element in prop::sample::select(&ElementType::ALL[..])) {
        let result = with_type!(element, T => conformance::file(&case.field::<T>(), &case.options()));
        prop_assert!(result.is_ok(), "{:?}", result);
    }

    #[test]
    fn any_region_equals_that_part_of_the_whole(case in cases(), cuts in prop::collection::vec((0.0..1.0, 0.0..1.0), 5)) {
        let field = case.field::<f32>();
        let view = View::new(&field.values, &field.shape).unwrap();
        let bytes = ebz::compress(&view, &case.options()).unwrap();
        let reader = Reader::from_source(&bytes[..]).unwrap();
        let whole = reader.read::<f32>().unwrap();
        let region: Vec<_> = field.shape.iter().zip(&cuts).map(|(&extent, &(a, b)): (_, &(f64, f64))| {
            let at = |cut: f64| (cut * (extent + 1) as f64) as usize;
            at(a.min(b))..at(a.max(b))
        }).collect();
        let read = reader.region::<f32>(&region).unwrap();
        prop_assert_eq!(words(read.values()), part(whole.values(), &field.shape, &region));
        let mut raw = Vec::new();
        reader.frame(0).unwrap().write_region(&region, &mut raw).unwrap();
        prop_assert_eq!(bytemuck::cast_slice::<f32, u8>(read.values()), &raw[..]);
    }

    #[test]
    fn strides_change_nothing(case in cases(), order in any::<u64>(), gap in 1..3usize) {
        let field = case.field::<f64>();
        let axes = field.shape.len();
        // Axes permuted in memory, with gaps, some of them reversed.
        let mut by_speed: Vec<_> = (0..axes).collect();
        by_speed.sort_by_key(|&axis| (order >> (8 * axis)) as u8);
        let (mut strides, mut offset, mut step) = (vec![0; axes], 0, gap);
        for axis in by_speed {
            let extent = field.shape[axis].max(1);
            let backwards = order >> (56 + axis) & 1 == 1;
            strides[axis] = if backwards { -(step as isize) } else { step as isize };
            offset += if backwards { step * (extent - 1) } else { 0 };
            step *= extent;
        }
        let mut memory = vec![0.5; step];
        let whole: Vec<_> = field.shape.iter().map(|&extent| 0..extent).collect();
        let flat = View::new(&field.values, &field.shape).unwrap();
        let exact = Options::new(Bound::Lossless);
        let stored = ebz::compress(&flat, &exact).unwrap();
        let mut target = ViewMut::strided(&mut memory, &field.shape, &strides, offset).unwrap();
        Reader::from_source(&stored[..]).unwrap().frame(0).unwrap().region_into(&whole, &mut target).unwrap();
        let view = View::strided(&memory, &field.shape, &strides, offset).unwrap();
        let options = case.options().fill(field.marks());
        prop_assert_eq!(ebz::compress(&view, &options).unwrap(), ebz::compress(&flat, &options).unwrap());
    }
}
