//! `zfp-rs`, zfp in Rust.

use crate::Goal;
use zfp_rs::{
    ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpConfig, ZfpDimensionality, ZfpExecution, ZfpField,
    ZfpFieldMut, ZfpScalar, ZfpStreamAlignment,
};

/// `zfp-rs`, one thread.
pub struct ZfpRust;

peer!(ZfpRust, "zfp-rs", axes: 1..=3);

fn config<T: ZfpScalar>(goal: Goal, dims: &[usize]) -> ZfpConfig {
    match goal {
        Goal::Abs(e) => ZfpConfig::fixed_accuracy(e),
        Goal::Planes(n) => ZfpConfig::fixed_precision(n),
        Goal::Rate(bits) => {
            let axes = match dims.len() {
                1 => ZfpDimensionality::D1,
                2 => ZfpDimensionality::D2,
                _ => ZfpDimensionality::D3,
            };
            let align = ZfpStreamAlignment::Unaligned;
            ZfpConfig::fixed_rate(bits, T::SCALAR_TYPE, axes, align).expect("a possible rate")
        }
    }
}

fn compress<T: ZfpScalar>(values: &[T], dims: &[usize], goal: Goal) -> Vec<u8> {
    let field = match *dims {
        [x] => ZfpField::new(values, [x]),
        [y, x] => ZfpField::new(values, [x, y]),
        [z, y, x] => ZfpField::new(values, [x, y, z]),
        _ => panic!("one to three axes, not {}", dims.len()),
    }
    .expect("extents fit the values");
    let mut buffer = vec![0; (size_of_val(values) * 5 / 4 + 4096).next_multiple_of(8)];
    let size = ZfpBitStreamRefMut::from_bytes(&mut buffer)
        .expect("a buffer of whole words")
        .compress_with_execution(&config::<T>(goal, dims), &field, ZfpExecution::Serial)
        .expect("zfp-rs compresses");
    buffer.truncate(size);
    buffer
}

fn decompress<T: ZfpScalar>(bytes: &[u8], dims: &[usize], goal: Goal, out: &mut [T]) {
    let mut field = match *dims {
        [x] => ZfpFieldMut::new(out, [x]),
        [y, x] => ZfpFieldMut::new(out, [x, y]),
        [z, y, x] => ZfpFieldMut::new(out, [x, y, z]),
        _ => panic!("one to three axes, not {}", dims.len()),
    }
    .expect("extents fit the values");
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(8) + 8, 0);
    ZfpBitStreamRef::from_bytes(&padded)
        .expect("a buffer of whole words")
        .decompress_with_execution(&config::<T>(goal, dims), &mut field, ZfpExecution::Serial)
        .expect("zfp-rs decompresses");
}
