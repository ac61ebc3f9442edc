//! Handles of the program: compressible types, and our duplicates of its communicators.

use crate::settings::ENVIRONMENT;
use ebz_mpi::mpi::ffi;
use ebz_mpi::{Comm, Error, Report};
use std::ffi::{CStr, c_int, c_void};
use std::io::Write;
use std::sync::LazyLock;

/// Types that are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Float {
    Single = 1,
    Double = 2,
}

/// The type of a C or Fortran handle.
pub fn float(kind: ffi::MPI_Datatype) -> Option<Float> {
    let mut name = [0; ffi::MPI_MAX_OBJECT_NAME as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has room for the longest name, and stays null-terminated.
    let name = unsafe {
        if ffi::PMPI_Type_get_name(kind, name.as_mut_ptr(), &mut length) != 0 {
            return None;
        }
        CStr::from_ptr(name.as_ptr()).to_bytes().to_vec()
    };
    match &name[..] {
        b"MPI_FLOAT" | b"MPI_REAL" | b"MPI_REAL4" => Some(Float::Single),
        b"MPI_DOUBLE" | b"MPI_REAL8" | b"MPI_DOUBLE_PRECISION" => Some(Float::Double),
        _ => None,
    }
}

/// Whether all ranks can and want to compress a call: exchanges their types, or none, and sizes.
/// Collective.
pub fn all_can(comm: ffi::MPI_Comm, kind: Option<Float>, bytes: usize) -> Option<Float> {
    let code = kind.map_or(0, |kind| kind as u64);
    // The least and, as its complement, the greatest code; the complement of the largest size.
    let mut words = [code, !code, !(bytes as u64)];
    // SAFETY: three words on every rank; a communicator of the program.
    let failed = unsafe {
        let mine = words;
        ffi::PMPI_Allreduce(
            mine.as_ptr().cast(),
            words.as_mut_ptr().cast(),
            3,
            ffi::RSMPI_UINT64_T,
            ffi::RSMPI_MIN,
            comm,
        ) != 0
    };
    let same = words[0] == !words[1] && words[0] == code;
    kind.filter(|_| !failed && same && !words[2] >= ENVIRONMENT.min_bytes as u64)
}

/// The attribute that holds our duplicate of a communicator; freed with it.
static KEY: LazyLock<c_int> = LazyLock::new(|| {
    unsafe extern "C" fn copy(
        _: ffi::MPI_Comm,
        _: c_int,
        _: *mut c_void,
        _: *mut c_void,
        _: *mut c_void,
        flag: *mut c_int,
    ) -> c_int {
        // SAFETY: MPI passes a valid pointer to the flag.
        unsafe { *flag = 0 };
        0
    }
    unsafe extern "C" fn delete(
        _: ffi::MPI_Comm,
        _: c_int,
        ours: *mut c_void,
        _: *mut c_void,
    ) -> c_int {
        // SAFETY: the pointer was stored below.
        drop(unsafe { Box::from_raw(ours.cast::<Comm>()) });
        0
    }
    let mut key = 0;
    // SAFETY: functions with the right signatures.
    unsafe {
        ffi::PMPI_Comm_create_keyval(Some(copy), Some(delete), &mut key, std::ptr::null_mut());
    }
    key
});

/// Our duplicate of a communicator, if there is one already.
pub fn known_comm<'a>(comm: ffi::MPI_Comm) -> Option<&'a Comm> {
    let mut found = 0;
    let mut ours: *mut Comm = std::ptr::null_mut();
    // SAFETY: the attribute is a pointer stored by `own_comm`, and valid as long as `comm`.
    unsafe {
        let place: *mut *mut Comm = &mut ours;
        ffi::PMPI_Comm_get_attr(comm, *KEY, place.cast(), &mut found);
        (found != 0).then(|| &*ours)
    }
}

/// Our duplicate of a communicator. Collective the first time.
pub fn own_comm<'a>(comm: ffi::MPI_Comm) -> Result<&'a Comm, Error> {
    if let Some(known) = known_comm(comm) {
        return Ok(known);
    }
    // SAFETY: a communicator of the program, which frees ours with its own.
    unsafe {
        let ours = Box::into_raw(Box::new(Comm::from_raw(comm)?));
        ffi::PMPI_Comm_set_attr(comm, *KEY, ours.cast());
        Ok(&*ours)
    }
}

/// Logs a call, if requested.
pub fn say(call: &str, report: &Report) {
    if ENVIRONMENT.verbose {
        let (raw, sent) = (report.raw_bytes, report.sent_bytes);
        print_line(match report.compressed {
            true => format!("ebz: {call}: compressed, {raw} bytes, {sent} sent\n"),
            false => format!("ebz: {call}: raw\n"),
        });
    }
}

/// Prints an error; returns its MPI error code.
pub fn failed(call: &str, error: &Error) -> c_int {
    print_line(format!("ebz: {call}: {error}\n"));
    ffi::MPI_ERR_OTHER as c_int
}

/// In one write, because all ranks share the terminal.
fn print_line(line: String) {
    // Ignore a closed standard error.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Ends a call as MPI would: errors go to the error handler of the communicator.
pub fn end(comm: ffi::MPI_Comm, call: &str, result: Result<Report, Error>) -> c_int {
    match result {
        Ok(report) => {
            say(call, &report);
            0
        }
        Err(error) => {
            let code = failed(call, &error);
            // SAFETY: a communicator of the program; its error handler takes over.
            unsafe { ffi::PMPI_Comm_call_errhandler(comm, code) };
            code
        }
    }
}

/// Memory of the program as values; empty if the length is 0.
///
/// # Safety
/// The memory holds this many values, for as long as they are used.
pub unsafe fn values<'a, T>(memory: *const c_void, count: usize) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: guaranteed by the caller.
        _ => unsafe { std::slice::from_raw_parts(memory.cast(), count) },
    }
}

/// The same, mutable.
///
/// # Safety
/// As above, with exclusive access.
pub unsafe fn values_mut<'a, T>(memory: *mut c_void, count: usize) -> &'a mut [T] {
    match count {
        0 => &mut [],
        // SAFETY: guaranteed by the caller.
        _ => unsafe { std::slice::from_raw_parts_mut(memory.cast(), count) },
    }
}
