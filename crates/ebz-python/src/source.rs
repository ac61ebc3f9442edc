//! Sources of streams: Python objects, files, or pieces of a remote object.

use ebz::Source;
use ebz::{Error, Limits, Result};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::fs::File;

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
    /// Pieces of a stream of known size, each with its offset.
    Pieces { size: u64, pieces: Vec<Piece> },
}

/// Offset and bytes of a piece.
pub type Piece = (u64, PyBackedBytes);

impl Source for Input {
    fn size(&self) -> Result<u64> {
        match self {
            Self::File(file) => file.size(),
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
