//! `MPI_File_write(_at)(_all)`: floating-point values go to `.ebz` files next to the file that the program
//! names.
//!
//! A collective write whose parts are contiguous in the file becomes a frame of `NAME.ebz`; a write of a single
//! rank becomes a frame of `NAME.RANK.ebz`. Each frame records the offset of its values in the file. Everything
//! else is written unchanged.

use crate::settings::ENVIRONMENT;
use crate::types::{Float, all_can, failed, float, say, values};
use ebz::{Element, Options, View, Writer};
use ebz_mpi::mpi::ffi;
use ebz_mpi::mpi::traits::AsRaw;
use ebz_mpi::{Comm, Error, FileWriter, Report, Settings};
use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A file that the program has opened for writing.
struct Opened {
    /// A duplicate, because the program may free the communicator that it opened the file with. Freed by
    /// `close`.
    comm: &'static Comm,
    path: PathBuf,
    /// The program has set a view, so offsets are not contiguous byte positions.
    viewed: bool,
    collective: Option<FileWriter<'static>>,
    own: Option<Writer<File>>,
}

// SAFETY: MPI calls of a program that uses the library come from one thread at a time.
unsafe impl Send for Opened {}

static FILES: LazyLock<Mutex<HashMap<usize, Opened>>> = LazyLock::new(Mutex::default);

fn with<R>(file: ffi::MPI_File, f: impl FnOnce(&mut Opened) -> R) -> Option<R> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.get_mut(&(file as usize)).map(f)
}

/// # Safety
/// The arguments are valid for MPI.
pub unsafe fn open(
    comm: ffi::MPI_Comm,
    name: *const c_char,
    mode: c_int,
    info: ffi::MPI_Info,
    file: *mut ffi::MPI_File,
) -> c_int {
    // SAFETY: the arguments of the program.
    let code = unsafe { ffi::PMPI_File_open(comm, name, mode, info, file) };
    let writes = mode & (ffi::MPI_MODE_WRONLY | ffi::MPI_MODE_RDWR) as c_int != 0;
    if code != 0 || !writes || ENVIRONMENT.settings.is_none() {
        return code;
    }
    // SAFETY: the communicator of the program.
    let Ok(own) = (unsafe { Comm::from_raw(comm) }) else {
        return code;
    };
    // SAFETY: MPI requires a null-terminated name.
    let name = unsafe { CStr::from_ptr(name) };
    let opened = Opened {
        comm: Box::leak(Box::new(own)),
        path: PathBuf::from(OsStr::from_bytes(name.to_bytes())),
        viewed: false,
        collective: None,
        own: None,
    };
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: set by the call above.
    files.insert(unsafe { *file } as usize, opened);
    code
}

/// # Safety
/// The arguments are valid for MPI.
pub unsafe fn set_view(
    file: ffi::MPI_File,
    start: ffi::MPI_Offset,
    unit: ffi::MPI_Datatype,
    kind: ffi::MPI_Datatype,
    representation: *const c_char,
    info: ffi::MPI_Info,
) -> c_int {
    with(file, |opened| opened.viewed = true);
    // SAFETY: the arguments of the program.
    unsafe { ffi::PMPI_File_set_view(file, start, unit, kind, representation, info) }
}

/// # Safety
/// The argument is valid for MPI.
pub unsafe fn close(file: *mut ffi::MPI_File) -> c_int {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: a handle of the program.
    let opened = files.remove(&(unsafe { *file } as usize));
    drop(files);
    let result = opened.map_or(Ok(()), Opened::finish);
    // SAFETY: the argument of the program; the default file error handler handles the error.
    unsafe {
        let code = ffi::PMPI_File_close(file);
        match result {
            Ok(()) => code,
            Err(error) => {
                let code = failed("MPI_File_close", &error);
                ffi::PMPI_File_call_errhandler(ffi::RSMPI_FILE_NULL, code);
                code
            }
        }
    }
}

/// Arguments of a write.
#[derive(Clone, Copy)]
pub struct Write {
    pub file: ffi::MPI_File,
    /// `None` for the individual file pointer.
    pub offset: Option<ffi::MPI_Offset>,
    pub from: *const c_void,
    pub count: c_int,
    pub kind: ffi::MPI_Datatype,
    pub status: *mut ffi::MPI_Status,
    pub collective: bool,
}

impl Write {
    /// # Safety
    /// The arguments are valid for MPI.
    pub unsafe fn run(self) -> c_int {
        let kind = float(self.kind);
        let bytes = self.count.max(0) as usize * if kind == Some(Float::Single) { 4 } else { 8 };
        let known = with(self.file, |opened| (opened.comm, opened.viewed));
        let (Some((comm, viewed)), Some(settings)) = (known, &ENVIRONMENT.settings) else {
            // SAFETY: the arguments of the program.
            return unsafe { self.plain() };
        };
        // Setting a view is collective.
        let can = kind.filter(|_| !viewed);
        let place = self.place();
        let decided = match self.collective {
            true => all_can(comm.as_raw(), can, bytes).and_then(|kind| {
                let size = if kind == Float::Single { 4 } else { 8 };
                contiguous(comm, place, bytes, size).map(|(first, all)| (kind, first, all))
            }),
            false => can
                .filter(|_| bytes >= ENVIRONMENT.min_bytes)
                .map(|kind| (kind, place, bytes)),
        };
        let Some((kind, first, all)) = decided else {
            // SAFETY: the arguments of the program.
            return unsafe { self.plain() };
        };
        // SAFETY: the caller's memory holds values of this type.
        let result = unsafe {
            match kind {
                Float::Single => self.write::<f32>(settings, first, place, all),
                Float::Double => self.write::<f64>(settings, first, place, all),
            }
        };
        if result.is_ok() {
            // SAFETY: handles of the program.
            unsafe { self.pretend(bytes) };
        }
        match result {
            Ok(report) => {
                say("MPI_File_write", &report);
                0
            }
            Err(error) => {
                let code = failed("MPI_File_write", &error);
                // SAFETY: a file of the program; its error handler takes over.
                unsafe { ffi::PMPI_File_call_errhandler(self.file, code) };
                code
            }
        }
    }

    fn place(&self) -> u64 {
        let here = self.offset.unwrap_or_else(|| {
            let mut here = 0;
            // SAFETY: a file of the program without a view: offsets in bytes.
            unsafe { ffi::PMPI_File_get_position(self.file, &mut here) };
            here
        });
        here.max(0) as u64
    }

    /// # Safety
    /// The arguments are valid for MPI.
    unsafe fn plain(self) -> c_int {
        let Self {
            file,
            from,
            count,
            kind,
            status,
            ..
        } = self;
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (self.offset, self.collective) {
                (Some(at), true) => {
                    ffi::PMPI_File_write_at_all(file, at, from, count, kind, status)
                }
                (Some(at), false) => ffi::PMPI_File_write_at(file, at, from, count, kind, status),
                (None, true) => ffi::PMPI_File_write_all(file, from, count, kind, status),
                (None, false) => ffi::PMPI_File_write(file, from, count, kind, status),
            }
        }
    }

    /// Sets file pointer and status as MPI would.
    ///
    /// # Safety
    /// The handles are valid.
    unsafe fn pretend(self, bytes: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.offset.is_none() {
                let by = bytes as ffi::MPI_Offset;
                ffi::PMPI_File_seek(self.file, by, ffi::MPI_SEEK_CUR as c_int);
            }
            if self.status != ffi::RSMPI_STATUS_IGNORE {
                ffi::PMPI_Status_set_elements(self.status, self.kind, self.count);
            }
        }
    }

    /// # Safety
    /// The memory holds values of this type.
    unsafe fn write<T: Element>(
        self,
        settings: &Settings,
        first: u64,
        place: u64,
        all: usize,
    ) -> Result<Report, Error> {
        let count = self.count.max(0) as usize;
        // SAFETY: guaranteed by the caller.
        let values = unsafe { values::<T>(self.from, count) };
        let offset = [("offset".to_string(), serde_json::Value::from(first))];
        let options = settings
            .options
            .clone()
            .metadata(serde_json::Value::Object(offset.into_iter().collect()));
        let written = with(self.file, |opened| match self.collective {
            true => {
                let start = (place - first) as usize / size_of::<T>();
                let region = start..start + count;
                opened.frame(&[all / size_of::<T>()], region, values, &options)
            }
            false => opened.own_frame(values, &options),
        });
        let stored = written.unwrap_or(Ok(0))?;
        let mut report = Report::default();
        report.compressed = true;
        report.raw_bytes = size_of_val(values) as u64;
        report.sent_bytes = stored;
        Ok(report)
    }
}

impl Opened {
    /// Finishes the files. Collective.
    fn finish(self) -> Result<(), Error> {
        let mut result = Ok(());
        if let Some(writer) = self.collective {
            result = writer.finish();
        }
        if let Some(writer) = self.own {
            let done = writer.finish().and_then(|file| Ok(file.sync_all()?));
            result = result.and(done.map_err(Error::from));
        }
        // SAFETY: leaked by `open`; nothing else refers to it, now that the writers are gone.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(self.comm).cast_mut()) });
        result
    }

    fn frame<T: Element>(
        &mut self,
        shape: &[usize],
        region: std::ops::Range<usize>,
        values: &[T],
        options: &Options,
    ) -> Result<u64, Error> {
        if self.collective.is_none() {
            let mut path = self.path.clone().into_os_string();
            path.push(".ebz");
            self.collective = Some(FileWriter::create(self.comm, PathBuf::from(path))?);
        }
        match &mut self.collective {
            Some(writer) => Ok(writer
                .frame(shape, &[region], values, options)?
                .stored_bytes),
            None => Ok(0),
        }
    }

    fn own_frame<T: Element>(&mut self, values: &[T], options: &Options) -> Result<u64, Error> {
        if self.own.is_none() {
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".{}.ebz", self.comm.rank()));
            self.own = Some(Writer::create(PathBuf::from(path), options.clone())?);
        }
        match &mut self.own {
            Some(writer) => {
                *writer.options_mut() = options.clone();
                let view = View::new(values, &[values.len()])?;
                Ok(writer.frame(&view)?.stored_bytes)
            }
            None => Ok(0),
        }
    }
}

/// Offsets and sizes of the parts of all ranks, if they are contiguous. Collective.
fn contiguous(comm: &Comm, place: u64, bytes: usize, size: u64) -> Option<(u64, usize)> {
    let all = comm.allgather_pair([place, bytes as u64]).ok()?;
    let mut parts: Vec<[u64; 2]> = all.into_iter().filter(|part| part[1] > 0).collect();
    parts.sort_unstable();
    let first = parts.first()?[0];
    let mut at = first;
    for [start, length] in parts {
        if start != at || length % size != 0 {
            return None;
        }
        at += length;
    }
    Some((first, (at - first) as usize))
}
