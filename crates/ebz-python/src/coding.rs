//! Whole arrays: compress, decompress, compare.

use crate::array::{Element, read, with_array, write};
use crate::device;
use crate::error::Result;
use crate::file::read_region;
use crate::options::Options;
use crate::source::{Stream, limits, open};
use ebz::metrics::{Comparison, Metrics, Setup};
use ebz::{Fill, Limits, ValueScan, Writer};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::cell::Cell;

/// Values compared at a time.
const PASS_VALUES: usize = 1 << 20;

/// Compresses an array to a stream.
#[pyfunction]
#[pyo3(signature = (array, options, device=None))]
pub fn compress<'py>(
    array: &Bound<'py, PyAny>,
    options: &Options,
    device: Option<&str>,
) -> Result<Bound<'py, PyBytes>> {
    let engine = device.map(device::engine).transpose()?;
    // The size is unknown until the end, and Python bytes cannot grow: compress into a reused
    // buffer, then copy.
    let mut stream = SCRATCH.take();
    let coded = with_array!(array, a => {
        read(a, |view| {
            let Some(engine) = engine else {
                return ebz::compress_into(&view, &options.0, &mut stream).map(drop);
            };
            stream.clear();
            let writer = Writer::new(&mut stream, options.0.clone())?;
            let mut writer = writer.engine(engine);
            writer.frame(&view)?;
            writer.finish().map(drop)
        })
    });
    let bytes = coded.map(|()| PyBytes::new(array.py(), &stream));
    if stream.capacity() <= MAX_CACHED_BYTES {
        SCRATCH.set(stream);
    }
    bytes
}

/// The codec that `auto` chooses for an array, and why, as JSON.
#[pyfunction]
pub fn choose(array: &Bound<'_, PyAny>, options: &Options) -> Result<String> {
    let choice = with_array!(array, a => read(a, |view| ebz::choose(&view, &options.0)))?;
    let mut found = serde_json::json!(choice);
    found["why"] = choice.to_string().into();
    Ok(found.to_string())
}

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Maximum size of the buffer that a thread caches for its next stream.
const MAX_CACHED_BYTES: usize = 16 << 20;

/// Decompresses the array of a stream.
#[pyfunction]
#[pyo3(signature = (stream, threads, max_bytes, max_memory, device=None))]
pub fn decompress<'py>(
    py: Python<'py>,
    stream: Stream<'py>,
    threads: usize,
    max_bytes: Option<u64>,
    max_memory: Option<u64>,
    device: Option<&str>,
) -> Result<Bound<'py, PyAny>> {
    let limits = limits(max_bytes, max_memory);
    let mut reader = open(stream.as_slice()?, threads, limits)?;
    if let Some(engine) = device.map(device::engine).transpose()? {
        reader = reader.engine(engine);
    }
    let frame = reader.frame(0)?;
    let whole: Vec<_> = frame.header().shape().iter().map(|&n| 0..n).collect();
    read_region(py, &frame, &whole)
}

/// The metadata of the array of a stream, as JSON.
#[pyfunction]
pub fn metadata(stream: Stream<'_>) -> Result<String> {
    let reader = open(stream.as_slice()?, 1, Limits::default())?;
    Ok(reader.frame(0)?.header().metadata.to_string())
}

/// Decompresses the array of a stream into a contiguous array.
#[pyfunction]
pub fn decompress_into(stream: Stream<'_>, out: &Bound<'_, PyAny>, threads: usize) -> Result<()> {
    let reader = open(stream.as_slice()?, threads, Limits::default())?;
    let frame = reader.frame(0)?;
    with_array!(out, a => write(a, |mut view| frame.read_into(&mut view)))
}

/// Error metrics of a contiguous array against its original.
#[pyfunction]
pub fn compare<'py>(
    original: &Bound<'py, PyAny>,
    decoded: &Bound<'py, PyAny>,
    fill: &str,
    ssim: bool,
    threads: usize,
) -> Result<Bound<'py, PyDict>> {
    let fill: Fill = fill.parse()?;
    let metrics = with_array!(original, a => {
        let Ok(b) = decoded.cast() else {
            return Err(PyTypeError::new_err("the arrays must have the same type").into());
        };
        measure(a, b, fill, ssim, threads)?
    });
    let names = PyDict::new(original.py());
    for (name, value) in metrics.named() {
        names.set_item(name, value)?;
    }
    names.set_item("ebz:exact", metrics.exact)?;
    names.set_item("ebz:lost_specials", metrics.lost_specials)?;
    let histogram = PyDict::new(original.py());
    histogram.set_item("width", metrics.histogram.width)?;
    histogram.set_item("counts", metrics.histogram.counts)?;
    names.set_item("ebz:histogram", histogram)?;
    Ok(names)
}

fn measure<T: Element>(
    original: &Bound<'_, PyArrayDyn<T>>,
    decoded: &Bound<'_, PyArrayDyn<T>>,
    fill: Fill,
    ssim: bool,
    threads: usize,
) -> Result<Metrics> {
    if original.shape() != decoded.shape() {
        return Err(ebz::Error::invalid(format!(
            "cannot compare arrays of shapes {:?} and {:?}: pass two of the same shape",
            original.shape(),
            decoded.shape()
        ))
        .into());
    }
    let (original, decoded) = (original.readonly(), decoded.readonly());
    let shape = original.shape();
    let gaps = |_| PyTypeError::new_err("the arrays must be contiguous");
    let a = original.as_slice().map_err(gaps)?;
    let b = decoded.as_slice().map_err(gaps)?;
    let measured = original.py().detach(|| {
        let scan = ValueScan::of(a, fill);
        let setup = Setup {
            range: scan.range(),
            fill: scan.fill().values(),
            exact_fill: true,
            tolerance: None,
            ssim,
            threads,
        };
        let mut comparison = Comparison::new(shape, setup)?;
        for (a, b) in a.chunks(PASS_VALUES).zip(b.chunks(PASS_VALUES)) {
            comparison.push(a, b)?;
        }
        comparison.finish()
    });
    Ok(measured?)
}

/// The table of codecs.
#[pyfunction]
pub fn codecs(py: Python<'_>) -> Result<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in ebz::codec::TABLE {
        let info = &entry.info;
        let row = PyDict::new(py);
        row.set_item("name", info.name)?;
        row.set_item("summary", info.summary)?;
        let kinds = ebz::BoundKind::ALL.into_iter();
        let bounds = kinds
            .filter(|kind| entry.offers(*kind))
            .map(|kind| kind.name());
        row.set_item("bounds", bounds.collect::<Vec<_>>())?;
        let params = PyDict::new(py);
        for param in info.params {
            params.set_item(param.name, (param.default, param.help))?;
        }
        row.set_item("params", params)?;
        let exact = info.rewrites_exactly.map(|params| params.iter().copied());
        let exact = exact.map(std::collections::BTreeMap::from_iter);
        row.set_item("rewrites_exactly", exact)?;
        list.append(row)?;
    }
    Ok(list)
}
