//! How a grid is kept, and what keeping it costs.

use super::Layout;
use super::servant::SEGMENTS;
use crate::io::{REQUEST, Rate};
use ebz::{Options, Tolerance};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a grid lives in.
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

    /// Name as the command gives it.
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

    /// The state in the same place without compression.
    pub const fn raw(self) -> Self {
        if self.on_disk() {
            Self::RawDisk
        } else {
            Self::RawMemory
        }
    }
}

/// How a grid is to be kept.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What it lives in.
    pub state: State,
    /// How it is cut.
    pub layout: Layout,
    /// The guarantee of the compressed states.
    pub tolerance: Tolerance,
    /// Codec, parameters and instructions of the compressed states.
    pub options: Options,
    /// Bytes that compressed slabs in memory may take, both grids together.
    pub memory: u64,
    /// Most bytes of a request to the disk.
    pub segment: usize,
    /// Where the states on disk are.
    pub folder: PathBuf,
    /// How fast the disk may be.
    pub rate: Arc<Rate>,
    /// What determines every number of the run; only grids with the same can be continued.
    pub identity: String,
}

impl Settings {
    /// Most bytes of a request to the disk if memory does not matter.
    pub const SEGMENT: usize = REQUEST;

    /// Bytes of memory that one lane takes besides the grid itself.
    pub fn lane_bytes(&self) -> u64 {
        let slab = self.layout.slab_bytes() as u64;
        let values = if self.state.is_compressed() {
            // Three decoded, one to encode, one encoded (at worst).
            5 * slab
        } else {
            0
        };
        let segment = if self.state.on_disk() {
            2 * SEGMENTS as u64 * slab.max(self.segment as u64)
        } else {
            0
        };
        values + segment
    }
}

/// What one or more lanes moved, and how long they waited for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moved {
    /// Bytes read from where the grid lives.
    pub read: u64,
    /// Bytes written to it.
    pub written: u64,
    /// Time that workers waited for planes, all threads together.
    pub waited_reading: Duration,
    /// Time that workers waited for room, all threads together.
    pub waited_writing: Duration,
}

impl Moved {
    /// Both together.
    pub fn join(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            written: self.written + other.written,
            waited_reading: self.waited_reading + other.waited_reading,
            waited_writing: self.waited_writing + other.waited_writing,
        }
    }
}
