//! Buffers that HDF5 takes over and frees, from the C allocator as its documentation requires.

use ebz::{Error, Result};
use libc::c_void;

/// Zeroed memory from the C allocator, aligned for any type.
pub struct Buffer {
    start: *mut u8,
    length: usize,
}

impl Buffer {
    /// Allocates zeroed memory.
    pub fn zeroed(length: usize) -> Result<Self> {
        // SAFETY: any size is allowed; at least one byte, so that null means failure.
        let start = unsafe { libc::calloc(length.max(1), 1) }.cast::<u8>();
        if start.is_null() {
            return Err(Error::LimitExceeded(format!(
                "out of memory for a chunk of {length} bytes: use smaller chunks"
            )));
        }
        Ok(Self { start, length })
    }

    /// A copy of these bytes.
    pub fn copy_of(bytes: &[u8]) -> Result<Self> {
        let mut buffer = Self::zeroed(bytes.len())?;
        buffer.bytes_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start` points to `length` initialized bytes that only this buffer refers to.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// Releases the memory; the receiver frees it.
    pub fn release(self) -> *mut c_void {
        std::mem::ManuallyDrop::new(self).start.cast()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: `start` came from `calloc` and nobody else frees it.
        unsafe { libc::free(self.start.cast()) }
    }
}
