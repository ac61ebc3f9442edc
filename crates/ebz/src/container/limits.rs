//! Memory that follows a stream's claims: compared with a limit, and asked for such that a refusal
//! is an error and not the end of the process.

use super::memory;
pub(super) use crate::allocate::{no_memory, resize, zeroed};
use crate::chunk::Grid;
use crate::element::ElementType;
use crate::error::{Error, Result};
use std::ops::Range;

/// What a reader accepts of a stream before it reserves memory.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most bytes of an array in memory; by default there is no other limit than the next one.
    pub max_bytes: u64,
    /// The most memory that a read may take, for arrays, slabs, tables and scratch together. By
    /// default the least of the machine's memory, the limit of the process's control group and that
    /// of its address space; 16 GiB where the system tells none of them.
    pub max_memory: u64,
}

/// Scratch memory of a decoder: so many times the chunk, and a constant. `tests/memory.rs` measures
/// it for every codec.
const SCRATCH_TIMES: u64 = 10;
const SCRATCH: u64 = 4 << 20;

/// Parsed headers may take so many times the memory of their bytes.
const HEADER_TIMES: u64 = 48;

/// Less than this is not tried out beforehand: it costs time, and it changes what the allocator
/// keeps.
const MIN_TRIED: u64 = 32 << 20;

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

    /// Whether so many bytes of an array may be read to memory.
    pub(super) fn check_array(&self, bytes: u64) -> Result<()> {
        if bytes > self.max_bytes {
            return Err(Error::LimitExceeded(format!(
                "the array takes {bytes} bytes but only {} are allowed: read a smaller region",
                self.max_bytes
            )));
        }
        self.check(bytes)
    }

    /// Whether so much memory may be taken.
    pub(super) fn check(&self, bytes: u64) -> Result<()> {
        match bytes <= self.max_memory {
            true => Ok(()),
            false => Err(self.exceeded(bytes)),
        }
    }

    /// Whether a header of so many bytes may be parsed.
    pub(super) fn check_header(&self, length: u64) -> Result<()> {
        self.check(length.saturating_mul(HEADER_TIMES))
    }

    fn exceeded(&self, needed: u64) -> Error {
        Error::LimitExceeded(format!(
            "reading this takes {needed} bytes of memory but only {} are allowed: read a smaller \
             region, or raise the limit (--max-memory)",
            self.max_memory
        ))
    }

    /// How many workers, at most `wanted`, have the memory for `each` of them beside what is `held`.
    pub(super) fn workers(&self, wanted: usize, held: u64, each: u64) -> Result<usize> {
        let left = self.max_memory.saturating_sub(held);
        let affordable = usize::try_from(left / each.max(1)).unwrap_or(usize::MAX);
        let mut workers = wanted.min(affordable);
        if workers == 0 {
            return Err(self.exceeded(held.saturating_add(each)));
        }
        // Codecs ask for their scratch memory as if it were there; so it must be.
        while !is_there(each.saturating_mul(workers as u64)) {
            workers /= 2;
            if workers == 0 {
                return Err(no_memory(each));
            }
        }
        Ok(workers)
    }
}

/// The most memory that a worker needs for a chunk of a frame: decoder, what it decodes to, and the
/// part that is wanted of that. Narrow elements take half as much of the latter, and are widened in
/// the rest.
pub(super) fn chunk_memory(grid: &Grid, element: ElementType) -> u64 {
    let values: usize = grid.chunk().iter().product();
    (values as u64)
        .saturating_mul(element.wide_size() as u64)
        .saturating_mul(SCRATCH_TIMES + 2)
        .saturating_add(SCRATCH)
}

/// The most bytes of a slab's part in a region.
pub(super) fn slab_memory(grid: &Grid, region: &[Range<usize>], element_size: usize) -> u64 {
    if grid.chunks() == 0 {
        return 0;
    }
    let slab = grid.slab_region(0);
    let extents = slab.iter().zip(region).map(|(s, r)| s.len().min(r.len()));
    extents.fold(element_size as u64, |n, extent| {
        n.saturating_mul(extent as u64)
    })
}

/// Whether so much memory can be had at once.
fn is_there(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else {
        return false;
    };
    (bytes as u64) < MIN_TRIED || Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}
