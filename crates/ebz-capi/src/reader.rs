//! Reading files, whole or in regions.

use crate::EBZ_MAX_AXES;
use crate::array::{Layout, element, list};
use crate::status::{Failure, required, required_mut, run, text};
use ebz::{Bound, Reader, Source, with_type};
use std::ffi::{c_char, c_void};
use std::fs::File;

/// A file open for reading; see ebz_reader_open.
#[expect(non_camel_case_types, reason = "the name in C")]
pub struct ebz_reader(Reader<File>);

/// Description of an array in a stream or a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ebz_info {
    /// EBZ_F16, EBZ_BF16, EBZ_F32 or EBZ_F64.
    pub r#type: i32,
    /// Kind of the error bound that every value meets: EBZ_ABS, EBZ_POINTWISE, EBZ_PRECISION or
    /// EBZ_LOSSLESS.
    pub bound: i32,
    /// That bound.
    pub value: f64,
    /// Number of axes.
    pub axes: usize,
    /// Extents, slowest axis first.
    pub shape: [usize; EBZ_MAX_AXES],
    /// Uncompressed size of the array in bytes.
    pub raw_size: u64,
    /// Size of the array in the file in bytes.
    pub stored_size: u64,
}

impl ebz_info {
    pub(crate) fn of<S: Source>(reader: &Reader<S>, frame: usize) -> Result<Self, Failure> {
        let frame = reader.frame(frame)?;
        let header = frame.header();
        let bound = Bound::from(header.tolerance);
        let mut shape = [0; EBZ_MAX_AXES];
        for (to, from) in shape.iter_mut().zip(header.shape()) {
            *to = *from;
        }
        Ok(Self {
            r#type: header.element as i32,
            bound: bound.kind() as i32,
            value: bound.value(),
            axes: header.shape().len(),
            shape,
            raw_size: header.raw_bytes() as u64,
            stored_size: frame.stored_bytes(),
        })
    }
}

/// Opens a file for reading. With 0 threads, reads use all cores.
///
/// # Safety
/// `path` is a C string, `reader` is valid for a write, `message` for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_reader_open(
    path: *const c_char,
    threads: usize,
    reader: *mut *mut ebz_reader,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let out = required_mut(reader, "reader")?;
            let opened = Reader::open(text(path, "the path")?)?.threads(threads);
            *out = Box::into_raw(Box::new(ebz_reader(opened)));
            Ok(())
        })
    }
}

/// Returns the number of arrays (frames) in a file; 0 for null.
///
/// # Safety
/// `reader` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_reader_frames(reader: *const ebz_reader) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { reader.as_ref() }.map_or(0, |reader| reader.0.frames())
}

/// Describes an array of the file, counted from 0.
///
/// # Safety
/// `reader` is valid, `info` is valid for a write, `message` for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_reader_info(
    reader: *const ebz_reader,
    frame: usize,
    info: *mut ebz_info,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let reader = &required(reader, "reader")?.0;
            *required_mut(info, "info")? = ebz_info::of(reader, frame)?;
            Ok(())
        })
    }
}

/// Reads the region of an array that begins at `start` and has the extents `shape` into the
/// caller's memory; only the chunks that intersect it are decoded. A null `start` means the first
/// element.
///
/// # Safety
/// `reader` is valid; `shape` points to `axes` numbers, and so do `start` and `strides` unless they
/// are null; `values` points to the first element of such an array, to be written; `message` is
/// valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_reader_read(
    reader: *const ebz_reader,
    frame: usize,
    r#type: i32,
    axes: usize,
    start: *const usize,
    shape: *const usize,
    strides: *const isize,
    values: *mut c_void,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let layout = Layout::new(axes, shape, strides)?;
            let start = match start.is_null() {
                true => vec![0; axes],
                false => list(start, axes, "start")?,
            };
            let ends = start.iter().zip(layout.shape());
            let region: Option<Vec<_>> = ends
                .map(|(&from, &extent)| Some(from..from.checked_add(extent)?))
                .collect();
            let region = region.ok_or_else(|| Failure::invalid("the region is too large"))?;
            let frame = required(reader, "reader")?.0.frame(frame)?;
            with_type!(element(r#type)?, T => {
                frame.region_into::<T>(&region, &mut layout.view_mut(values)?)
            })?;
            Ok(())
        })
    }
}

/// Closes a reader; null is allowed.
///
/// # Safety
/// `reader` is null or comes from ebz_reader_open, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_reader_free(reader: *mut ebz_reader) {
    if !reader.is_null() {
        // SAFETY: made by `Box::into_raw` in `ebz_reader_open`.
        drop(unsafe { Box::from_raw(reader) });
    }
}
