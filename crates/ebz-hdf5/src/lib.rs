//! The HDF5 filter: HDF5 loads this library when a dataset uses the filter, and passes it one chunk
//! at a time.
//!
//! ```text
//! dataset created   can_apply: is the type supported?   set_local: add type and chunk shape
//! chunk written     filter:    values ─► .ebz stream
//! chunk read        filter:    values ◄─ .ebz stream
//! ```
//!
//! Nothing links to libhdf5. A process may have several copies of it (h5py and netCDF4 each bring
//! their own), so functions are looked up in the calling one ([`caller`]).

mod caller;
mod chunk;
mod memory;
mod tools;

use caller::{Herr, Hid, Library};
use chunk::Local;
use ebz::{Error, Result};
use libc::{c_char, c_int, c_uint, c_void, size_t};
use memory::Buffer;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Used by the project's own tests; not stable.
#[doc(hidden)]
pub mod internals {
    pub use crate::chunk::encode;

    /// The values of a chunk.
    pub fn decode(words: &[u32], bytes: &[u8]) -> ebz::Result<Vec<u8>> {
        crate::chunk::decode(words, bytes).map(|mut values| values.bytes_mut().to_vec())
    }
}

/// Set when HDF5 reads.
const REVERSE: c_uint = 0x100;
/// Set if HDF5 may silently skip the filter.
const OPTIONAL: c_uint = 1;

/// `H5Z_class2_t`: the description of a filter.
#[repr(C)]
pub struct Class {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: unsafe extern "C" fn(Hid, Hid, Hid) -> c_int,
    set_local: unsafe extern "C" fn(Hid, Hid, Hid) -> Herr,
    filter: Filter,
}

type Filter = unsafe extern "C" fn(
    c_uint,
    size_t,
    *const c_uint,
    size_t,
    *mut size_t,
    *mut *mut c_void,
) -> size_t;

// SAFETY: the only pointer refers to a constant.
unsafe impl Sync for Class {}

static CLASS: Class = Class {
    version: 1,
    id: ebz::hdf5::FILTER_ID as c_int,
    encoder_present: 1,
    decoder_present: 1,
    name: c"ebz (in Python: pip install ebz, import ebz.hdf5)".as_ptr(),
    can_apply,
    set_local,
    filter,
};

/// Tells HDF5 that this plugin is a filter.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    0
}

/// Returns the filter to HDF5.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const Class {
    &CLASS
}

/// Whether the filter supports a dataset. Returns an error even if the filter is optional: HDF5
/// would silently store the values without it.
unsafe extern "C" fn can_apply(_properties: Hid, datatype: Hid, _space: Hid) -> c_int {
    guarded(-1, |library| {
        library.element(datatype)?;
        Ok(1)
    })
}

/// Adds element type and chunk shape to the parameters of a dataset.
unsafe extern "C" fn set_local(properties: Hid, datatype: Hid, _space: Hid) -> Herr {
    guarded(-1, |library| {
        let (element, is_big) = library.element(datatype)?;
        if library.first_filter(properties)? != c_int::from(ebz::hdf5::FILTER_ID) {
            return Err(Error::invalid(
                "ebz must be the first filter of a dataset: remove shuffle and other filters",
            ));
        }
        let (flags, words) = library.filter_words(properties)?;
        let (options, _) = ebz::hdf5::from_words(&words)?;
        let local = Local {
            element,
            is_big,
            padding: library.fill_value(properties, datatype, (element, is_big))?,
            shape: library.chunk(properties)?,
        };
        let mut words = ebz::hdf5::to_words(&options)?;
        local.write_to(&mut words)?;
        library.set_filter_words(properties, flags & !OPTIONAL, &words)?;
        Ok(0)
    })
}

/// Replaces a chunk by its stream, or the reverse; returns the new length, or 0 on error.
unsafe extern "C" fn filter(
    flags: c_uint,
    word_count: size_t,
    words: *const c_uint,
    length: size_t,
    capacity: *mut size_t,
    buffer: *mut *mut c_void,
) -> size_t {
    let outcome = catch_unwind(|| {
        if buffer.is_null() || capacity.is_null() {
            return Err(Error::invalid("HDF5 passed no buffer"));
        }
        // SAFETY: HDF5 passes that many parameters and a buffer of at least that many bytes.
        let (words, bytes) = unsafe {
            (
                slice(words, word_count),
                slice((*buffer).cast_const().cast::<u8>(), length),
            )
        };
        if flags & REVERSE == 0 {
            chunk::encode(words, bytes).and_then(|stream| Buffer::copy_of(&stream))
        } else {
            chunk::decode(words, bytes)
        }
    });
    match flatten(outcome) {
        Ok(result) => {
            let length = result.len();
            // SAFETY: neither is null (checked above), and the old buffer came from the same
            // allocator: HDF5 documents malloc and free for filters.
            unsafe {
                libc::free(*buffer);
                *buffer = result.release();
                *capacity = length;
            }
            length
        }
        Err(error) => {
            report(&error);
            0
        }
    }
}

/// Runs a callback with the calling library; errors and panics go to its error stack.
fn guarded(failed: c_int, body: impl FnOnce(&Library) -> Result<c_int>) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&Library::calling()?)));
    flatten(outcome).unwrap_or_else(|error| {
        report(&error);
        failed
    })
}

/// Turns a panic into an error.
fn flatten<T>(outcome: std::thread::Result<Result<T>>) -> Result<T> {
    outcome.unwrap_or_else(|_| Err(Error::corrupt("internal error in ebz: please report it")))
}

/// Pushes an error to the error stack of the calling library.
fn report(error: &Error) {
    let pushed = catch_unwind(AssertUnwindSafe(|| {
        Library::calling().and_then(|library| library.push_error(&format!("ebz: {error}")))
    }));
    // Nothing left to do: HDF5 reports the failed filter anyway.
    let _ = pushed;
}

/// A slice from C, whose pointer may be null if it is empty.
///
/// # Safety
/// `data` is null, or points to `length` readable values that live as long as the result is used.
unsafe fn slice<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if data.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(data, length) }
}
