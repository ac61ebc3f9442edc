//! Compression options.

use crate::array::list;
use crate::status::{Failure, required_mut, run, text};
use ebz::{Bound, BoundKind};
use std::ffi::c_char;

/// |x - x'| <= e.
pub const EBZ_ABS: i32 = 1;
/// |x - x'| <= e (max - min) of the finite values of the array.
pub const EBZ_RANGE: i32 = 2;
/// |x - x'| <= e |x|.
pub const EBZ_POINTWISE: i32 = 3;
/// PSNR of the array of at least e dB.
pub const EBZ_PSNR: i32 = 4;
/// Raw size / compressed size of at least e.
pub const EBZ_RATIO: i32 = 5;
/// Keep e bit planes or mantissa bits.
pub const EBZ_PRECISION: i32 = 6;
/// Bit-exact; the number is ignored.
pub const EBZ_LOSSLESS: i32 = 7;

/// Compression options: bound, codec, parameters, chunks, threads, fill values, limits, metadata.
#[expect(non_camel_case_types, reason = "the name in C")]
pub struct ebz_options(pub(crate) ebz::Options);

/// Creates options with a bound (EBZ_ABS, EBZ_RANGE, …) and defaults for everything else.
///
/// # Safety
/// `options` is valid for a write, `message` for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_new(
    bound: i32,
    value: f64,
    options: *mut *mut ebz_options,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        run(message, || {
            let out = required_mut(options, "options")?;
            let known = |kind: &BoundKind| *kind as i32 == bound;
            let kind = BoundKind::ALL.into_iter().find(known).ok_or_else(|| {
                Failure::invalid("unknown bound kind: use EBZ_ABS, EBZ_RANGE and so on")
            })?;
            // The number is ignored for lossless.
            let value = if kind == BoundKind::Lossless {
                0.0
            } else {
                value
            };
            let made = ebz::Options::new(Bound::new(kind, value)?);
            *out = Box::into_raw(Box::new(ebz_options(made)));
            Ok(())
        })
    }
}

/// Sets the codec, such as "fz"; "ebz codecs" lists them. "auto" chooses one for each array, see
/// ebz_options_set_favor.
///
/// # Safety
/// `options` is valid, `name` is a C string, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_codec(
    options: *mut ebz_options,
    name: *const c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            let name = text(name, "the name of the codec")?;
            if name != ebz::codec::AUTO {
                ebz::codec::by_name(name)?;
            }
            options.codec = name.into();
            Ok(())
        })
    }
}

/// Sets what codec "auto" favors: "speed", "balanced" (the default) or "ratio".
///
/// # Safety
/// `options` is valid, `favor` ends with a zero, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_favor(
    options: *mut ebz_options,
    favor: *const c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: as promised by the caller.
    unsafe {
        set(options, message, |options| {
            options.favor = text(favor, "what to favor")?.parse()?;
            Ok(())
        })
    }
}

/// Sets a codec parameter, which is checked when the options are used.
///
/// # Safety
/// `options` is valid, the texts are C strings, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_param(
    options: *mut ebz_options,
    key: *const c_char,
    value: *const c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options
                .params
                .set(text(key, "the key")?, text(value, "the value")?);
            Ok(())
        })
    }
}

/// Sets the chunk extents, the granularity of region reads; 0 axes let the library choose.
///
/// # Safety
/// `options` is valid, `extents` points to `axes` numbers, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_chunk(
    options: *mut ebz_options,
    axes: usize,
    extents: *const usize,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.chunk = match axes {
                0 => None,
                _ => Some(list(extents, axes, "the extents")?),
            };
            Ok(())
        })
    }
}

/// Sets the number of threads; 0 means all cores. The output does not depend on it.
///
/// # Safety
/// `options` is valid, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_threads(
    options: *mut ebz_options,
    threads: usize,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.threads = threads;
            Ok(())
        })
    }
}

/// Sets the fill value, which marks missing data: stored exactly and excluded from the range, like
/// NaN. By default fill values are detected; see ebz_options_set_fills.
///
/// # Safety
/// `options` is valid, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_fill(
    options: *mut ebz_options,
    fill: f64,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.fill = fill.into();
            Ok(())
        })
    }
}

/// Sets the fill values as text: "auto" (the default) detects values such as 9.96921e36, 1e20 or
/// -999 far outside of the data; "none"; or up to eight numbers separated by commas, preceded by
/// "auto" to detect others as well.
///
/// # Safety
/// `options` is valid, `fills` is a C string, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_fills(
    options: *mut ebz_options,
    fills: *const c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.fill = text(fills, "the fill values")?.parse()?;
            Ok(())
        })
    }
}

/// Sets the limits that decompressed values respect wherever the original values did, as text:
/// "auto" (the default: at least 0, if the minimum is 0 and the bound needs a scan of all values),
/// "none", "data" for the range of the data, or limits such as "0..1", "0.." or "..100".
///
/// # Safety
/// `options` is valid, `clip` is a C string, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_clip(
    options: *mut ebz_options,
    clip: *const c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.clip = text(clip, "the limits")?.parse()?;
            Ok(())
        })
    }
}

/// Sets whether exact zeros stay exactly zero (default: no).
///
/// # Safety
/// `options` is valid, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_keep_zeros(
    options: *mut ebz_options,
    keep: bool,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.keep_zeros = keep;
            Ok(())
        })
    }
}

/// Sets whether EBZ_RATIO is met in one pass over the array (default: no): about, instead of at least, at a
/// constant speed.
///
/// # Safety
/// `options` is valid, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_one_pass(
    options: *mut ebz_options,
    one_pass: bool,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            options.one_pass = one_pass;
            Ok(())
        })
    }
}

/// Sets the metadata stored with the arrays, as JSON.
///
/// # Safety
/// `options` is valid, `json` is a C string, `message` is valid for a write or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_set_metadata(
    options: *mut ebz_options,
    json: *const c_char,
    message: *mut *mut c_char,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        set(options, message, |options| {
            let json = text(json, "the metadata")?;
            let value = serde_json::from_str(json)
                .map_err(|error| Failure::invalid(&format!("metadata: {error}")))?;
            options.metadata = Some(value);
            Ok(())
        })
    }
}

/// Frees options; null is allowed.
///
/// # Safety
/// `options` is null or comes from ebz_options_new, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_options_free(options: *mut ebz_options) {
    if !options.is_null() {
        // SAFETY: made by `Box::into_raw` in `ebz_options_new`.
        drop(unsafe { Box::from_raw(options) });
    }
}

/// Modifies options.
///
/// # Safety
/// `options` is null or valid and not used by other threads, `message` is valid for a write or null.
unsafe fn set(
    options: *mut ebz_options,
    message: *mut *mut c_char,
    change: impl FnOnce(&mut ebz::Options) -> Result<(), Failure>,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { run(message, || change(&mut required_mut(options, "options")?.0)) }
}
