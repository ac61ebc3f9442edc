//! Compresses the messages and files of unmodified programs.
//!
//! ```console
//! EBZ_MPI_RANGE=1e-4 LD_PRELOAD=libebz_mpi_preload.so mpirun -n 4 program
//! ```
//!
//! The library takes the place of a few functions of MPI. Nothing changes unless a bound is set, and calls
//! that it cannot improve go to MPI as they are: other types, other operations, short messages. Which way a
//! call goes, all ranks decide together.

mod api;
mod c;
mod files;
mod fortran;
mod gathers;
mod settings;
mod sums;
mod types;
