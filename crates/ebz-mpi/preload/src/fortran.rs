//! The functions that Fortran programs call: Open MPI's own go past the names of C. Those of `mpif.h` and
//! of `use mpi`, and those that `use mpi_f08` is made of.

use crate::gathers::{Gather, Places};
use crate::sums::Allreduce;
use ebz_mpi::IN_PLACE;
use ebz_mpi::mpi::ffi::{self, RSMPI_Fint as MPI_Fint};
use std::ffi::{c_int, c_void};

unsafe extern "C" {
    /// `MPI_IN_PLACE` of Fortran is the address of this.
    static mpi_fortran_in_place_: c_int;
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
    // SAFETY: arguments of Fortran are addresses; `error` may be missing in newer modules.
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
    // SAFETY: as above; an integer of Fortran is one of C here.
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
