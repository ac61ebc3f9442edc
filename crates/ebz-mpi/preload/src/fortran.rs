//! The functions called by Fortran programs, since Open MPI's Fortran bindings bypass the C names: those
//! of `mpif.h` and `use mpi`, and those behind `use mpi_f08`.

use crate::files;
use crate::gathers::{Gather, Places};
use crate::sums::Allreduce;
use ebz_mpi::IN_PLACE;
use ebz_mpi::mpi::ffi::{self, RSMPI_Fint as MPI_Fint};
use std::ffi::{CString, c_char, c_int, c_void};

unsafe extern "C" {
    /// `MPI_IN_PLACE` of Fortran is the address of this.
    static mpi_fortran_in_place_: c_int;
    /// `MPI_STATUS_IGNORE` of Fortran is the address of this.
    static mpi_fortran_status_ignore_: c_int;
}

fn place(from: *const c_void) -> *const c_void {
    match from == (&raw const mpi_fortran_in_place_).cast() {
        true => IN_PLACE,
        false => from,
    }
}

macro_rules! both {
    ($a:ident $b:ident ($($name:ident: $type:ty),*) $body:block) => {
        /// # Safety
        /// As MPI says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $a($($name: $type),*) $body
        /// # Safety
        /// As MPI says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $b($($name: $type),*) $body
    };
}

both!(mpi_allreduce_ ompi_allreduce_f (
    from: *const c_void, to: *mut c_void, count: *const MPI_Fint, kind: *const MPI_Fint,
    op: *const MPI_Fint, comm: *const MPI_Fint, error: *mut MPI_Fint
) {
    // SAFETY: Fortran passes addresses; `error` may be missing in newer modules.
    unsafe {
        let code = Allreduce {
            from: place(from),
            to,
            count: *count,
            kind: ffi::PMPI_Type_f2c(*kind),
            op: ffi::PMPI_Op_f2c(*op),
            comm: ffi::PMPI_Comm_f2c(*comm),
        }
        .run();
        if !error.is_null() {
            *error = code;
        }
    }
});

both!(mpi_gather_ ompi_gather_f (
    from: *const c_void, count: *const MPI_Fint, kind: *const MPI_Fint, to: *mut c_void,
    each: *const MPI_Fint, to_kind: *const MPI_Fint, root: *const MPI_Fint,
    comm: *const MPI_Fint, error: *mut MPI_Fint
) {
    // SAFETY: as above.
    unsafe {
        let code = Gather {
            from: place(from),
            count: *count,
            kind: ffi::PMPI_Type_f2c(*kind),
            to,
            places: Places::Even(*each),
            to_kind: ffi::PMPI_Type_f2c(*to_kind),
            root: *root,
            comm: ffi::PMPI_Comm_f2c(*comm),
        }
        .run();
        if !error.is_null() {
            *error = code;
        }
    }
});

both!(mpi_gatherv_ ompi_gatherv_f (
    from: *const c_void, count: *const MPI_Fint, kind: *const MPI_Fint, to: *mut c_void,
    counts: *const MPI_Fint, places: *const MPI_Fint, to_kind: *const MPI_Fint,
    root: *const MPI_Fint, comm: *const MPI_Fint, error: *mut MPI_Fint
) {
    // SAFETY: as above; Fortran integers are C ints here.
    unsafe {
        let code = Gather {
            from: place(from),
            count: *count,
            kind: ffi::PMPI_Type_f2c(*kind),
            to,
            places: Places::Each(counts, places),
            to_kind: ffi::PMPI_Type_f2c(*to_kind),
            root: *root,
            comm: ffi::PMPI_Comm_f2c(*comm),
        }
        .run();
        if !error.is_null() {
            *error = code;
        }
    }
});

both!(mpi_file_open_ ompi_file_open_f (
    comm: *const MPI_Fint, name: *const c_char, mode: *const MPI_Fint, info: *const MPI_Fint,
    file: *mut MPI_Fint, error: *mut MPI_Fint, length: c_int
) {
    // SAFETY: as above; a Fortran string has a length, and is padded with blanks.
    unsafe {
        let name = std::slice::from_raw_parts(name.cast::<u8>(), length.max(0) as usize);
        let name = CString::new(name.trim_ascii()).unwrap_or_default();
        let mut opened = ffi::RSMPI_FILE_NULL;
        let (comm, info) = (ffi::PMPI_Comm_f2c(*comm), ffi::PMPI_Info_f2c(*info));
        let code = files::open(comm, name.as_ptr(), *mode, info, &mut opened);
        *file = ffi::PMPI_File_c2f(opened);
        if !error.is_null() {
            *error = code;
        }
    }
});

both!(mpi_file_set_view_ ompi_file_set_view_f (
    file: *const MPI_Fint, start: *const ffi::MPI_Offset, unit: *const MPI_Fint, kind: *const MPI_Fint,
    representation: *const c_char, info: *const MPI_Fint, error: *mut MPI_Fint, length: c_int
) {
    // SAFETY: as above.
    unsafe {
        let name = std::slice::from_raw_parts(representation.cast::<u8>(), length.max(0) as usize);
        let name = CString::new(name.trim_ascii()).unwrap_or_default();
        let code = files::set_view(
            ffi::PMPI_File_f2c(*file),
            *start,
            ffi::PMPI_Type_f2c(*unit),
            ffi::PMPI_Type_f2c(*kind),
            name.as_ptr(),
            ffi::PMPI_Info_f2c(*info),
        );
        if !error.is_null() {
            *error = code;
        }
    }
});

both!(mpi_file_close_ ompi_file_close_f (file: *mut MPI_Fint, error: *mut MPI_Fint) {
    // SAFETY: as above.
    unsafe {
        let mut closed = ffi::PMPI_File_f2c(*file);
        let code = files::close(&mut closed);
        *file = ffi::PMPI_File_c2f(closed);
        if !error.is_null() {
            *error = code;
        }
    }
});

/// A write with Fortran arguments; the offset is null for the individual file pointer.
///
/// # Safety
/// As above.
unsafe fn write(
    file: *const MPI_Fint,
    offset: *const ffi::MPI_Offset,
    from: *const c_void,
    (count, kind): (*const MPI_Fint, *const MPI_Fint),
    (status, error): (*mut MPI_Fint, *mut MPI_Fint),
    collective: bool,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut told = std::mem::zeroed();
        let call = files::Write {
            file: ffi::PMPI_File_f2c(*file),
            offset: offset.as_ref().copied(),
            from,
            count: *count,
            kind: ffi::PMPI_Type_f2c(*kind),
            status: &mut told,
            collective,
        };
        let code = call.run();
        if status.cast_const() != &raw const mpi_fortran_status_ignore_ {
            ffi::PMPI_Status_c2f(&told, status);
        }
        if !error.is_null() {
            *error = code;
        }
    }
}

macro_rules! writes {
    (@offset) => { std::ptr::null() };
    (@offset $offset:ident) => { $offset };
    ($($a:ident $b:ident $collective:literal $($offset:ident)?;)*) => {$(
        both!($a $b (
            file: *const MPI_Fint, $($offset: *const ffi::MPI_Offset,)? from: *const c_void,
            count: *const MPI_Fint, kind: *const MPI_Fint, status: *mut MPI_Fint, error: *mut MPI_Fint
        ) {
            // SAFETY: as above.
            unsafe {
                let offset = writes!(@offset $($offset)?);
                write(file, offset, from, (count, kind), (status, error), $collective);
            }
        });
    )*};
}

writes! {
    mpi_file_write_ ompi_file_write_f false;
    mpi_file_write_all_ ompi_file_write_all_f true;
    mpi_file_write_at_ ompi_file_write_at_f false offset;
    mpi_file_write_at_all_ ompi_file_write_at_all_f true offset;
}
