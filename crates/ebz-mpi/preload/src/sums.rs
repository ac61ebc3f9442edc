//! `MPI_Allreduce` of sums.

use crate::settings::ENVIRONMENT;
use crate::types::{Float, all_can, end, float, known_comm, own_comm, values, values_mut};
use ebz::Element;
use ebz_mpi::mpi::ffi;
use ebz_mpi::{Algorithm, Error, IN_PLACE, Report, Settings, allreduce, allreduce_from};
use std::ffi::{c_int, c_void};

/// Arguments of the call.
#[derive(Clone, Copy)]
pub struct Allreduce {
    pub from: *const c_void,
    pub to: *mut c_void,
    pub count: c_int,
    pub kind: ffi::MPI_Datatype,
    pub op: ffi::MPI_Op,
    pub comm: ffi::MPI_Comm,
}

impl Allreduce {
    /// # Safety
    /// The arguments are valid for MPI.
    pub unsafe fn run(self) -> c_int {
        let Self {
            from,
            to,
            count,
            kind,
            op,
            comm,
        } = self;
        // SAFETY: the arguments of the program.
        let plain = || unsafe { ffi::PMPI_Allreduce(from, to, count, kind, op, comm) };
        let Some(settings) = &ENVIRONMENT.settings else {
            return plain();
        };
        // Without any exchange.
        if known_comm(comm).is_some_and(|ours| ours.sums_stay_raw(settings)) {
            return plain();
        }
        // MPI requires operation, type and count to be the same on every rank.
        // SAFETY: a constant of MPI.
        let sum = op == unsafe { ffi::RSMPI_SUM };
        let Some(kind) = float(kind).filter(|_| sum) else {
            return plain();
        };
        let bytes = count.max(0) as usize * if kind == Float::Single { 4 } else { 8 };
        if bytes < ENVIRONMENT.min_bytes || all_can(comm, Some(kind), bytes).is_none() {
            return plain();
        }
        // SAFETY: the caller's memory holds this many values.
        let result = unsafe {
            match kind {
                Float::Single => self.sum::<f32>(settings),
                Float::Double => self.sum::<f64>(settings),
            }
        };
        end(comm, "MPI_Allreduce", result)
    }

    /// # Safety
    /// The memory holds values of this type.
    unsafe fn sum<T: Element>(self, settings: &Settings) -> Result<Report, Error> {
        let comm = own_comm(self.comm)?;
        let count = self.count.max(0) as usize;
        // SAFETY: guaranteed by the caller; MPI forbids overlap.
        let out = unsafe { values_mut::<T>(self.to, count) };
        if self.from == IN_PLACE {
            return allreduce(comm, out, &[count], Algorithm::Ring, settings);
        }
        // SAFETY: as above.
        let from = unsafe { values::<T>(self.from, count) };
        allreduce_from(comm, from, out, &[count], settings)
    }
}
