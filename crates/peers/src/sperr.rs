//! SPERR.

use crate::Goal;
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3};
use sperr::{CompressionMode, Element};

/// SPERR, on arrays of two or three axes as a whole.
pub struct Sperr;

/// With larger values, such as fill values, it crashes.
const MAX_MAGNITUDE: f64 = 1e30;

peer!(Sperr, "SPERR", axes: 2..=3, most: MAX_MAGNITUDE);

fn compress<T: Element>(values: &[T], dims: &[usize], goal: Goal) -> Vec<u8> {
    let mode = match goal {
        Goal::Abs(pwe) => CompressionMode::PointwiseError { pwe },
        Goal::Rate(bpp) => CompressionMode::BitsPerPixel { bpp },
        Goal::Planes(_) => panic!("SPERR has no number of bit planes"),
    };
    let coded = match *dims {
        [y, x] => {
            let view = ArrayView2::from_shape((y, x), values).expect("extents fit the values");
            sperr::compress_2d(view, mode)
        }
        [z, y, x] => {
            let view = ArrayView3::from_shape((z, y, x), values).expect("extents fit the values");
            sperr::compress_3d(view, mode, (z, y, x))
        }
        _ => panic!("two or three axes, not {}", dims.len()),
    };
    coded.expect("SPERR compresses")
}

fn decompress<T: Element>(bytes: &[u8], dims: &[usize], _: Goal, out: &mut [T]) {
    let done = match *dims {
        [y, x] => {
            let view = ArrayViewMut2::from_shape((y, x), out).expect("extents fit the values");
            sperr::decompress_into_2d(bytes, view)
        }
        [z, y, x] => {
            let view = ArrayViewMut3::from_shape((z, y, x), out).expect("extents fit the values");
            sperr::decompress_into_3d(bytes, view)
        }
        _ => panic!("two or three axes, not {}", dims.len()),
    };
    done.expect("SPERR decompresses");
}
