//! Parallel I/O and MPI collectives with error-bounded compression.

mod collective;
mod comm;
mod error;
mod file;
mod lattice;
mod link;
mod message;
mod point;
mod ratio;
mod raw;
mod reduce;
mod settings;
mod slabs;
mod speed;
mod wide;

pub use collective::{allgather, bcast, gather, gather_if_faster, scatter};
pub use comm::{Comm, IN_PLACE};
pub use error::{Error, Result};
pub use file::{FileReader, FileWriter, FrameReport};
pub use mpi;
pub use point::{recv, send};
pub use reduce::{Algorithm, allreduce, allreduce_from, reduce, reduce_scatter};
pub use settings::{Mode, Report, Settings};
pub use speed::{Estimate, Rates};
