//! Memory limits for reading untrusted streams.

use super::memory;
pub(super) use crate::allocate::{no_memory, resize, zeroed};
use crate::chunk::Grid;
use crate::element::ElementType;
use crate::error::{Error, Result};
use std::ops::Range;

/// Memory limits that a reader checks before it allocates.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum size of an array in memory; unlimited by default.
    pub max_bytes: u64,
    /// Maximum memory of a read: arrays, slabs, tables and scratch together. The default is the
    /// minimum of physical memory, cgroup limit and address space limit, or 16 GiB if the system
    /// reports none of them.
    pub max_memory: u64,
}

/// Upper bound of a decoder's scratch memory: this multiple of the chunk size plus a constant.
/// `tests/memory.rs` measures it for every codec.
const SCRATCH_FACTOR: u64 = 10;
const SCRATCH_BYTES: u64 = 4 << 20;

/// Upper bound of the memory of a parsed header, as a multiple of its size in the file.
const HEADER_FACTOR: u64 = 48;

/// Smaller amounts are not test-allocated: it takes time and affects what the allocator caches.
const MIN_TESTED_BYTES: u64 = 32 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: u64::MAX,
            max_memory: memory::available(),
        }
    }
}

impl Limits {
    /// Both limits, in bytes.
    pub const fn new(max_bytes: u64, max_memory: u64) -> Self {
        Self {
            max_bytes,
            max_memory,
        }
    }

    /// An error if an array of this size may not be read.
    pub(super) fn check_array(&self, bytes: u64) -> Result<()> {
        if bytes > self.max_bytes {
            return Err(Error::LimitExceeded(format!(
                "the array has {bytes} bytes but only {} are allowed: read a smaller region",
                self.max_bytes
            )));
        }
        self.check(bytes)
    }

    /// An error if this much memory may not be used.
    pub(super) fn check(&self, bytes: u64) -> Result<()> {
        match bytes <= self.max_memory {
            true => Ok(()),
            false => Err(self.exceeded(bytes)),
        }
    }

    /// An error if a header of this length may not be parsed.
    pub(super) fn check_header(&self, length: u64) -> Result<()> {
        self.check(length.saturating_mul(HEADER_FACTOR))
    }

    fn exceeded(&self, needed: u64) -> Error {
        Error::LimitExceeded(format!(
            "reading this takes {needed} bytes of memory but only {} are allowed: read a smaller \
             region, or raise the limit (--max-memory)",
            self.max_memory
        ))
    }

    /// Number of workers, at most `wanted`, that fit into memory if each needs `each` bytes and
    /// `held` bytes are in use.
    pub(super) fn workers(&self, wanted: usize, held: u64, each: u64) -> Result<usize> {
        let left = self.max_memory.saturating_sub(held);
        let affordable = usize::try_from(left / each.max(1)).unwrap_or(usize::MAX);
        let mut workers = wanted.min(affordable);
        if workers == 0 {
            return Err(self.exceeded(held.saturating_add(each)));
        }
        // Codecs allocate scratch infallibly, so check here that it is available.
        while !is_available(each.saturating_mul(workers as u64)) {
            workers /= 2;
            if workers == 0 {
                return Err(no_memory(each));
            }
        }
        Ok(workers)
    }
}

/// Maximum memory of a worker per chunk: decoder scratch, decoded values, and the requested part of
/// them. 16-bit elements need less, but are widened for decoding.
pub(super) fn chunk_memory(grid: &Grid, element: ElementType) -> u64 {
    let values: usize = grid.chunk().iter().product();
    (values as u64)
        .saturating_mul(element.wide_size() as u64)
        .saturating_mul(SCRATCH_FACTOR + 2)
        .saturating_add(SCRATCH_BYTES)
}

/// Maximum size of the part of a slab that lies in a region.
pub(super) fn slab_memory(grid: &Grid, region: &[Range<usize>], element_size: usize) -> u64 {
    if grid.chunks() == 0 {
        return 0;
    }
    let slab = grid.slab_box(0);
    let extents = slab.iter().zip(region).map(|(s, r)| s.len().min(r.len()));
    extents.fold(element_size as u64, |n, extent| {
        n.saturating_mul(extent as u64)
    })
}

/// Whether this much memory can be allocated at once.
fn is_available(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else {
        return false;
    };
    (bytes as u64) < MIN_TESTED_BYTES || Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}
