//! `MPI_Gather` and `MPI_Gatherv`.

use crate::settings::ENVIRONMENT;
use crate::types::{Float, all_can, end, float, known_comm, own_comm, say, values, values_mut};
use ebz::Element;
use ebz_mpi::mpi::ffi;
use ebz_mpi::{Error, IN_PLACE, Report, Settings, gather_if_faster};
use std::ffi::{c_int, c_void};

/// Arguments of the call.
#[derive(Clone, Copy)]
pub struct Gather {
    pub from: *const c_void,
    pub count: c_int,
    pub kind: ffi::MPI_Datatype,
    pub to: *mut c_void,
    pub places: Places,
    pub to_kind: ffi::MPI_Datatype,
    pub root: c_int,
    pub comm: ffi::MPI_Comm,
}

/// Destination of each rank's values at the root.
#[derive(Clone, Copy)]
pub enum Places {
    /// Equal counts, contiguous.
    Even(c_int),
    /// Counts and displacements.
    Each(*const c_int, *const c_int),
}

impl Gather {
    /// # Safety
    /// The arguments are valid for MPI.
    pub unsafe fn run(self) -> c_int {
        let Self {
            from,
            count,
            kind,
            to,
            to_kind,
            root,
            comm,
            ..
        } = self;
        // SAFETY: the arguments of the program.
        let plain = || unsafe {
            match self.places {
                Places::Even(each) => {
                    ffi::PMPI_Gather(from, count, kind, to, each, to_kind, root, comm)
                }
                Places::Each(counts, places) => {
                    ffi::PMPI_Gatherv(from, count, kind, to, counts, places, to_kind, root, comm)
                }
            }
        };
        let Some(settings) = &ENVIRONMENT.settings else {
            return plain();
        };
        // Without any exchange.
        if known_comm(comm).is_some_and(|ours| ours.gathers_stay_raw(settings)) {
            return plain();
        }
        let (mut rank, mut size, mut inter) = (0, 0, 0);
        // SAFETY: a communicator of the program.
        unsafe {
            ffi::PMPI_Comm_test_inter(comm, &mut inter);
            ffi::PMPI_Comm_rank(comm, &mut rank);
            ffi::PMPI_Comm_size(comm, &mut size);
        }
        if inter != 0 {
            return plain();
        }
        let is_root = rank == root;
        // The root's receive type decides there; its own values may be in place already.
        let kind = match is_root {
            true if from != IN_PLACE && float(kind) != float(to_kind) => None,
            true => float(to_kind),
            false => float(kind),
        };
        let own = if from == IN_PLACE {
            0
        } else {
            count.max(0) as usize
        };
        let Some(kind) = all_can(comm, kind, own * 4) else {
            return plain();
        };
        // SAFETY: the caller's memory holds values of this type.
        let result = unsafe {
            match kind {
                Float::Single => self.gather::<f32>(settings, rank, size as usize),
                Float::Double => self.gather::<f64>(settings, rank, size as usize),
            }
        };
        match result {
            Ok(None) => {
                say("MPI_Gather", &Report::default());
                plain()
            }
            Ok(Some(report)) => end(comm, "MPI_Gather", Ok(report)),
            Err(error) => end(comm, "MPI_Gather", Err(error)),
        }
    }

    /// # Safety
    /// The memory holds values of this type.
    unsafe fn gather<T: Element>(
        self,
        settings: &Settings,
        rank: c_int,
        size: usize,
    ) -> Result<Option<Report>, Error> {
        let comm = own_comm(self.comm)?;
        let root = self.root as usize;
        let count = self.count.max(0) as usize;
        if rank != self.root {
            // SAFETY: guaranteed by the caller.
            let own = unsafe { values::<T>(self.from, count) };
            return gather_if_faster(comm, own, &[count], root, Vec::new(), settings);
        }
        let place = |rank: usize| -> (usize, isize) {
            match self.places {
                Places::Even(each) => (each.max(0) as usize, rank as isize * each as isize),
                // SAFETY: MPI requires one count and one displacement per rank.
                Places::Each(counts, places) => unsafe {
                    (
                        (*counts.add(rank)).max(0) as usize,
                        *places.add(rank) as isize,
                    )
                },
            }
        };
        let part = |rank: usize| {
            let (count, place) = place(rank);
            let start = self.to.cast::<T>().wrapping_offset(place);
            // SAFETY: MPI forbids overlapping parts.
            unsafe { values_mut::<T>(start.cast(), count) }
        };
        let own = match self.from == IN_PLACE {
            true => part(root).to_vec(),
            false => Vec::new(),
        };
        let own = match self.from == IN_PLACE {
            true => &own[..],
            // SAFETY: guaranteed by the caller.
            false => unsafe { values::<T>(self.from, count) },
        };
        let parts = (0..size).map(part).collect();
        gather_if_faster(comm, own, &[own.len()], root, parts, settings)
    }
}
