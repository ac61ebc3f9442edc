//! Page-aligned memory for direct I/O.

use ebz::Result;
use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// Alignment of offsets, lengths and memory for direct I/O.
pub const BLOCK_BYTES: usize = 4096;

/// Maximum size of a request.
pub const MAX_REQUEST_BYTES: usize = 8 << 20;

/// Minimum size for requesting huge pages.
#[cfg(target_os = "linux")]
const MIN_HUGE_PAGE_BYTES: usize = 2 << 20;

/// Page-aligned bytes, meant to be reused: page faults on fresh memory can be slower than a disk.
#[derive(Debug)]
pub struct AlignedBuffer {
    map: MmapMut,
}

impl AlignedBuffer {
    /// At least this many zeros, in whole blocks, with all pages touched.
    pub fn new(bytes: usize) -> Result<Self> {
        let mut map = MmapMut::map_anon(bytes.max(1).next_multiple_of(BLOCK_BYTES))?;
        #[cfg(target_os = "linux")]
        if map.len() >= MIN_HUGE_PAGE_BYTES {
            // Only a hint: kernels without huge pages reject it.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        for page in map.chunks_mut(BLOCK_BYTES) {
            page[0] = 0;
        }
        Ok(Self { map })
    }

    /// Ensures room for at least this many bytes. The contents may be lost.
    pub fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.map.len() {
            // An eighth more, so that slowly growing sizes do not reallocate every time.
            *self = Self::new(bytes + bytes / 8)?;
        }
        Ok(())
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_whole_blocks_of_zeros() -> Result<()> {
        for bytes in [0, 1, 4095, 4096, 4097, 2 << 20, (2 << 20) + 1] {
            let buffer = AlignedBuffer::new(bytes)?;
            assert!(buffer.len() >= bytes && buffer.len().is_multiple_of(BLOCK_BYTES));
            assert!(buffer.as_ptr().addr().is_multiple_of(BLOCK_BYTES));
            assert!(buffer.iter().all(|&byte| byte == 0));
        }
        Ok(())
    }

    #[test]
    fn a_buffer_grows_and_never_shrinks() -> Result<()> {
        let mut buffer = AlignedBuffer::new(BLOCK_BYTES)?;
        buffer.reserve(10 * BLOCK_BYTES)?;
        let large = buffer.len();
        assert!(large >= 10 * BLOCK_BYTES);
        buffer.reserve(1)?;
        assert_eq!(buffer.len(), large);
        Ok(())
    }
}
