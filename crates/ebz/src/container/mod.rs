//! The `.ebz` container: frames of independent chunks, in checksummed records.
//!
//! ```text
//! file   = signature, records, index record
//! frame  = frame record, chunk records, end record (the chunk lengths)
//! record = header (marker, kind, frame, number, length, checksum), body
//! ```
//!
//! `docs/format.md` specifies every byte. The container accesses codecs only through their table.

mod append;
mod bytes;
mod file_header;
mod frame;
mod index;
mod limits;
mod memory;
mod reader;
mod record;
mod recover;
mod size;
mod slab;
mod source;
mod stream;
mod trailing;
mod writer;

pub use append::LockedFile;
pub use limits::Limits;
pub use reader::{Frame, Reader};
pub use recover::{Recovered, recover, recover_within};
pub use size::max_compressed_size;
pub use slab::{EncodedSlab, SlabCoder};
pub use source::Source;
pub use stream::StreamReader;
pub use writer::{FrameStats, FrameWriter, Writer, choose};

/// First bytes of every file. The line ends and the high bit reveal damage by text-mode transfers.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89EBZ\r\n\x1a\n";

/// Format version that this library writes, and the newest one that it reads.
pub const FORMAT_VERSION: u16 = 1;
