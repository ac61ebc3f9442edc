//! Functions of C for what the crate offers: `include/ebz_mpi.h`. Python uses them, too.

use crate::types::{ours, values, values_mut};
use ebz::{Bound, BoundKind, Element, Options};
use ebz_mpi::mpi::ffi::MPI_Comm;
use ebz_mpi::{Algorithm, Error, FileReader, FileWriter, Report, Settings};
use ebz_mpi::{allgather, allreduce, bcast, gather};
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Array of the caller: `ebz_mpi_array`.
#[repr(C)]
pub struct Array {
    values: *mut c_void,
    /// 4 or 8 bytes.
    size: c_int,
    axes: c_int,
    shape: *const usize,
}

/// Wishes of the caller: `ebz_mpi_options`.
#[repr(C)]
pub struct Wishes {
    bound: *const c_char,
    value: f64,
    codec: *const c_char,
    /// One extent per axis, or null.
    chunk: *const usize,
    /// 0 adaptive, 1 always, 2 never.
    mode: c_int,
}

/// What became of an operation: `ebz_mpi_report`.
#[repr(C)]
pub struct Told {
    compressed: c_int,
    raw_bytes: u64,
    sent_bytes: u64,
    largest_bound: f64,
}

fn invalid(text: impl Into<String>) -> Error {
    ebz::Error::invalid(text).into()
}

/// # Safety
/// A string that ends with zero, or null.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Error> {
    if pointer.is_null() {
        return Err(invalid("a string is missing"));
    }
    // SAFETY: by the caller.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map_err(|_| invalid("a string is not UTF-8"))
}

impl Array {
    /// # Safety
    /// The structure is as the header says.
    unsafe fn shape(&self) -> Vec<usize> {
        // SAFETY: one extent per axis.
        unsafe { values::<usize>(self.shape.cast(), self.axes.max(0) as usize) }.to_vec()
    }

    /// # Safety
    /// The memory has room for the array.
    unsafe fn values<'a, T>(&self) -> &'a mut [T] {
        // SAFETY: by the caller.
        unsafe { values_mut(self.values, self.shape().iter().product()) }
    }
}

impl Wishes {
    /// # Safety
    /// The structure is as the header says.
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

/// Keeps the error for [`ebz_mpi_error`].
fn outcome(result: Result<Report, Error>, told: *mut Told) -> c_int {
    match result {
        Ok(report) => {
            if !told.is_null() {
                // SAFETY: room for a report, or null.
                unsafe {
                    *told = Told {
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

macro_rules! by_size {
    ($array:expr, $T:ident => $body:expr) => {
        match $array.size {
            4 => {
                type $T = f32;
                $body
            }
            8 => {
                type $T = f64;
                $body
            }
            _ => Err(invalid("values have 4 or 8 bytes")),
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
    wishes: *const Wishes,
    told: *mut Told,
) -> c_int {
    // SAFETY: by the caller.
    let result = unsafe {
        let block = &*block;
        let extents = block.shape();
        let shape = values::<usize>(shape.cast(), extents.len());
        by_size!(block, T => {
            let values = block.values::<T>();
            write(comm, text(path), shape, &region(start, &extents), values, (*wishes).settings(shape.len()))
        })
    };
    outcome(result, told)
}

fn write<T: Element>(
    comm: MPI_Comm,
    path: Result<&str, Error>,
    shape: &[usize],
    region: &[Range<usize>],
    values: &[T],
    settings: Result<Settings, Error>,
) -> Result<Report, Error> {
    let comm = ours(comm)?;
    let (path, settings) = comm.settle(path.and_then(|path| Ok((path, settings?))))?;
    let mut writer = FileWriter::create(comm, path)?;
    let told = writer.frame(shape, region, values, &settings.options)?;
    writer.finish()?;
    let mut report = Report::default();
    report.compressed = true;
    report.raw_bytes = told.raw_bytes;
    report.sent_bytes = told.stored_bytes;
    report.largest_bound = match told.tolerance {
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
    // SAFETY: by the caller.
    let result = unsafe {
        let block = &*block;
        let region = region(start, &block.shape());
        by_size!(block, T => {
            let path = Path::new(OsStr::from_bytes(CStr::from_ptr(path).to_bytes()));
            read(comm, path, frame, &region, block.values::<T>())
        })
    };
    outcome(result, std::ptr::null_mut())
}

fn read<T: Element>(
    comm: MPI_Comm,
    path: &Path,
    frame: usize,
    region: &[Range<usize>],
    out: &mut [T],
) -> Result<Report, Error> {
    let reader = FileReader::open(ours(comm)?, path)?;
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
    out_count: usize,
    wishes: *const Wishes,
    told: *mut Told,
) -> c_int {
    // SAFETY: by the caller.
    let result = unsafe {
        let array = &*array;
        let shape = array.shape();
        by_size!(array, T => {
            let settings = (*wishes).settings(shape.len());
            ours(comm).and_then(|comm| {
                let out = (comm.rank() == root).then(|| values_mut::<T>(out, out_count));
                gather(comm, array.values::<T>(), &shape, root, out, &comm.settle(settings)?)
            })
        })
    };
    outcome(result, told)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_allgather(
    comm: MPI_Comm,
    array: *const Array,
    out: *mut c_void,
    out_count: usize,
    wishes: *const Wishes,
    told: *mut Told,
) -> c_int {
    // SAFETY: by the caller.
    let result = unsafe {
        let array = &*array;
        let shape = array.shape();
        by_size!(array, T => {
            let settings = (*wishes).settings(shape.len());
            ours(comm).and_then(|comm| {
                let out = values_mut::<T>(out, out_count);
                allgather(comm, array.values::<T>(), &shape, out, &comm.settle(settings)?)
            })
        })
    };
    outcome(result, told)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_bcast(
    comm: MPI_Comm,
    array: *const Array,
    root: usize,
    wishes: *const Wishes,
    told: *mut Told,
) -> c_int {
    // SAFETY: by the caller.
    let result = unsafe {
        let array = &*array;
        let shape = array.shape();
        by_size!(array, T => {
            let settings = (*wishes).settings(shape.len());
            ours(comm).and_then(|comm| bcast(comm, array.values::<T>(), &shape, root, &comm.settle(settings)?))
        })
    };
    outcome(result, told)
}

/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebz_mpi_allreduce(
    comm: MPI_Comm,
    array: *const Array,
    wishes: *const Wishes,
    told: *mut Told,
) -> c_int {
    // SAFETY: by the caller.
    let result = unsafe {
        let array = &*array;
        let shape = array.shape();
        by_size!(array, T => {
            let settings = (*wishes).settings(shape.len());
            ours(comm).and_then(|comm| {
                allreduce(comm, array.values::<T>(), &shape, Algorithm::Ring, &comm.settle(settings)?)
            })
        })
    };
    outcome(result, told)
}
