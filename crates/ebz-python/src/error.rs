//! Errors of the library as exceptions of the package.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use std::path::{Path, PathBuf};

/// Result of a call from Python that may fail in the library.
pub type Result<T> = std::result::Result<T, Error>;

/// An error to be raised in Python.
pub enum Error {
    Library(ebz::Error),
    File(std::io::Error, PathBuf),
    Python(PyErr),
}

impl Error {
    /// Adds the file name to an I/O error.
    pub fn of_file(self, path: &Path) -> Self {
        match self {
            Self::Library(ebz::Error::Io(error)) => Self::File(error, path.into()),
            other => other,
        }
    }
}

impl From<ebz::Error> for Error {
    fn from(error: ebz::Error) -> Self {
        Self::Library(error)
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Python(error) => error,
            Error::Library(ebz::Error::Io(error)) => error.into(),
            Error::File(error, path) => Python::attach(|py| os_error(py, error, path)),
            Error::Library(error) => Python::attach(|py| exception(py, &error)),
        }
    }
}

/// The exception that Python's `open` raises: errno, message and file name, of the subclass for
/// that errno.
fn os_error(py: Python<'_>, error: std::io::Error, path: PathBuf) -> PyErr {
    let Some(number) = error.raw_os_error() else {
        return error.into();
    };
    let reason = py
        .import("os")
        .and_then(|os| os.getattr("strerror")?.call1((number,)))
        .and_then(|text| text.extract::<String>())
        .unwrap_or_else(|_| error.to_string());
    // As text: a path would become a pathlib object.
    PyOSError::new_err((number, reason, path.into_os_string()))
}

/// The exception of the package for an error; its class is in `ebz.errors`.
fn exception(py: Python<'_>, error: &ebz::Error) -> PyErr {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let name = match error {
        ebz::Error::Corrupt(_) => "CorruptError",
        ebz::Error::Truncated(_) => "TruncatedError",
        ebz::Error::InvalidArgument(_) => "InvalidArgument",
        ebz::Error::Unsupported(_) => "UnsupportedError",
        ebz::Error::LimitExceeded(_) => "LimitError",
        _ => "Error",
    };
    let class = ERRORS
        .get_or_try_init(py, || Ok(py.import("ebz.errors")?.unbind()))
        .and_then(|errors| errors.bind(py).getattr(name));
    match class.and_then(|class| class.call1((error.to_string(),))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}
