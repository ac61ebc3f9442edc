//! The extension module under the Python package `ebz`.
//!
//! ```text
//! NumPy array ─► array ─► ebz::View ─► ebz ─► bytes or file      (coding, file)
//! NumPy array ◄─ array ◄─ ebz::ViewMut ◄─ ebz ◄─ bytes or file
//! ```
//!
//! The package checks and converts what it is given (`python/ebz/arrays.py`); here arrive aligned
//! arrays of native `float32` or `float64` only. All work is done with the interpreter's lock
//! released.

mod array;
mod coding;
mod command;
mod device;
mod error;
mod file;
mod options;
mod source;

/// Everything that the package imports.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::coding::{codecs, compare, compress, decompress, decompress_into, metadata};
    #[pymodule_export]
    use crate::command::{command, suggest};
    #[pymodule_export]
    use crate::file::{Reader, save};
    #[pymodule_export]
    use crate::options::{Options, hdf5_settings};

    /// The version of the package and of the library in it.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python users look for")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
