//! Compressing arrays to streams in memory, and back.

use crate::array::{Layout, element};
use crate::options::ebz_options;
use crate::reader::ebz_info;
use crate::status::{Failure, c_text, required, required_mut, run};
use ebz::{Element, Error, Reader, Writer, with_type};
use std::ffi::{c_char, c_void};

/// Computes the maximum size of the output of ebz_compress for an array of this type and shape.
///
/// # Safety
/// `options` is valid, `shape` points to `axes` numbers, `size` is valid for a write, `message` for
/// a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_max_compressed_size(
    options: *const ebz_options,
    r#type: i32,
    axes: usize,
    shape: *const usize,
    size: *mut usize,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let layout = Layout::new(axes, shape, std::ptr::null())?;
            let options = &required(options, "options")?.0;
            *required_mut(size, "size")? =
                ebz::max_compressed_size(layout.shape(), element(r#type)?, options)?;
            Ok(())
        })
    }
}

/// Compresses an array into `capacity` bytes at `out`; `size` becomes the number of bytes used. A
/// capacity of ebz_max_compressed_size is always enough.
///
/// # Safety
/// `options` is valid; `shape` points to `axes` numbers, and so does `strides` or it is null;
/// `values` points to the first element of such an array; `out` is valid for writes of `capacity`
/// bytes, `size` for a write, `message` for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_compress(
    options: *const ebz_options,
    r#type: i32,
    axes: usize,
    shape: *const usize,
    strides: *const isize,
    values: *const c_void,
    out: *mut c_void,
    capacity: usize,
    size: *mut usize,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let layout = Layout::new(axes, shape, strides)?;
            let options = &required(options, "options")?.0;
            let size = required_mut(size, "size")?;
            if capacity > isize::MAX as usize {
                return Err(Failure::invalid("the capacity exceeds the address space"));
            }
            required(out.cast::<u8>(), "out")?;
            let out = std::slice::from_raw_parts_mut(out.cast::<u8>(), capacity);
            *size =
                with_type!(element(r#type)?, T => compress::<T>(options, &layout, values, out))?;
            Ok(())
        })
    }
}

/// # Safety
/// `values` points to the first element of an array of this layout.
unsafe fn compress<T: Element>(
    options: &ebz::Options,
    layout: &Layout,
    values: *const c_void,
    out: &mut [u8],
) -> Result<usize, Failure> {
    // SAFETY: guaranteed by the caller.
    let view = unsafe { layout.view::<T>(values) }?;
    let capacity = out.len();
    let full = |error: Error| match error {
        Error::Io(e) if e.kind() == std::io::ErrorKind::WriteZero => Failure::TooSmall(format!(
            "the stream does not fit into {capacity} bytes: use ebz_max_compressed_size"
        )),
        other => other.into(),
    };
    let mut rest = out;
    Writer::write_one(&mut rest, None, options.clone(), &view).map_err(full)?;
    Ok(capacity - rest.len())
}

/// Tells which codec "auto" chooses for an array with these options, and why: `choice` becomes a
/// text that starts with its name, such as "fz for speed: ratio 6.206 on 1.56 % of the values, 6.670
/// with ceaz, in about 3 times the time", to be freed with ebz_message_free.
///
/// # Safety
/// `options` is valid; `shape` points to `axes` numbers, and so does `strides` or it is null;
/// `values` points to the first element of such an array; `choice` is valid for a write, `message`
/// for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_choose(
    options: *const ebz_options,
    r#type: i32,
    axes: usize,
    shape: *const usize,
    strides: *const isize,
    values: *const c_void,
    choice: *mut *mut c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let layout = Layout::new(axes, shape, strides)?;
            let options = required(options, "options")?.0.clone();
            let options = options.codec(ebz::codec::AUTO);
            let choice = required_mut(choice, "choice")?;
            let chosen = with_type!(element(r#type)?, T => {
                ebz::choose(&layout.view::<T>(values)?, &options)?
            });
            *choice = c_text(chosen.to_string());
            Ok(())
        })
    }
}

/// Describes the first array of a stream in memory.
///
/// # Safety
/// `bytes` is valid for reads of `size` bytes, `info` for a write, `message` for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_inspect(
    bytes: *const c_void,
    size: usize,
    info: *mut ebz_info,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let reader = Reader::from_source(stream(bytes, size)?)?;
            *required_mut(info, "info")? = ebz_info::of(&reader, 0)?;
            Ok(())
        })
    }
}

/// Decompresses the first array of a stream into the caller's memory, whose type and shape must be
/// those of the array (see ebz_inspect). With 0 threads, uses all cores.
///
/// # Safety
/// `bytes` is valid for reads of `size` bytes; `shape` points to `axes` numbers, and so does
/// `strides` or it is null; `values` points to the first element of such an array, to be written;
/// `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_decompress(
    bytes: *const c_void,
    size: usize,
    r#type: i32,
    axes: usize,
    shape: *const usize,
    strides: *const isize,
    values: *mut c_void,
    threads: usize,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let layout = Layout::new(axes, shape, strides)?;
            let reader = Reader::from_source(stream(bytes, size)?)?.threads(threads);
            let frame = reader.frame(0)?;
            with_type!(element(r#type)?, T => frame.read_into::<T>(&mut layout.view_mut(values)?))?;
            Ok(())
        })
    }
}

/// # Safety
/// `bytes` is null or valid for reads of `size` bytes.
unsafe fn stream<'a>(bytes: *const c_void, size: usize) -> Result<&'a [u8], Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        required(bytes.cast::<u8>(), "the stream")?;
        if size > isize::MAX as usize {
            return Err(Failure::invalid("the size exceeds the address space"));
        }
        Ok(std::slice::from_raw_parts(bytes.cast(), size))
    }
}
