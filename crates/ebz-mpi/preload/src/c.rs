//! The functions called by C programs and by Python with mpi4py.

use crate::files;
use crate::gathers::{Gather, Places};
use crate::sums::Allreduce;
use ebz_mpi::mpi::ffi::{
    MPI_Comm, MPI_Datatype, MPI_File, MPI_Info, MPI_Offset, MPI_Op, MPI_Status,
};
use std::ffi::{c_char, c_int, c_void};

/// # Safety
/// As MPI says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Allreduce(
    from: *const c_void,
    to: *mut c_void,
    count: c_int,
    kind: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let call = Allreduce {
        from,
        to,
        count,
        kind,
        op,
        comm,
    };
    // SAFETY: guaranteed by the caller.
    unsafe { call.run() }
}

/// # Safety
/// As MPI says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Gather(
    from: *const c_void,
    count: c_int,
    kind: MPI_Datatype,
    to: *mut c_void,
    each: c_int,
    to_kind: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> c_int {
    let places = Places::Even(each);
    let call = Gather {
        from,
        count,
        kind,
        to,
        places,
        to_kind,
        root,
        comm,
    };
    // SAFETY: guaranteed by the caller.
    unsafe { call.run() }
}

/// # Safety
/// As MPI says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Gatherv(
    from: *const c_void,
    count: c_int,
    kind: MPI_Datatype,
    to: *mut c_void,
    counts: *const c_int,
    places: *const c_int,
    to_kind: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> c_int {
    let places = Places::Each(counts, places);
    let call = Gather {
        from,
        count,
        kind,
        to,
        places,
        to_kind,
        root,
        comm,
    };
    // SAFETY: guaranteed by the caller.
    unsafe { call.run() }
}

/// # Safety
/// As MPI says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_File_open(
    comm: MPI_Comm,
    name: *const c_char,
    mode: c_int,
    info: MPI_Info,
    file: *mut MPI_File,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { files::open(comm, name, mode, info, file) }
}

/// # Safety
/// As MPI says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_File_set_view(
    file: MPI_File,
    start: MPI_Offset,
    unit: MPI_Datatype,
    kind: MPI_Datatype,
    representation: *const c_char,
    info: MPI_Info,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { files::set_view(file, start, unit, kind, representation, info) }
}

/// # Safety
/// As MPI says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_File_close(file: *mut MPI_File) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { files::close(file) }
}

macro_rules! writes {
    ($($name:ident $at:ident $collective:literal;)*) => {$(
        writes!(@ $name $at $collective);
    )*};
    (@ $name:ident at $collective:literal) => {
        /// # Safety
        /// As MPI says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            file: MPI_File,
            offset: MPI_Offset,
            from: *const c_void,
            count: c_int,
            kind: MPI_Datatype,
            status: *mut MPI_Status,
        ) -> c_int {
            let call = files::Write {
                file, offset: Some(offset), from, count, kind, status, collective: $collective,
            };
            // SAFETY: guaranteed by the caller.
            unsafe { call.run() }
        }
    };
    (@ $name:ident here $collective:literal) => {
        /// # Safety
        /// As MPI says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            file: MPI_File,
            from: *const c_void,
            count: c_int,
            kind: MPI_Datatype,
            status: *mut MPI_Status,
        ) -> c_int {
            let call = files::Write {
                file, offset: None, from, count, kind, status, collective: $collective,
            };
            // SAFETY: guaranteed by the caller.
            unsafe { call.run() }
        }
    };
}

writes! {
    MPI_File_write here false;
    MPI_File_write_all here true;
    MPI_File_write_at at false;
    MPI_File_write_at_all at true;
}
