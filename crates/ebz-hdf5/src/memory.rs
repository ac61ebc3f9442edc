//! Buffers that HDF5 takes over and frees: from C's allocator, as its documentation of filters asks.

use ebz::{Error, Result};
use libc::c_void;

/// Cleared memory from C's allocator, aligned for any number.
pub struct Buffer {
    start: *mut u8,
    length: usize,
}

impl Buffer {
    /// Cleared memory.
    pub fn zeroed(length: usize) -> Result<Self> {
        // SAFETY: any size may be asked for; at least one byte, so that null means failure.
        let start = unsafe { libc::calloc(length.max(1), 1) }.cast::<u8>();
        if start.is_null() {
            return Err(Error::LimitExceeded(format!(
                "no memory for a chunk of {length} bytes: use smaller chunks"
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
        // SAFETY: `start` points to `length` cleared bytes that only this buffer refers to.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// Hands the memory over; whoever gets it frees it.
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
