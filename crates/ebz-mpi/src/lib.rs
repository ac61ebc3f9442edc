//! Parallel I/O and collectives of MPI with error-bounded compression.

mod collective;
mod comm;
mod error;
mod lattice;
mod message;
mod ratio;
mod settings;
mod slabs;
mod speed;
mod wide;

pub use collective::{allgather, bcast, gather, gather_into, scatter};
pub use comm::Comm;
pub use error::{Error, Result};
pub use mpi;
pub use settings::{Mode, Report, Settings};
pub use speed::{Estimate, Rates};
