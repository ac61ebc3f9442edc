//! The bytes of a file that are not chunks, with their offsets.

use std::io::{Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Offsets and bytes.
type Pieces = Vec<(u64, Vec<u8>)>;

/// A file that records writes and skips gaps. Clones share the record.
#[derive(Debug, Default, Clone)]
pub(super) struct Sketch {
    position: u64,
    pieces: Arc<Mutex<Pieces>>,
}

impl Sketch {
    /// The writes since the last call.
    pub fn take(&self) -> Pieces {
        let pieces = self.pieces.lock();
        std::mem::take(&mut pieces.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Sketch {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let pieces = self.pieces.lock();
        let mut pieces = pieces.unwrap_or_else(PoisonError::into_inner);
        match pieces.last_mut() {
            Some((start, piece)) if *start + piece.len() as u64 == self.position => {
                piece.extend_from_slice(bytes);
            }
            _ => pieces.push((self.position, bytes.to_vec())),
        }
        drop(pieces);
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Sketch {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let SeekFrom::Current(by) = to else {
            return Err(std::io::ErrorKind::Unsupported.into());
        };
        let position = self.position.checked_add_signed(by);
        self.position = position.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
