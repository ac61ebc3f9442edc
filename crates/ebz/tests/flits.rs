//! Streams of hardware cores end with whole flits: zeros up to 16 bytes follow the last bit.

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::{FillValues, Tolerance};

/// A codec, its parameters, and the offset of the length of the last stream in a chunk of one segment.
const CODECS: [(&str, &[[&str; 2]], usize); 3] = [
    ("fre", &[["lanes", "1"]], 4),
    ("de-zfp", &[], 21),
    ("zfp-v", &[], 21),
];

const DIMS: Dims = Dims {
    nz: 8,
    ny: 12,
    nx: 20,
};

fn values() -> Vec<f32> {
    (0..DIMS.len()).map(|i| (i as f32 * 0.01).sin()).collect()
}

/// A chunk, and the same one as a function of the bytes after its last stream.
fn chunk(codec: &str, keys: &[[&str; 2]], length: usize) -> (Vec<u8>, impl Fn(&[u8]) -> Vec<u8>) {
    let mut params = Params::default();
    keys.iter().for_each(|&[key, value]| params.set(key, value));
    let task = Task {
        dims: DIMS,
        tolerance: Tolerance::Precision(9),
        fill: FillValues::NONE,
        params: &params,
    };
    let mut body = Vec::new();
    by_name(codec)
        .unwrap()
        .encode(&values(), &task, &mut Context::default(), &mut body)
        .unwrap();
    let plain = body.clone();
    let extended = move |more: &[u8]| {
        let mut body = [&body, more].concat();
        let place = &mut body[length..length + 4];
        let bytes = u32::from_le_bytes(place.try_into().unwrap()) + more.len() as u32;
        place.copy_from_slice(&bytes.to_le_bytes());
        body
    };
    (plain, extended)
}

fn decoded(codec: &str, body: &[u8]) -> ebz::Result<Vec<f32>> {
    let mut out = vec![0.0; DIMS.len()];
    let codec = by_name(codec)?;
    codec.decode(body, DIMS, &mut Context::default(), &mut out)?;
    Ok(out)
}

#[test]
fn zeros_up_to_a_flit_are_skipped() {
    for (codec, keys, length) in CODECS {
        let (plain, extended) = chunk(codec, keys, length);
        let expected = decoded(codec, &plain).unwrap();
        for zeros in 0..16 {
            let body = extended(&vec![0; zeros]);
            assert_eq!(decoded(codec, &body).unwrap(), expected, "{codec}, {zeros}");
        }
    }
}

#[test]
fn anything_else_after_a_stream_is_an_error() {
    for (codec, keys, length) in CODECS {
        let (_, extended) = chunk(codec, keys, length);
        for more in [&[0; 16][..], &[1], &[0, 0, 0, 128]] {
            assert!(
                decoded(codec, &extended(more)).is_err(),
                "{codec}, {more:?}"
            );
        }
    }
    // Streams of the codec's own layout have their exact length.
    let (_, extended) = chunk("fre", &[], 4);
    assert!(decoded("fre", &extended(&[0])).is_err());
}
