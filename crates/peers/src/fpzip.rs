//! fpzip.

use crate::Goal;
use fpzip_sys as fpzip;
use std::ffi::c_int;

/// fpzip at full precision, lossless.
pub struct Fpzip;

peer!(Fpzip, "fpzip, lossless", axes: 1..=3);

/// Describes an array to fpzip.
///
/// # Safety
/// `stream` must be an open stream of fpzip.
unsafe fn describe<T>(stream: *mut fpzip::FPZ, dims: &[usize]) {
    let extent = |from_last: usize| {
        let extent = dims.iter().rev().nth(from_last).copied().unwrap_or(1);
        c_int::try_from(extent).expect("an extent that fpzip supports")
    };
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*stream).type_ = match size_of::<T>() {
            4 => fpzip::FPZIP_TYPE_FLOAT as c_int,
            _ => fpzip::FPZIP_TYPE_DOUBLE as c_int,
        };
        (*stream).prec = 0;
        (*stream).nx = extent(0);
        (*stream).ny = extent(1);
        (*stream).nz = extent(2);
        (*stream).nf = 1;
    }
}

fn compress<T>(values: &[T], dims: &[usize], _: Goal) -> Vec<u8> {
    assert_eq!(dims.iter().product::<usize>(), values.len());
    let mut buffer = vec![0u8; size_of_val(values) * 5 / 4 + 4096];
    // SAFETY: fpzip writes at most as many bytes as it is told, and reads values of the given extents,
    // which are those of the slice.
    let size = unsafe {
        let stream = fpzip::fpzip_write_to_buffer(buffer.as_mut_ptr().cast(), buffer.len());
        describe::<T>(stream, dims);
        let size = fpzip::fpzip_write(stream, values.as_ptr().cast());
        fpzip::fpzip_write_close(stream);
        size
    };
    assert!(size > 0, "fpzip could not compress");
    buffer.truncate(size);
    buffer
}

fn decompress<T>(bytes: &[u8], dims: &[usize], _: Goal, out: &mut [T]) {
    assert_eq!(dims.iter().product::<usize>(), out.len());
    // fpzip reads a few bytes ahead.
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len() + 64, 0);
    // SAFETY: the bytes were written by fpzip for these extents, which are those of the slice.
    let size = unsafe {
        let stream = fpzip::fpzip_read_from_buffer(padded.as_ptr().cast());
        describe::<T>(stream, dims);
        let size = fpzip::fpzip_read(stream, out.as_mut_ptr().cast());
        fpzip::fpzip_read_close(stream);
        size
    };
    assert!(size > 0, "fpzip could not decompress");
}
