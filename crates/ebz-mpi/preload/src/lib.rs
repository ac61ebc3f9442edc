//! Compresses the messages and files of unmodified programs.
//!
//! ```console
//! EBZ_MPI_RANGE=1e-4 LD_PRELOAD=libebz_mpi_preload.so mpirun -n 4 program
//! ```
//!
//! The library replaces a few MPI functions. It does nothing unless a bound is set, and passes calls that
//! it cannot improve on to MPI: other types, other operations, short messages. All ranks make this decision
//! together.

mod api;
mod c;
mod files;
mod fortran;
mod gathers;
mod settings;
mod sums;
mod types;
