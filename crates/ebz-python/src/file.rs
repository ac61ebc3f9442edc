//! Files and regions of arrays.

use crate::array::{Element, dtype, import_dtype, read, with_array, write};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::source::{Input, Piece, limits, open};
use ebz::{Bound as ErrorBound, Frame, Source, Writer, with_type};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

/// Writes an array as the only frame of a new file, or appends it to an existing file.
#[pyfunction]
pub fn save(
    path: PathBuf,
    array: &Bound<'_, PyAny>,
    options: &Options,
    append: bool,
) -> Result<()> {
    let options = options.0.clone();
    let saved = with_array!(array, a => read(a, |view| {
        let mut writer = match append {
            true => Writer::append(&path, options)?,
            false => Writer::create(&path, options)?,
        };
        writer.frame(&view)?;
        writer.finish()?;
        Ok(())
    }));
    saved.map_err(|error| error.of_file(&path))
}

/// A file, or a stream of which only some pieces are available.
#[pyclass(frozen, module = "ebz._core")]
pub struct Reader(ebz::Reader<Input>);

#[pymethods]
impl Reader {
    /// Opens a file.
    #[staticmethod]
    fn open(path: PathBuf, threads: usize, max_memory: Option<u64>) -> Result<Self> {
        let opened = || {
            let file = std::fs::File::open(&path)?;
            open(Input::File(file), threads, limits(None, max_memory))
        };
        let opened = opened().map_err(|error| Error::from(error).of_file(&path));
        Ok(Self(opened?))
    }

    /// Opens something with `seek` and `read`.
    #[staticmethod]
    fn object(file: Py<PyAny>, threads: usize, max_memory: Option<u64>) -> Result<Self> {
        let source = Input::Object(Mutex::new(file));
        Ok(Self(open(source, threads, limits(None, max_memory))?))
    }

    /// A stream of `size` bytes of which some pieces are available, each with its offset. Reading
    /// other bytes is a `TruncatedError`.
    #[staticmethod]
    fn pieces(size: u64, pieces: Vec<Piece>, threads: usize) -> Result<Self> {
        Ok(Self(open(
            Input::Pieces { size, pieces },
            threads,
            limits(None, None),
        )?))
    }

    /// Number of frames.
    fn frames(&self) -> usize {
        self.0.frames()
    }

    /// The metadata of a frame.
    fn header<'py>(&self, py: Python<'py>, frame: usize) -> Result<Bound<'py, PyDict>> {
        let frame = self.0.frame(frame)?;
        let header = frame.header();
        let facts = PyDict::new(py);
        facts.set_item("shape", header.shape())?;
        import_dtype(py, header.element)?;
        facts.set_item("dtype", dtype(header.element))?;
        facts.set_item("chunk", header.grid.chunk())?;
        facts.set_item("codec", ebz::codec::by_id(header.codec)?.info.name)?;
        facts.set_item("bound", bound(header.asked))?;
        facts.set_item("tolerance", bound(header.tolerance.into()))?;
        facts.set_item("fill", header.fill.values().as_slice())?;
        facts.set_item("metadata", header.metadata.to_string())?;
        facts.set_item("stored_bytes", frame.stored_bytes())?;
        Ok(facts)
    }

    /// A region of a frame, as (start, stop) per axis.
    fn read<'py>(
        &self,
        py: Python<'py>,
        frame: usize,
        region: Vec<(usize, usize)>,
    ) -> Result<Bound<'py, PyAny>> {
        read_region(py, &self.0.frame(frame)?, &ranges(region))
    }

    /// Byte ranges of the chunks that intersect a region.
    fn places(&self, frame: usize, region: Vec<(usize, usize)>) -> Result<Vec<(u64, u64)>> {
        let places = self.0.frame(frame)?.places(&ranges(region))?;
        Ok(places.into_iter().map(|p| (p.start, p.end)).collect())
    }
}

fn ranges(region: Vec<(usize, usize)>) -> Vec<Range<usize>> {
    region.into_iter().map(|(start, end)| start..end).collect()
}

/// Name and number of a bound.
fn bound(bound: ErrorBound) -> (&'static str, f64) {
    (bound.kind().name(), bound.value())
}

/// A region of a frame as a new array.
pub fn read_region<'py, S: Source>(
    py: Python<'py>,
    frame: &Frame<'_, S>,
    region: &[Range<usize>],
) -> Result<Bound<'py, PyAny>> {
    // Before allocating: the shape is not trusted.
    frame.check_region(region)?;
    let element = frame.header().element;
    import_dtype(py, element)?;
    with_type!(element, T => read_region_as::<T, S>(py, frame, region))
}

fn read_region_as<'py, T: Element, S: Source>(
    py: Python<'py>,
    frame: &Frame<'_, S>,
    region: &[Range<usize>],
) -> Result<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let shape: Vec<_> = region.iter().map(Range::len).collect();
    // NumPy's own function raises MemoryError if it cannot allocate. Reading writes every value, or fails and drops the
    // array.
    let array = EMPTY
        .import(py, "numpy", "empty")?
        .call1((pyo3::types::PyTuple::new(py, shape)?, dtype(T::TYPE)))?
        .cast_into::<PyArrayDyn<T>>()
        .map_err(PyErr::from)?;
    write(&array, |mut view| frame.region_into(region, &mut view))?;
    Ok(array.into_any())
}
