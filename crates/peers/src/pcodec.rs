//! pcodec.

use crate::Goal;
use pco::data_types::Number;
use pco::standalone::{simple_compress, simple_decompress_into};

/// pcodec at its default level, lossless.
pub struct Pcodec;

peer!(Pcodec, "pcodec, lossless", axes: 1..=3);

fn compress<T: Number>(values: &[T], _: &[usize], _: Goal) -> Vec<u8> {
    simple_compress(values, &pco::ChunkConfig::default()).expect("pcodec compresses")
}

fn decompress<T: Number>(bytes: &[u8], _: &[usize], _: Goal, out: &mut [T]) {
    simple_decompress_into(bytes, out).expect("pcodec decompresses");
}
