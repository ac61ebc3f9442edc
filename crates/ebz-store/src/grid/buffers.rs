//! Buffers and coders reused between passes, because fresh memory is slow.

use crate::io::AlignedBuffer;
use ebz::Result;
use ebz::simd::Level;
use ebz::slab::SlabCoder;
use std::sync::{Mutex, PoisonError};

/// Pools of unused buffers and coders.
#[derive(Default)]
pub(super) struct Buffers {
    segments: Mutex<Vec<AlignedBuffer>>,
    coders: Mutex<Vec<SlabCoder>>,
}

impl Buffers {
    /// A buffer of at least this many bytes.
    pub fn segment(&self, bytes: usize) -> Result<AlignedBuffer> {
        match take(&self.segments) {
            Some(mut buffer) => {
                buffer.reserve(bytes)?;
                Ok(buffer)
            }
            None => AlignedBuffer::new(bytes),
        }
    }

    pub fn give_segment(&self, buffer: AlignedBuffer) {
        give(&self.segments, buffer);
    }

    pub fn coder(&self, simd: Level) -> SlabCoder {
        take(&self.coders).unwrap_or_else(|| SlabCoder::new(simd))
    }

    pub fn give_coder(&self, coder: SlabCoder) {
        give(&self.coders, coder);
    }
}

fn take<T>(pool: &Mutex<Vec<T>>) -> Option<T> {
    pool.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

fn give<T>(pool: &Mutex<Vec<T>>, item: T) {
    pool.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(item);
}
