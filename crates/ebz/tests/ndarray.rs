//! Arrays of the `ndarray` crate are taken without copying.
#![cfg(feature = "ndarray")]

use ebz::{Bound, Options, View};
use ndarray::{Array3, ShapeBuilder, s};

#[test]
fn every_memory_order_gives_the_same_file() {
    let value = |(z, y, x): (usize, usize, usize)| (z * 100 + y * 10 + x) as f32;
    let options = Options::new(Bound::Lossless);
    let compress = |view: View<'_, f32>| ebz::compress(&view, &options).unwrap();
    let c_order = Array3::from_shape_fn((4, 5, 6), value);
    let fortran = Array3::from_shape_fn((4, 5, 6).f(), value);
    let expected = compress(c_order.view().try_into().unwrap());
    assert_eq!(compress(fortran.view().try_into().unwrap()), expected);
    let backwards = c_order.slice(s![.., ..;-1, ..]);
    let copied = backwards.to_owned();
    let as_copied = compress(copied.view().try_into().unwrap());
    assert_eq!(compress(backwards.try_into().unwrap()), as_copied);
    let gaps = c_order.slice(s![.., .., ..;2]);
    assert!(View::try_from(gaps).is_err());
}
