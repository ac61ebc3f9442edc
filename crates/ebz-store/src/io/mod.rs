//! Disk access: aligned memory, direct I/O, a rate limit.
//!
//! ```text
//! bytes ─► DirectWriter ─► aligned request of 8 MiB ─► Rate ─► DirectFile        (writing)
//! bytes ◄─ AlignedBuffer ◄──── aligned request ◄────── Rate ◄─ DirectFile        (reading)
//! ```

mod file;
mod memory;
mod probe;
mod rate;
mod writer;

pub use file::DirectFile;
pub use memory::{AlignedBuffer, BLOCK_BYTES, MAX_REQUEST_BYTES};
pub use probe::{DiskSpeed, probe};
pub use rate::Rate;
pub use writer::DirectWriter;
