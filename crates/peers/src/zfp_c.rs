//! zfp's C library.

use crate::Goal;
use std::ffi::c_void;
use zfp_sys as zfp;

/// zfp 1.0 in C, one thread.
pub struct ZfpC;

peer!(ZfpC, "zfp (C)", axes: 1..=3);

/// zfp's name of an element type.
const fn kind<T>() -> zfp::zfp_type {
    match size_of::<T>() {
        4 => zfp::zfp_type_zfp_type_float,
        _ => zfp::zfp_type_zfp_type_double,
    }
}

/// A field over `data` and a stream with the goal set; both are zfp's to free.
fn set_up(
    data: *mut c_void,
    len: usize,
    kind: zfp::zfp_type,
    dims: &[usize],
    goal: Goal,
) -> (*mut zfp::zfp_field, *mut zfp::zfp_stream) {
    assert_eq!(dims.iter().product::<usize>(), len);
    // SAFETY: zfp only stores the pointer and the extents, which fit the data as just checked.
    let field = unsafe {
        match *dims {
            [x] => zfp::zfp_field_1d(data, kind, x),
            [y, x] => zfp::zfp_field_2d(data, kind, x, y),
            [z, y, x] => zfp::zfp_field_3d(data, kind, x, y, z),
            _ => panic!("one to three axes, not {}", dims.len()),
        }
    };
    // SAFETY: a stream without a buffer may be made and configured.
    let stream = unsafe { zfp::zfp_stream_open(std::ptr::null_mut()) };
    match goal {
        // SAFETY: the stream was just made.
        Goal::Abs(e) => unsafe {
            zfp::zfp_stream_set_accuracy(stream, e);
        },
        // SAFETY: the stream was just made.
        Goal::Planes(n) => unsafe {
            zfp::zfp_stream_set_precision(stream, n);
        },
        // SAFETY: the stream was just made.
        Goal::Rate(bits) => unsafe {
            zfp::zfp_stream_set_rate(stream, bits, kind, dims.len() as u32, 0);
        },
    }
    (field, stream)
}

fn compress<T>(values: &[T], dims: &[usize], goal: Goal) -> Vec<u8> {
    let data = values.as_ptr().cast_mut().cast();
    let (field, stream) = set_up(data, values.len(), kind::<T>(), dims, goal);
    // SAFETY: field and stream are valid; the buffer is as large as zfp says it can get, outlives
    // its use, and the data is only read.
    unsafe {
        let mut buffer = vec![0u8; zfp::zfp_stream_maximum_size(stream, field)];
        let bits = zfp::stream_open(buffer.as_mut_ptr().cast(), buffer.len());
        zfp::zfp_stream_set_bit_stream(stream, bits);
        zfp::zfp_stream_rewind(stream);
        let size = zfp::zfp_compress(stream, field);
        zfp::zfp_field_free(field);
        zfp::zfp_stream_close(stream);
        zfp::stream_close(bits);
        assert!(size > 0, "zfp could not compress");
        buffer.truncate(size);
        buffer
    }
}

fn decompress<T>(bytes: &[u8], dims: &[usize], goal: Goal, out: &mut [T]) {
    let data = out.as_mut_ptr().cast();
    let (field, stream) = set_up(data, out.len(), kind::<T>(), dims, goal);
    // zfp reads whole words.
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(8) + 8, 0);
    // SAFETY: field and stream are valid, the field's extents fit the output, and the buffer was
    // written by zfp with the same goal.
    unsafe {
        let bits = zfp::stream_open(padded.as_mut_ptr().cast(), padded.len());
        zfp::zfp_stream_set_bit_stream(stream, bits);
        zfp::zfp_stream_rewind(stream);
        let size = zfp::zfp_decompress(stream, field);
        zfp::zfp_field_free(field);
        zfp::zfp_stream_close(stream);
        zfp::stream_close(bits);
        assert!(size > 0, "zfp could not decompress");
    }
}
