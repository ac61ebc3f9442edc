//! Options of a frame store.

use ebz::{Bound, Error, Options, Result};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where frames are stored, and which threads move them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Uncompressed in memory.
    Memory,
    /// Uncompressed in a file; a servant writes and reads.
    Disk,
    /// Compressed in a file; the calling thread does everything and waits for the disk.
    CompressedDisk,
    /// Compressed in a file; servants compress, write, read and decompress.
    CompressedDiskServants,
    /// Compressed in memory; servants compress and decompress.
    CompressedMemory,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Self; 5] = [
        Self::Memory,
        Self::Disk,
        Self::CompressedDisk,
        Self::CompressedDiskServants,
        Self::CompressedMemory,
    ];

    /// Name in commands and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::CompressedDisk => "compressed-disk",
            Self::CompressedDiskServants => "compressed-disk-servants",
            Self::CompressedMemory => "compressed-memory",
        }
    }

    /// Whether frames are stored in a file.
    pub const fn needs_file(self) -> bool {
        !matches!(self, Self::Memory | Self::CompressedMemory)
    }

    /// Whether frames are exact, whatever the bound.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Memory | Self::Disk)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|policy| policy.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(format!("unknown policy '{name}': use one of {names}"))
        })
    }
}

/// Options of a frame store. Everything has a default except the policy, the bound, and the path
/// for policies with a file.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Where frames are stored.
    pub policy: Policy,
    /// Bound, codec and chunk shape. Uncompressed policies only use the chunk shape.
    pub coding: Options,
    /// The file, for policies that have one; an existing file is replaced.
    pub path: Option<PathBuf>,
    /// Number of threads that compress and decompress whole frames.
    pub servants: usize,
    /// Number of frames in flight before the application has to wait.
    pub buffers: usize,
    /// Whether to use direct I/O where possible.
    pub direct: bool,
    /// Limit on the bytes per second to and from the file.
    pub disk_rate: Option<f64>,
    /// Whether to pin servants to cores, the last core first.
    pub pin: bool,
    /// Number of frames that the memory policy allocates in advance, outside of any timing.
    pub expected_frames: usize,
}

impl StoreOptions {
    /// Defaults: one servant, three buffers, direct I/O, no rate limit.
    pub fn new(policy: Policy, coding: Options) -> Self {
        Self {
            policy,
            coding,
            path: None,
            servants: 1,
            buffers: 3,
            direct: true,
            disk_rate: None,
            pin: false,
            expected_frames: 0,
        }
    }

    /// Sets the file.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the number of threads that compress and decompress whole frames; at least one.
    pub fn servants(mut self, servants: usize) -> Self {
        self.servants = servants.max(1);
        self
    }

    /// Sets the number of frames in flight; at least one.
    pub fn buffers(mut self, buffers: usize) -> Self {
        self.buffers = buffers.max(1);
        self
    }

    /// Sets whether to use direct I/O where possible.
    pub fn direct(mut self, direct: bool) -> Self {
        self.direct = direct;
        self
    }

    /// Sets the limit on the bytes per second to and from the file.
    pub fn disk_rate(mut self, bytes_per_second: Option<f64>) -> Self {
        self.disk_rate = bytes_per_second;
        self
    }

    /// Sets whether to pin servants to cores.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// Sets the number of frames that the memory policy allocates in advance.
    pub fn expected_frames(mut self, frames: usize) -> Self {
        self.expected_frames = frames;
        self
    }

    /// The path; an error if the policy needs one and there is none.
    pub(crate) fn file_path(&self) -> Result<Option<&PathBuf>> {
        match &self.path {
            None if self.policy.needs_file() => Err(Error::invalid(format!(
                "policy {} needs a file: set a path",
                self.policy
            ))),
            path => Ok(path.as_ref().filter(|_| self.policy.needs_file())),
        }
    }

    /// The options for encoding frames with this chunk shape under the policy.
    pub(crate) fn effective_coding(&self, chunk: &[usize]) -> Options {
        let mut coding = self.coding.clone();
        if self.policy.is_exact() {
            coding = Options::new(Bound::Lossless).codec("raw");
            coding.metadata = self.coding.metadata.clone();
        }
        coding.chunk(chunk)
    }
}

/// The order in which frames will be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Reverse,
    /// As listed; frames may be omitted or repeated.
    List(Vec<usize>),
}

impl Plan {
    /// The frame numbers in order.
    pub(crate) fn resolve(self, frames: usize) -> Result<Vec<usize>> {
        match self {
            Self::Forward => Ok((0..frames).collect()),
            Self::Reverse => Ok((0..frames).rev().collect()),
            Self::List(list) => match list.iter().find(|&&frame| frame >= frames) {
                Some(&frame) => Err(no_frame(frame, frames)),
                None => Ok(list),
            },
        }
    }
}

/// The error for a frame that does not exist.
pub(crate) fn no_frame(frame: usize, frames: usize) -> Error {
    Error::invalid(format!(
        "no frame {frame}: the store has {frames}, numbered from 0"
    ))
}
