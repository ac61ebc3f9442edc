//! Writing files, frame by frame.

use crate::array::{Layout, element};
use crate::options::ebz_options;
use crate::status::{Failure, required, required_mut, run, text};
use ebz::{Error, Options, Writer, with_type};
use std::ffi::{c_char, c_void};
use std::fs::File;

/// A file open for writing; see ebz_writer_create.
#[expect(non_camel_case_types, reason = "the name in C")]
pub struct ebz_writer(Writer<File>);

/// Creates a file, replacing an existing one. The options are copied.
///
/// # Safety
/// `path` is a C string, `options` is valid, `writer` is valid for a write, `message` for a write
/// or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_writer_create(
    path: *const c_char,
    options: *const ebz_options,
    writer: *mut *mut ebz_writer,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { begin(path, options, writer, message, Writer::create) }
}

/// Opens a complete file to append arrays. The options are copied.
///
/// # Safety
/// As ebz_writer_create.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_writer_append(
    path: *const c_char,
    options: *const ebz_options,
    writer: *mut *mut ebz_writer,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { begin(path, options, writer, message, Writer::append) }
}

/// # Safety
/// As ebz_writer_create.
unsafe fn begin(
    path: *const c_char,
    options: *const ebz_options,
    writer: *mut *mut ebz_writer,
    message: *mut *mut c_char,
    open: impl FnOnce(&'static str, Options) -> Result<Writer<File>, Error>,
) -> i32 {
    // SAFETY: guaranteed by the caller; the path is only used during this call.
    unsafe {
        run(message, || {
            let out = required_mut(writer, "writer")?;
            let options = required(options, "options")?.0.clone();
            let opened = open(text(path, "the path")?, options)?;
            *out = Box::into_raw(Box::new(ebz_writer(opened)));
            Ok(())
        })
    }
}

/// Writes an array as the next frame of the file.
///
/// # Safety
/// `writer` is valid; `shape` points to `axes` numbers, and so does `strides` or it is null;
/// `values` points to the first element of such an array; `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_writer_frame(
    writer: *mut ebz_writer,
    r#type: i32,
    axes: usize,
    shape: *const usize,
    strides: *const isize,
    values: *const c_void,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let layout = Layout::new(axes, shape, strides)?;
            let writer = &mut required_mut(writer, "writer")?.0;
            with_type!(element(r#type)?, T => writer.frame(&layout.view::<T>(values)?))?;
            Ok(())
        })
    }
}

/// Completes the file and frees the writer, even if that fails.
///
/// # Safety
/// `writer` is null or comes from ebz_writer_create or ebz_writer_append, and is not used afterwards;
/// `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_writer_finish(
    writer: *mut ebz_writer,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            if writer.is_null() {
                return Err(Failure::invalid("writer is null"));
            }
            Box::from_raw(writer).0.finish()?;
            Ok(())
        })
    }
}

/// Frees a writer without completing its file: a new file needs "ebz recover", a file that was
/// appended to keeps its complete frames. Null is allowed.
///
/// # Safety
/// `writer` is null or comes from ebz_writer_create or ebz_writer_append, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_writer_free(writer: *mut ebz_writer) {
    if !writer.is_null() {
        // SAFETY: made by `Box::into_raw` in `begin`.
        drop(unsafe { Box::from_raw(writer) });
    }
}
