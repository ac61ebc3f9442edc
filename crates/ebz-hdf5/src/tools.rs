//! Functions for the Python module: filter parameters from options, and the stream of a chunk for
//! direct chunk writes.

use crate::{chunk, flatten, slice};
use ebz::{Bound, Error, Fill, FillValues, Options, Result};
use libc::{c_char, size_t};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Options as JSON.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    bound: Bound,
    codec: Option<String>,
    favor: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, String>,
    fill: Option<FillRequest>,
    clip: Option<String>,
    #[serde(default)]
    keep_zeros: bool,
}

/// The fill values; detected by default.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum FillRequest {
    One(f64),
    Several(Vec<f64>),
    /// Text, as on the command line.
    Text(String),
}

impl FillRequest {
    fn fill(self) -> Result<Fill> {
        match self {
            Self::One(value) => Ok(value.into()),
            Self::Several(values) => Ok(FillValues::new(&values)?.into()),
            Self::Text(text) => text.parse(),
        }
    }
}

/// The filter parameters for options given as JSON, such as `{"bound": {"range": 1e-3}, "codec":
/// "fz"}`.
///
/// Writes at most `capacity` words and returns their number; 0 on error, with a C string in the
/// `message_capacity` bytes at `message`.
///
/// # Safety
/// The pointers are valid for the lengths given with them, and `json` for `json_length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn h5ebz_words(
    json: *const u8,
    json_length: size_t,
    capacity: size_t,
    words: *mut u32,
    message_capacity: size_t,
    message: *mut c_char,
) -> size_t {
    // SAFETY: guaranteed by the caller.
    let json = unsafe { slice(json, json_length) };
    let made = || {
        let request: Request = serde_json::from_slice(json)
            .map_err(|error| Error::invalid(format!("filter options: {error}")))?;
        let mut options = Options::new(request.bound);
        if let Some(codec) = request.codec {
            options = options.codec(codec);
        }
        if let Some(favor) = request.favor {
            options.favor = favor.parse()?;
        }
        for (key, value) in request.params {
            options = options.param(key, value);
        }
        if let Some(fill) = request.fill {
            options.fill = fill.fill()?;
        }
        if let Some(clip) = request.clip {
            options.clip = clip.parse()?;
        }
        options.keep_zeros = request.keep_zeros;
        ebz::hdf5::to_words(&options)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { hand_over(made, capacity, words, message_capacity, message) }
}

/// The stream that the filter produces for a chunk with these parameters, for direct chunk writes.
///
/// Writes at most `capacity` bytes and returns their number; 0 on error, as [`h5ebz_words`].
///
/// # Safety
/// The pointers are valid for the lengths given with them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn h5ebz_encode(
    word_count: size_t,
    words: *const u32,
    length: size_t,
    values: *const u8,
    capacity: size_t,
    stream: *mut u8,
    message_capacity: size_t,
    message: *mut c_char,
) -> size_t {
    // SAFETY: guaranteed by the caller.
    let (words, bytes) = unsafe { (slice(words, word_count), slice(values, length)) };
    let made = || chunk::encode(words, bytes);
    // SAFETY: guaranteed by the caller.
    unsafe { hand_over(made, capacity, stream, message_capacity, message) }
}

/// Copies the result of `make` to the caller, or its error message.
///
/// # Safety
/// `out` is valid for `capacity` values, and `message` for `message_capacity` bytes.
unsafe fn hand_over<T: Copy>(
    make: impl FnOnce() -> Result<Vec<T>>,
    capacity: usize,
    out: *mut T,
    message_capacity: usize,
    message: *mut c_char,
) -> size_t {
    let made = flatten(catch_unwind(AssertUnwindSafe(make))).and_then(|made| {
        if made.len() > capacity || out.is_null() {
            return Err(Error::invalid(format!(
                "{} are needed, but the capacity is {capacity}",
                made.len()
            )));
        }
        Ok(made)
    });
    match made {
        Ok(made) => {
            // SAFETY: the capacity was just checked.
            unsafe { std::ptr::copy_nonoverlapping(made.as_ptr(), out, made.len()) };
            made.len()
        }
        Err(error) => {
            let text = error.to_string();
            if !message.is_null() && message_capacity > 0 {
                let length = text.len().min(message_capacity - 1);
                // SAFETY: there is room for the text, truncated if necessary, and a zero.
                unsafe {
                    std::ptr::copy_nonoverlapping(text.as_ptr().cast(), message, length);
                    *message.add(length) = 0;
                }
            }
            0
        }
    }
}
