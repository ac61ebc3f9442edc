//! Sequential writing in large aligned requests.

use super::file::DirectFile;
use super::memory::{AlignedBuffer, BLOCK_BYTES, MAX_REQUEST_BYTES};
use ebz::{Error, Result};
use std::io::{self, Write};

/// Writes a file sequentially in large aligned requests, through one buffer.
///
/// Everything before the last [`DirectWriter::sync_point`] survives if the process is killed,
/// possibly followed by zeros. [`DirectWriter::finish`] sets the exact length.
#[derive(Debug)]
pub struct DirectWriter {
    file: DirectFile,
    buffer: AlignedBuffer,
    /// Bytes in the buffer.
    filled: usize,
    /// Offset of the buffer in the file, a multiple of the block size.
    start: u64,
}

impl DirectWriter {
    /// Writes to a newly created file.
    pub fn new(file: DirectFile) -> Result<Self> {
        Ok(Self {
            file,
            buffer: AlignedBuffer::new(MAX_REQUEST_BYTES)?,
            filled: 0,
            start: 0,
        })
    }

    /// The file.
    pub fn file(&self) -> &DirectFile {
        &self.file
    }

    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.start + self.filled as u64
    }

    /// Writes everything so far, padding the last block with zeros; that block is rewritten when
    /// more bytes follow.
    pub fn sync_point(&mut self) -> Result<()> {
        let padded = self.filled.next_multiple_of(BLOCK_BYTES);
        self.buffer[self.filled..padded].fill(0);
        self.file.write_blocks(self.start, &self.buffer, padded)?;
        let whole = self.filled / BLOCK_BYTES * BLOCK_BYTES;
        self.buffer.copy_within(whole..self.filled, 0);
        self.start += whole as u64;
        self.filled -= whole;
        Ok(())
    }

    /// Writes the rest, sets the length of the file, and returns it for reading.
    pub fn finish(mut self) -> Result<DirectFile> {
        self.sync_point()?;
        self.file.set_size(self.position())?;
        Ok(self.file)
    }
}

impl Write for DirectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(MAX_REQUEST_BYTES - self.filled);
        self.buffer[self.filled..self.filled + length].copy_from_slice(&bytes[..length]);
        self.filled += length;
        if self.filled == MAX_REQUEST_BYTES {
            self.sync_point().map_err(as_io)?;
        }
        Ok(length)
    }

    /// Does nothing, to avoid small requests. Call [`DirectWriter::sync_point`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn as_io(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::Arc;

    fn writer(path: &Path, direct: bool) -> Result<DirectWriter> {
        DirectWriter::new(DirectFile::create(path, direct, Arc::default())?)
    }

    #[test]
    fn writes_of_any_size_give_the_same_file() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..MAX_REQUEST_BYTES + 12_345)
            .map(|i| (i % 253) as u8)
            .collect();
        for direct in [false, true] {
            for portion in [1000, BLOCK_BYTES, MAX_REQUEST_BYTES, 2 * MAX_REQUEST_BYTES] {
                let mut out = writer(&path, direct)?;
                for (i, part) in bytes.chunks(portion).enumerate() {
                    out.write_all(part)?;
                    if i % 100 == 0 {
                        out.sync_point()?;
                    }
                }
                assert_eq!(out.position(), bytes.len() as u64);
                let file = out.finish()?;
                assert_eq!(file.size()?, bytes.len() as u64);
                assert!(std::fs::read(&path)? == bytes);
            }
        }
        Ok(())
    }

    #[test]
    fn a_sync_point_writes_everything_padded_with_zeros() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        let mut out = writer(&path, true)?;
        for length in [1, 100, 4000, 5000] {
            out.write_all(&vec![9; length])?;
            out.sync_point()?;
            let found = std::fs::read(&path)?;
            let (written, rest) = found.split_at(out.position() as usize);
            assert!(written.iter().all(|&byte| byte == 9));
            assert!(rest.iter().all(|&byte| byte == 0) && rest.len() < BLOCK_BYTES);
        }
        Ok(())
    }

    #[test]
    fn a_stream_padded_with_zeros_is_recovered() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("killed.ebz");
        let values: Vec<f32> = (0..5000).map(|i| (i as f32 * 0.01).sin()).collect();
        let options = ebz::Options::new(ebz::Bound::Abs(1e-3));
        let bytes = ebz::compress(&ebz::View::new(&values, &[50, 100])?, &options)?;
        // Without its index, like the file of a writer that was killed after a frame.
        let index = bytes.windows(4).rposition(|bytes| bytes == b"EBZ\x05");
        let index = index.unwrap_or(bytes.len());
        let mut out = writer(&path, true)?;
        out.write_all(&bytes[..index])?;
        out.sync_point()?;
        drop(out);
        assert!(
            std::fs::metadata(&path)?
                .len()
                .is_multiple_of(BLOCK_BYTES as u64)
        );
        assert!(ebz::Reader::open(&path).is_err());
        let (report, saved) = ebz::recover(&std::fs::File::open(&path)?, Vec::new())?;
        assert!(report.len() == 1 && report[0].lost.is_empty());
        assert_eq!(
            ebz::decompress::<f32>(&saved)?,
            ebz::decompress::<f32>(&bytes)?
        );
        Ok(())
    }
}
