//! What the command `ebz` does, from Python.

use crate::array::{read, with_array};
use crate::error::Result;
use ebz::Error;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments, the first of which is its name; the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ebz_cli::run(arguments))
}

/// What `ebz suggest --json` prints, for an array and what is to be kept of it.
#[pyfunction]
pub fn suggest(array: &Bound<'_, PyAny>, keep: Vec<String>, fill: &str) -> Result<String> {
    let fill = fill.parse()?;
    with_array!(array, a => read(a, |view| {
        let values = view.to_contiguous();
        let found = ebz_cli::suggest(&values, view.shape(), &keep, fill);
        let found = found.map_err(|error| Error::invalid(format!("{error:#}")))?;
        Ok(found.to_string())
    }))
}
