//! Errors of the library as exceptions of the package.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

/// Result of a call from Python that may fail in the library.
pub type Result<T> = std::result::Result<T, Error>;

/// An error on its way to Python.
pub enum Error {
    Library(ebz::Error),
    Python(PyErr),
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
            Error::Library(error) => Python::attach(|py| exception(py, &error)),
        }
    }
}

/// The exception of the package for an error; the exceptions are classes of `ebz.errors`.
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
