//! Shapes, strides, chunks and regions against their definitions.

pub use crate::chunks::word_seeds;
use crate::{choose, up_to};
use arbitrary::Unstructured;
use ebz::{Bound, ElementType, Options, Reader, View};
use std::ops::Range;

/// Indices of an array in C order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &extent| {
        let longer = |index: &Vec<usize>| {
            let index = index.clone();
            (0..extent).map(move |i| [&index[..], &[i]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

/// Any extents and strides: a view is accepted if all of its values lie in the memory, and has
/// these values.
pub fn views(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let axes = up_to(&mut input, 4);
    let shape: Vec<_> = (0..axes).map(|_| up_to(&mut input, 6)).collect();
    let mut stride = || match up_to(&mut input, 15) {
        0 => input.arbitrary().unwrap_or(0),
        _ => up_to(&mut input, 60) as isize - 30,
    };
    let strides: Vec<isize> = (0..axes).map(|_| stride()).collect();
    let offset = up_to(&mut input, 300);
    let memory: Vec<f32> = (0..up_to(&mut input, 300)).map(|i| i as f32).collect();
    let place = |index: &Vec<usize>| {
        let steps = index.iter().zip(&strides);
        let steps = steps.map(|(&i, &stride)| i as i128 * stride as i128);
        usize::try_from(offset as i128 + steps.sum::<i128>()).ok()
    };
    let expected: Option<Vec<f32>> = indices(&shape)
        .iter()
        .map(|index| memory.get(place(index)?).copied())
        .collect();
    let found = View::strided(&memory, &shape, &strides, offset);
    let found = found.ok().map(|view| view.to_contiguous().into_owned());
    let empty = shape.contains(&0);
    assert!(found == expected || empty, "{shape:?} {strides:?} {offset}");
}

/// Any extents, chunks and regions: a valid region has the values of the array, any other is an
/// error.
pub fn regions(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let axes = up_to(&mut input, 4);
    let shape: Vec<_> = (0..axes).map(|_| up_to(&mut input, 7)).collect();
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let mut options = Options::new(Bound::Lossless).codec(*choose(&mut input, &["raw", "fz"]));
    options.threads = 1;
    if up_to(&mut input, 3) > 0 {
        let extents: Vec<_> = shape.iter().map(|_| up_to(&mut input, 8)).collect();
        options.chunk = Some(extents);
    }
    let view = View::new(&values, &shape).expect("as many values as the shape has");
    let Ok(file) = ebz::compress(&view, &options) else {
        let chunk = options.chunk.expect("only extents can be wrong");
        assert!(chunk.contains(&0), "{shape:?} {chunk:?}");
        return;
    };
    let reader = Reader::from_source(&file[..]).expect("a file").threads(1);
    let frame = reader.frame(0).expect("a frame");
    for _ in 0..4 {
        let axes = match up_to(&mut input, 15) {
            0 => up_to(&mut input, 5),
            _ => axes,
        };
        let mut end = |most: usize| match up_to(&mut input, 31) {
            0 => input.arbitrary().unwrap_or(0),
            _ => up_to(&mut input, most),
        };
        let extent = |axis: usize| shape.get(axis).copied().unwrap_or(1);
        let region: Vec<Range<usize>> = (0..axes)
            .map(|axis| end(extent(axis))..end(extent(axis) + 1))
            .collect();
        let inside = |(range, &extent): (&Range<usize>, &usize)| {
            range.start <= range.end && range.end <= extent
        };
        let valid = axes == shape.len() && region.iter().zip(&shape).all(inside);
        let found = frame.region::<f32>(&region);
        assert_eq!(found.is_ok(), valid, "{shape:?} {region:?}");
        assert_eq!(frame.places(&region).is_ok(), valid);
        let mut raw = Vec::new();
        assert_eq!(frame.write_region(&region, &mut raw).is_ok(), valid);
        let Ok(found) = found else { continue };
        let within = |index: &Vec<usize>| {
            let mut ranges = region.iter().zip(index);
            ranges.all(|(range, i)| range.contains(i))
        };
        let all = indices(&shape);
        let expected = all.iter().zip(&values).filter(|(index, _)| within(index));
        let expected: Vec<f32> = expected.map(|(_, &value)| value).collect();
        assert_eq!(found.values(), expected, "{shape:?} {region:?}");
        assert_eq!(bytemuck::cast_slice::<f32, u8>(&expected), raw);
    }
    let shape: Vec<usize> = (0..axes).map(|_| input.arbitrary().unwrap_or(0)).collect();
    let _ = ebz::element_count(&shape);
    let _ = ebz::max_compressed_size(&shape, ElementType::F64, &options);
}
