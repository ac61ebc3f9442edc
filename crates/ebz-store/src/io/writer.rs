//! Bytes in any portions, gathered to requests that a disk likes.

use super::file::DirectFile;
use super::memory::{AlignedBuffer, BLOCK, REQUEST};
use ebz::{Error, Result};
use std::io::{self, Write};

/// Writes a file from its start to its end in large aligned requests, through one buffer.
///
/// What was written before the last [`DirectWriter::sync_point`] is there if the process is killed;
/// zeros may follow it. Only [`DirectWriter::finish`] gives the file its true length.
#[derive(Debug)]
pub struct DirectWriter {
    file: DirectFile,
    buffer: AlignedBuffer,
    /// Bytes in the buffer.
    filled: usize,
    /// Where in the file the buffer begins: a whole number of blocks.
    start: u64,
}

impl DirectWriter {
    /// Writes to a file that was just created.
    pub fn new(file: DirectFile) -> Result<Self> {
        Ok(Self {
            file,
            buffer: AlignedBuffer::new(REQUEST)?,
            filled: 0,
            start: 0,
        })
    }

    /// The file.
    pub fn file(&self) -> &DirectFile {
        &self.file
    }

    /// Bytes so far.
    pub fn position(&self) -> u64 {
        self.start + self.filled as u64
    }

    /// Writes everything so far, the last block with zeros behind it; that block is written again
    /// when more bytes come.
    pub fn sync_point(&mut self) -> Result<()> {
        let padded = self.filled.next_multiple_of(BLOCK);
        self.buffer[self.filled..padded].fill(0);
        self.file.write_blocks(self.start, &self.buffer, padded)?;
        let whole = self.filled / BLOCK * BLOCK;
        self.buffer.copy_within(whole..self.filled, 0);
        self.start += whole as u64;
        self.filled -= whole;
        Ok(())
    }

    /// Writes the rest, gives the file its length, and hands it back to be read.
    pub fn finish(mut self) -> Result<DirectFile> {
        self.sync_point()?;
        self.file.set_size(self.position())?;
        Ok(self.file)
    }
}

impl Write for DirectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(REQUEST - self.filled);
        self.buffer[self.filled..self.filled + length].copy_from_slice(&bytes[..length]);
        self.filled += length;
        if self.filled == REQUEST {
            self.sync_point().map_err(as_io)?;
        }
        Ok(length)
    }

    /// Does nothing: small requests are what this type is there to avoid. Call
    /// [`DirectWriter::sync_point`].
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
    fn portions_of_any_size_make_the_same_file() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..REQUEST + 12_345).map(|i| (i % 253) as u8).collect();
        for direct in [false, true] {
            for portion in [1000, BLOCK, REQUEST, 2 * REQUEST] {
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
    fn behind_a_sync_point_only_zeros_are_missing_from_the_truth() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        let mut out = writer(&path, true)?;
        for length in [1, 100, 4000, 5000] {
            out.write_all(&vec![9; length])?;
            out.sync_point()?;
            let found = std::fs::read(&path)?;
            let (written, rest) = found.split_at(out.position() as usize);
            assert!(written.iter().all(|&byte| byte == 9));
            assert!(rest.iter().all(|&byte| byte == 0) && rest.len() < BLOCK);
        }
        Ok(())
    }

    #[test]
    fn a_stream_that_ends_in_zeros_is_recovered() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("killed.ebz");
        let values: Vec<f32> = (0..5000).map(|i| (i as f32 * 0.01).sin()).collect();
        let options = ebz::Options::new(ebz::Bound::Abs(1e-3));
        let bytes = ebz::compress(&ebz::View::new(&values, &[50, 100])?, &options)?;
        // Without its index, as the file of a writer that was killed after a frame.
        let index = bytes.windows(4).rposition(|bytes| bytes == b"EBZ\x05");
        let index = index.unwrap_or(bytes.len());
        let mut out = writer(&path, true)?;
        out.write_all(&bytes[..index])?;
        out.sync_point()?;
        drop(out);
        assert!(std::fs::metadata(&path)?.len().is_multiple_of(BLOCK as u64));
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
