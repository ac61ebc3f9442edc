//! Settings and statistics of a grid.

use super::Layout;
use super::servant::MAX_SEGMENTS;
use crate::io::{MAX_REQUEST_BYTES, Rate};
use ebz::{Options, Tolerance};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a grid is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Values in memory.
    RawMemory,
    /// Values on disk.
    RawDisk,
    /// Compressed in memory.
    CompressedMemory,
    /// Compressed on disk.
    CompressedDisk,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [
        Self::RawMemory,
        Self::RawDisk,
        Self::CompressedMemory,
        Self::CompressedDisk,
    ];

    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RawMemory => "raw-memory",
            Self::RawDisk => "raw-disk",
            Self::CompressedMemory => "compressed-memory",
            Self::CompressedDisk => "compressed-disk",
        }
    }

    /// Whether it is on disk.
    pub const fn on_disk(self) -> bool {
        matches!(self, Self::RawDisk | Self::CompressedDisk)
    }

    /// Whether it is compressed.
    pub const fn is_compressed(self) -> bool {
        matches!(self, Self::CompressedMemory | Self::CompressedDisk)
    }

    /// The uncompressed state in the same place.
    pub const fn raw(self) -> Self {
        if self.on_disk() {
            Self::RawDisk
        } else {
            Self::RawMemory
        }
    }
}

/// Settings of a grid.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How it is stored.
    pub state: State,
    /// How it is split.
    pub layout: Layout,
    /// The error bound of the compressed states.
    pub tolerance: Tolerance,
    /// Codec, parameters and instruction set of the compressed states.
    pub options: Options,
    /// Memory limit for compressed slabs of both grids together.
    pub memory: u64,
    /// Maximum size of a disk request.
    pub segment: usize,
    /// Folder of the states on disk.
    pub folder: PathBuf,
    /// Rate limit of the disk.
    pub rate: Arc<Rate>,
    /// Everything that determines the results of the run; only grids with the same identity can be
    /// resumed.
    pub identity: String,
}

impl Settings {
    /// Maximum size of a disk request if memory is not limited.
    pub const SEGMENT: usize = MAX_REQUEST_BYTES;

    /// Memory of one lane, besides the grid itself.
    pub fn lane_bytes(&self) -> u64 {
        let slab = self.layout.slab_bytes() as u64;
        let values = if self.state.is_compressed() {
            // Three decoded slabs, one to encode, one encoded (worst case).
            5 * slab
        } else {
            0
        };
        let segment = if self.state.on_disk() {
            2 * MAX_SEGMENTS as u64 * slab.max(self.segment as u64)
        } else {
            0
        };
        values + segment
    }
}

/// Traffic and wait times of one or more lanes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moved {
    /// Bytes read from storage.
    pub read: u64,
    /// Bytes written to storage.
    pub written: u64,
    /// Time that workers waited for planes, summed over threads.
    pub waited_reading: Duration,
    /// Time that workers waited for buffers, summed over threads.
    pub waited_writing: Duration,
}

impl Moved {
    /// The sum of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            written: self.written + other.written,
            waited_reading: self.waited_reading + other.waited_reading,
            waited_writing: self.waited_writing + other.waited_writing,
        }
    }
}
