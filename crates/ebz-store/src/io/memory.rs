//! Memory that starts on a page: what requests past the page cache need.

use ebz::Result;
use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// Alignment of places, lengths and memory of requests past the page cache.
pub const BLOCK: usize = 4096;

/// The most bytes of a request.
pub const REQUEST: usize = 8 << 20;

/// Bytes from which large pages are asked for.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 2 << 20;

/// Bytes on pages of their own. They are there to be reused: memory that is touched for the first
/// time can be slower than a disk.
#[derive(Debug)]
pub struct AlignedBuffer {
    map: MmapMut,
}

impl AlignedBuffer {
    /// Zeros, at least as many as asked for, in whole blocks. The memory is touched.
    pub fn new(bytes: usize) -> Result<Self> {
        let mut map = MmapMut::map_anon(bytes.max(1).next_multiple_of(BLOCK))?;
        #[cfg(target_os = "linux")]
        if map.len() >= LARGE_PAGE {
            // Only a hint: kernels without large pages refuse it.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        for page in map.chunks_mut(BLOCK) {
            page[0] = 0;
        }
        Ok(Self { map })
    }

    /// Makes room for at least so many bytes. What it held may be lost.
    pub fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.map.len() {
            // An eighth more, so that sizes that creep up do not allocate every time.
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
    fn buffers_are_whole_blocks_on_pages_and_zero() -> Result<()> {
        for bytes in [0, 1, 4095, 4096, 4097, 2 << 20, (2 << 20) + 1] {
            let buffer = AlignedBuffer::new(bytes)?;
            assert!(buffer.len() >= bytes && buffer.len().is_multiple_of(BLOCK));
            assert!(buffer.as_ptr().addr().is_multiple_of(BLOCK));
            assert!(buffer.iter().all(|&byte| byte == 0));
        }
        Ok(())
    }

    #[test]
    fn a_buffer_grows_and_never_shrinks() -> Result<()> {
        let mut buffer = AlignedBuffer::new(BLOCK)?;
        buffer.reserve(10 * BLOCK)?;
        let large = buffer.len();
        assert!(large >= 10 * BLOCK);
        buffer.reserve(1)?;
        assert_eq!(buffer.len(), large);
        Ok(())
    }
}
