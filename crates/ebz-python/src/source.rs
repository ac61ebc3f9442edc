//! Sources of streams: Python objects, files, file-like objects, or pieces of a remote object.

use ebz::Source;
use ebz::{Error, Limits, Result};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::MutexExt;
use std::fs::File;
use std::sync::{Mutex, PoisonError};

/// A stream in memory: `bytes`, or a contiguous `uint8` array.
#[derive(FromPyObject)]
pub enum Stream<'py> {
    /// Immutable bytes.
    Bytes(PyBackedBytes),
    /// Any other buffer, through NumPy.
    Array(PyReadonlyArray1<'py, u8>),
}

impl Stream<'_> {
    /// Its bytes.
    pub fn as_slice(&self) -> PyResult<&[u8]> {
        Ok(match self {
            Self::Bytes(bytes) => bytes,
            Self::Array(array) => array.as_slice()?,
        })
    }
}

/// The source of a reader.
pub enum Input {
    /// A file on disk.
    File(File),
    /// Something with `seek` and `read`; one thread at a time.
    Object(Mutex<Py<PyAny>>),
    /// Pieces of a stream of known size, each with its offset.
    Pieces { size: u64, pieces: Vec<Piece> },
}

/// Offset and bytes of a piece.
pub type Piece = (u64, PyBackedBytes);

impl Source for Input {
    fn size(&self) -> Result<u64> {
        match self {
            Self::File(file) => file.size(),
            Self::Object(object) => Ok(locked(object, |file| {
                file.call_method1("seek", (0, SEEK_END))?.extract()
            })?),
            Self::Pieces { size, .. } => Ok(*size),
        }
    }

    fn fetch<'a>(
        &'a self,
        offset: u64,
        length: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        match self {
            Self::File(file) => file.fetch(offset, length, scratch),
            Self::Object(object) => {
                scratch.clear();
                locked(object, |file| {
                    file.call_method1("seek", (offset,))?;
                    // What is like a file may read less than it is asked for.
                    while scratch.len() < length {
                        let part = file.call_method1("read", (length - scratch.len(),))?;
                        let part: PyBackedBytes = part.extract()?;
                        if part.is_empty() {
                            break;
                        }
                        scratch.extend_from_slice(&part);
                    }
                    Ok(())
                })?;
                scratch.get(..length).ok_or_else(|| {
                    Error::truncated(format!("{length} bytes at offset {offset} are not there"))
                })
            }
            Self::Pieces { pieces, .. } => {
                let within = |(start, bytes): &'a Piece| {
                    let skip = usize::try_from(offset.checked_sub(*start)?).ok()?;
                    bytes.get(skip..)?.get(..length)
                };
                pieces.iter().find_map(within).ok_or_else(|| {
                    Error::truncated(format!(
                        "{length} bytes at offset {offset} are not available"
                    ))
                })
            }
        }
    }
}

/// Python's number for offsets from the end of a file.
const SEEK_END: u8 = 2;

/// Does something with an object that is like a file; its own errors come back as they are.
fn locked<R>(
    object: &Mutex<Py<PyAny>>,
    work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
) -> std::io::Result<R> {
    // Python first: whoever holds the object may be waiting for it.
    Python::attach(|py| {
        let object = object.lock_py_attached(py);
        let object = object.unwrap_or_else(PoisonError::into_inner);
        work(object.bind(py)).map_err(std::io::Error::from)
    })
}

/// Opens a reader with limits.
pub fn open<S: Source>(source: S, threads: usize, limits: Limits) -> ebz::Result<ebz::Reader<S>> {
    Ok(ebz::Reader::from_source(source)?
        .threads(threads)
        .limits(limits))
}

/// The given limits, or the defaults of the library.
pub fn limits(max_bytes: Option<u64>, max_memory: Option<u64>) -> Limits {
    let default = Limits::default();
    Limits::new(
        max_bytes.unwrap_or(default.max_bytes),
        max_memory.unwrap_or(default.max_memory),
    )
}
