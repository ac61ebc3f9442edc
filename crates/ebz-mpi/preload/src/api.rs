//! The C API of the crate: `include/ebz_mpi.h`. Python uses it too.

use crate::types::{known_comm, own_comm, values, values_mut};
use ebz::{Bound, BoundKind, Element, Options};
use ebz_mpi::mpi::ffi::MPI_Comm;
use ebz_mpi::{Algorithm, Error, FileReader, FileWriter, Report, Settings};
use ebz_mpi::{allgather, allreduce, bcast, gather, recv, reduce, reduce_scatter, scatter, send};
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// An array of the caller: `ebz_mpi_array`.
#[repr(C)]
pub struct Array {
    values: *mut c_void,
    /// 4 or 8 bytes.
    size: c_int,
    axes: c_int,
    shape: *const usize,
}

/// Options of the caller: `ebz_mpi_options`.
#[repr(C)]
pub struct CallOptions {
    bound: *const c_char,
    value: f64,
    codec: *const c_char,
    /// One extent per axis, or null.
    chunk: *const usize,
    /// 0 adaptive, 1 always, 2 never.
    mode: c_int,
}

/// Report of an operation: `ebz_mpi_report`.
#[repr(C)]
pub struct CallReport {
    compressed: c_int,
    raw_bytes: u64,
    sent_bytes: u64,
    largest_bound: f64,
}

fn invalid(text: impl Into<String>) -> Error {
    ebz::Error::invalid(text).into()
}

/// # Safety
/// A null-terminated string, or null.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Error> {
    if pointer.is_null() {
        return Err(invalid("a string is missing"));
    }
    // SAFETY: guaranteed by the caller.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map_err(|_| invalid("a string is not UTF-8"))
}

impl Array {
    /// # Safety
    /// The structure is as documented in the header.
    unsafe fn shape(&self) -> Vec<usize> {
        // SAFETY: one extent per axis.
        unsafe { values::<usize>(self.shape.cast(), self.axes.max(0) as usize) }.to_vec()
    }

    /// # Safety
    /// The memory has room for the array.
    unsafe fn values<'a, T>(&self) -> &'a mut [T] {
        // SAFETY: guaranteed by the caller.
        unsafe { values_mut(self.values, self.shape().iter().product()) }
    }
}

impl CallOptions {
    /// # Safety
    /// The structure is as documented in the header.
    unsafe fn settings(&self, axes: usize) -> Result<Settings, Error> {
        // SAFETY: strings, or null; one extent per axis, or null.
        let (kind, codec, chunk) = unsafe {
            let chunk = (!self.chunk.is_null()).then(|| values::<usize>(self.chunk.cast(), axes));
            (text(self.bound)?, text(self.codec)?, chunk)
        };
        let kind = BoundKind::ALL.into_iter().find(|k| k.name() == kind);
        let kind = kind.ok_or_else(|| invalid("an unknown kind of bound"))?;
        let mut options = Options::new(Bound::new(kind, self.value)?).codec(codec);
        options.chunk = chunk.map(<[usize]>::to_vec);
        let mut settings = Settings::from(options);
        settings.mode = match self.mode {
            1 => ebz_mpi::Mode::Always,
            2 => ebz_mpi::Mode::Never,
            _ => ebz_mpi::Mode::Adaptive,
        };
        Ok(settings)
    }
}

/// Stores the error for [`ebz_mpi_error`].
fn finish(result: Result<Report, Error>, out: *mut CallReport) -> c_int {
    match result {
        Ok(report) => {
            if !out.is_null() {
                // SAFETY: room for a report, or null.
                unsafe {
                    *out = CallReport {
                        compressed: c_int::from(report.compressed),
                        raw_bytes: report.raw_bytes,
                        sent_bytes: report.sent_bytes,
                        largest_bound: report.largest_bound,
                    };
                }
            }
            0
        }
        Err(error) => {
            let text = CString::new(error.to_string()).unwrap_or_default();
            ERROR.with(|last| *last.borrow_mut() = text);
            1
        }
    }
}

/// The last error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn ebz_mpi_error() -> *const c_char {
    ERROR.with(|last| last.borrow().as_ptr())
}

/// Calls `$body` with the type of the array's elements as `$T`.
macro_rules! by_size {
    ($array:expr, $comm:expr, $T:ident => $body:expr) => {
        match $array.size {
            4 => {
                type $T = f32;
                $body
            }
            8 => {
                type $T = f64;
                $body
            }
            // The other ranks wait for the status of this one.
            _ => own_comm($comm)
                .and_then(|comm| comm.settle(Err(invalid("values have 4 or 8 bytes")))),
        }
    };
}

/// A collective call on an array: all ranks first check that the options of each are valid.
macro_rules! collective {
    ($comm:ident, $array:ident, $options:ident, $T:ident,
     |$own:ident, $values:ident, $shape:ident, $settings:ident| $body:expr) => {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let array = &*$array;
            let $shape = &array.shape()[..];
            by_size!(array, $comm, $T => {
                let settings = (*$options).settings($shape.len());
                own_comm($comm).and_then(|$own| {
                    let $settings = &$own.settle(settings)?;
                    let $values = array.values::<$T>();
                    $body
                })
            })
        }
    };
}

/// # Safety
/// As the header says.
unsafe fn region(start: *const usize, shape: &[usize]) -> Vec<Range<usize>> {
    // SAFETY: one start per axis.
    let starts = unsafe { values::<usize>(start.cast(), shape.len()) };
    let pairs = starts.iter().zip(shape);
    pairs
        .map(|(&start, &n)| start..start.saturating_add(n))
        .collect()
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_write(
    comm: MPI_Comm,
    path: *const c_char,
    shape: *const usize,
    start: *const usize,
    block: *const Array,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe {
        let block = &*block;
        let extents = block.shape();
        let shape = values::<usize>(shape.cast(), extents.len());
        by_size!(block, comm, T => {
            let values = block.values::<T>();
            write(comm, text(path), shape, &region(start, &extents), values, (*options).settings(shape.len()))
        })
    };
    finish(result, report)
}

fn write<T: Element>(
    comm: MPI_Comm,
    path: Result<&str, Error>,
    shape: &[usize],
    region: &[Range<usize>],
    values: &[T],
    settings: Result<Settings, Error>,
) -> Result<Report, Error> {
    let comm = own_comm(comm)?;
    let (path, settings) = comm.settle(path.and_then(|path| Ok((path, settings?))))?;
    let mut writer = FileWriter::create(comm, path)?;
    let frame = writer.frame(shape, region, values, &settings.options)?;
    writer.finish()?;
    let mut report = Report::default();
    report.compressed = true;
    report.raw_bytes = frame.raw_bytes;
    report.sent_bytes = frame.stored_bytes;
    report.largest_bound = match frame.tolerance {
        ebz::Tolerance::Abs(e) => e,
        _ => 0.0,
    };
    Ok(report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_read(
    comm: MPI_Comm,
    path: *const c_char,
    frame: usize,
    start: *const usize,
    block: *const Array,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe {
        let block = &*block;
        let region = region(start, &block.shape());
        by_size!(block, comm, T => {
            let path = Path::new(OsStr::from_bytes(CStr::from_ptr(path).to_bytes()));
            read(comm, path, frame, &region, block.values::<T>())
        })
    };
    finish(result, std::ptr::null_mut())
}

fn read<T: Element>(
    comm: MPI_Comm,
    path: &Path,
    frame: usize,
    region: &[Range<usize>],
    out: &mut [T],
) -> Result<Report, Error> {
    let reader = FileReader::open(own_comm(comm)?, path)?;
    let values = reader.region::<T>(frame, region);
    reader.close()?;
    out.copy_from_slice(&values?);
    Ok(Report::default())
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_gather(
    comm: MPI_Comm,
    array: *const Array,
    root: usize,
    out: *mut c_void,
    count: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, values, shape, settings| {
        let out = (own.rank() == root).then(|| values_mut::<T>(out, count));
        gather(own, values, shape, root, out, settings)
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_allgather(
    comm: MPI_Comm,
    array: *const Array,
    out: *mut c_void,
    count: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, values, shape, settings| {
        let out = values_mut::<T>(out, count);
        allgather(own, values, shape, out, settings)
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_scatter(
    comm: MPI_Comm,
    array: *const Array,
    root: usize,
    all: *const c_void,
    count: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, out, shape, settings| {
        let all = (own.rank() == root).then(|| values::<T>(all, count));
        scatter(own, all, out, shape, root, settings)
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_bcast(
    comm: MPI_Comm,
    array: *const Array,
    root: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, values, shape, settings| {
        bcast::<T>(own, values, shape, root, settings)
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_allreduce(
    comm: MPI_Comm,
    array: *const Array,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, values, shape, settings| {
        allreduce::<T>(own, values, shape, Algorithm::Ring, settings)
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_reduce(
    comm: MPI_Comm,
    array: *const Array,
    root: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, values, shape, settings| {
        reduce::<T>(own, values, shape, root, settings)
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_reduce_scatter(
    comm: MPI_Comm,
    array: *const Array,
    start: *mut usize,
    count: *mut usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    let result = collective!(comm, array, options, T, |own, values, shape, settings| {
        reduce_scatter::<T>(own, values, shape, settings).map(|(report, part)| {
            *start = part.start;
            *count = part.len();
            report
        })
    });
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_prepare(comm: MPI_Comm) -> c_int {
    let measured = own_comm(comm).and_then(|own| own.measure_links());
    finish(measured.map(|_| Report::default()), std::ptr::null_mut())
}

fn unprepared() -> Error {
    invalid(
        "all ranks of the communicator must call ebz_mpi_prepare before two of them send and receive",
    )
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_send(
    comm: MPI_Comm,
    array: *const Array,
    to: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe {
        let array = &*array;
        let shape = array.shape();
        let settings = (*options).settings(shape.len());
        settings.and_then(|settings| {
            let own = known_comm(comm).ok_or_else(unprepared)?;
            match array.size {
                4 => send(own, array.values::<f32>(), &shape, to, &settings),
                8 => send(own, array.values::<f64>(), &shape, to, &settings),
                _ => Err(invalid("values have 4 or 8 bytes")),
            }
        })
    };
    finish(result, report)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_recv(
    comm: MPI_Comm,
    array: *const Array,
    from: usize,
    options: *const CallOptions,
    report: *mut CallReport,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe {
        let array = &*array;
        let shape = array.shape();
        let settings = (*options).settings(shape.len());
        settings.and_then(|settings| {
            let own = known_comm(comm).ok_or_else(unprepared)?;
            match array.size {
                4 => recv(own, array.values::<f32>(), &shape, from, &settings),
                8 => recv(own, array.values::<f64>(), &shape, from, &settings),
                _ => Err(invalid("values have 4 or 8 bytes")),
            }
        })
    };
    finish(result, report)
}
