//! Status codes and error messages.

use ebz::Error;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Success.
pub const EBZ_OK: i32 = 0;
/// An I/O operation failed.
pub const EBZ_IO: i32 = 1;
/// The bytes are not a valid stream.
pub const EBZ_CORRUPT: i32 = 2;
/// The stream ends too early.
pub const EBZ_TRUNCATED: i32 = 3;
/// An argument is invalid.
pub const EBZ_INVALID: i32 = 4;
/// A valid request that this codec, build or machine does not support.
pub const EBZ_UNSUPPORTED: i32 = 5;
/// The stream needs more memory than allowed.
pub const EBZ_LIMIT: i32 = 6;
/// The output buffer is too small.
pub const EBZ_TOO_SMALL: i32 = 7;
/// An internal error: please report it.
pub const EBZ_INTERNAL: i32 = 8;

/// Why a call failed.
pub enum Failure {
    /// An error of the library.
    Library(Error),
    /// The output buffer is too small.
    TooSmall(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Failure {
    /// An invalid argument.
    pub fn invalid(what: &str) -> Self {
        Self::Library(Error::invalid(what))
    }

    fn status(&self) -> i32 {
        match self {
            Self::TooSmall(_) => EBZ_TOO_SMALL,
            Self::Library(error) => match error {
                Error::Io(_) => EBZ_IO,
                Error::Corrupt(_) => EBZ_CORRUPT,
                Error::Truncated(_) => EBZ_TRUNCATED,
                Error::InvalidArgument(_) => EBZ_INVALID,
                Error::LimitExceeded(_) => EBZ_LIMIT,
                _ => EBZ_UNSUPPORTED,
            },
        }
    }

    fn text(self) -> String {
        match self {
            Self::Library(error) => error.to_string(),
            Self::TooSmall(text) => text,
        }
    }
}

/// Runs the body of a call: returns the status, stores the message, catches panics.
///
/// # Safety
/// `message` is null or valid for a write.
pub unsafe fn run(message: *mut *mut c_char, body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let (status, text) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => (EBZ_OK, None),
        Ok(Err(failure)) => (failure.status(), Some(failure.text())),
        Err(_) => (
            EBZ_INTERNAL,
            Some("internal error in ebz: please report it".into()),
        ),
    };
    if !message.is_null() {
        // SAFETY: valid for a write, guaranteed by the caller.
        unsafe { *message = text.map_or(std::ptr::null_mut(), c_text) };
    }
    status
}

/// A text for the caller, who frees it with `ebz_message_free`.
pub fn c_text(text: String) -> *mut c_char {
    let text = CString::new(text.replace('\0', " "));
    text.map_or(std::ptr::null_mut(), CString::into_raw)
}

/// Frees a message, or the text of ebz_choose; null is allowed.
///
/// # Safety
/// The message is null or comes from a function of this library, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_message_free(message: *mut c_char) {
    if !message.is_null() {
        // SAFETY: made by `CString::into_raw` in `c_text`.
        drop(unsafe { CString::from_raw(message) });
    }
}

/// A C string.
///
/// # Safety
/// `text` is null or a C string, and lives as long as the result is used.
pub unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::invalid(&format!("{what} is null")));
    }
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(text) }
        .to_str()
        .map_err(|_| Failure::invalid(&format!("{what} is not UTF-8")))
}

/// A required object.
///
/// # Safety
/// `pointer` is null or valid for reads as long as the result is used.
pub unsafe fn required<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::invalid(&format!("{what} is null")))
}

/// A required object, to modify.
///
/// # Safety
/// `pointer` is null or valid for reads and writes, not used by others, as long as the result is used.
pub unsafe fn required_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::invalid(&format!("{what} is null")))
}
