//! The extension module of the Python package `ebz`.
//!
//! ```text
//! NumPy array ─► array ─► ebz::View ─► ebz ─► bytes or file      (coding, file)
//! NumPy array ◄─ array ◄─ ebz::ViewMut ◄─ ebz ◄─ bytes or file
//! ```
//!
//! The package checks and converts its arguments (`python/ebz/arrays.py`); this module only gets
//! aligned arrays of native element types. All work is done with the GIL released.
//!
//! The library is also the HDF5 plugin of the wheel: `libebz` is a name that HDF5 accepts, and the
//! build makes the symbols of the interpreter weak (`backend/ebz_build.py`).

mod array;
mod coding;
mod command;
mod device;
mod error;
mod file;
mod options;
mod source;

// Exports the functions of the plugin.
use h5ebz as _;

/// Everything that the package imports.
#[pyo3::pymodule]
mod libebz {
    #[pymodule_export]
    use crate::coding::{choose, codecs, compare, compress, decompress, decompress_into, metadata};
    #[pymodule_export]
    use crate::command::{command, suggest};
    #[pymodule_export]
    use crate::file::{Reader, save};
    #[pymodule_export]
    use crate::options::{Options, hdf5_settings};

    /// The version of the package and its library.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the usual name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
