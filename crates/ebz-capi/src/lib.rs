//! The C interface: `include/ebz.h` is generated from these functions.
//!
//! Every function checks its pointers and catches panics.

mod array;
pub mod options;
pub mod reader;
pub mod status;
pub mod stream;
pub mod writer;

use std::ffi::c_char;

/// 4-byte values: IEEE 754 binary32 (float).
pub const EBZ_F32: i32 = 1;
/// 8-byte values: IEEE 754 binary64 (double).
pub const EBZ_F64: i32 = 2;
/// 2-byte values: IEEE 754 binary16 (_Float16).
pub const EBZ_F16: i32 = 3;
/// 2-byte values: bfloat16, the upper half of a binary32 (__bf16).
pub const EBZ_BF16: i32 = 4;

/// Maximum number of axes of an array.
pub const EBZ_MAX_AXES: usize = 16;

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn ebz_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
