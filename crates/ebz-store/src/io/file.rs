//! Random access to a file, with direct I/O where possible.

use super::memory::{AlignedBuffer, BLOCK_BYTES, MAX_REQUEST_BYTES};
use super::rate::Rate;
use ebz::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A file whose requests are whole blocks of aligned memory.
///
/// Threads share it by reference. If the file system does not support direct I/O (`tmpfs`, for
/// example), requests go through the page cache, and [`DirectFile::is_direct`] returns false.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    direct: bool,
    rate: Arc<Rate>,
}

impl DirectFile {
    /// Creates an empty file, replacing an existing one.
    pub fn create(path: impl AsRef<Path>, direct: bool, rate: Arc<Rate>) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Self::with(&options, path.as_ref(), direct, rate)
    }

    /// Opens an existing file for reading and writing.
    pub fn open(path: impl AsRef<Path>, direct: bool, rate: Arc<Rate>) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        Self::with(&options, path.as_ref(), direct, rate)
    }

    /// Opens an existing file for reading.
    pub fn open_to_read(path: impl AsRef<Path>, direct: bool, rate: Arc<Rate>) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true);
        Self::with(&options, path.as_ref(), direct, rate)
    }

    fn with(options: &OpenOptions, path: &Path, direct: bool, rate: Arc<Rate>) -> Result<Self> {
        let named = |error: io::Error| {
            let text = format!("cannot open '{}': {error}", path.display());
            io::Error::new(error.kind(), text)
        };
        let past_cache = if direct {
            open_direct(options, path)
        } else {
            None
        };
        let direct = past_cache.is_some();
        let file = past_cache
            .map_or_else(|| options.open(path), Ok)
            .map_err(named)?;
        Ok(Self { file, direct, rate })
    }

    /// Whether the file uses direct I/O.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Size of the file.
    pub fn size(&self) -> Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Truncates the file, or extends it with zeros.
    pub fn set_size(&self, bytes: u64) -> Result<()> {
        Ok(self.file.set_len(bytes)?)
    }

    /// Writes the first `length` bytes of a buffer; offset and length are whole blocks.
    pub fn write_blocks(&self, offset: u64, from: &AlignedBuffer, length: usize) -> Result<()> {
        let bytes = from.get(..length).filter(|_| is_whole(offset, length));
        let bytes = bytes.ok_or_else(|| not_whole(offset, length))?;
        let mut at = offset;
        for request in bytes.chunks(MAX_REQUEST_BYTES) {
            self.rate
                .pace(request.len(), || write_all_at(&self.file, request, at))?;
            at += request.len() as u64;
        }
        Ok(())
    }

    /// Reads a byte range, not necessarily whole blocks, into a buffer that grows as needed.
    /// Returns the position of the bytes in the buffer.
    pub fn read(&self, range: Range<u64>, into: &mut AlignedBuffer) -> Result<Range<usize>> {
        let block = BLOCK_BYTES as u64;
        let first = range.start / block * block;
        let fits = |bytes: u64| usize::try_from(bytes).ok();
        let wanted = range.end.checked_sub(first).and_then(fits);
        let inside = range.start <= range.end && range.end <= self.size()?;
        let wanted = wanted.filter(|_| inside).ok_or_else(|| {
            Error::truncated(format!(
                "bytes {} to {} exceed the end of the file: it was truncated after it was written",
                range.start, range.end
            ))
        })?;
        into.reserve(wanted)?;
        let mut done = 0;
        while done < wanted {
            let end = wanted
                .next_multiple_of(BLOCK_BYTES)
                .min(done + MAX_REQUEST_BYTES);
            let at = first + done as u64;
            let part = &mut into[done..end];
            let read = self
                .rate
                .pace(end - done, || read_some_at(&self.file, part, at))?;
            if read == 0 {
                return Err(Error::truncated("the file was truncated while it was read"));
            }
            // Only the end of the file can end a request within a block.
            done += read;
            if done < wanted && !done.is_multiple_of(BLOCK_BYTES) {
                done = done / BLOCK_BYTES * BLOCK_BYTES;
                if read < BLOCK_BYTES {
                    return Err(Error::truncated("the file was truncated while it was read"));
                }
            }
        }
        let start = (range.start - first) as usize;
        Ok(start..wanted)
    }
}

/// Opens a file for direct I/O, if the file system supports it.
#[cfg(target_os = "linux")]
fn open_direct(options: &OpenOptions, path: &Path) -> Option<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flag = OFlags::DIRECT.bits().try_into().ok()?;
    options.clone().custom_flags(flag).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &OpenOptions, _: &Path) -> Option<File> {
    None
}

fn is_whole(offset: u64, length: usize) -> bool {
    offset.is_multiple_of(BLOCK_BYTES as u64) && length.is_multiple_of(BLOCK_BYTES)
}

fn not_whole(offset: u64, length: usize) -> Error {
    Error::invalid(format!(
        "{length} bytes at {offset} are not whole blocks of the buffer: use multiples of {BLOCK_BYTES}"
    ))
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

#[cfg(unix)]
fn read_some_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match std::os::unix::fs::FileExt::read_at(file, into, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(windows)]
fn read_some_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_range_within_the_file_is_read() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..3 * BLOCK_BYTES + 100)
            .map(|i| (i * 7 % 251) as u8)
            .collect();
        std::fs::write(&path, &bytes)?;
        let size = bytes.len() as u64;
        for direct in [false, true] {
            let file = DirectFile::open_to_read(&path, direct, Arc::default())?;
            let mut buffer = AlignedBuffer::new(0)?;
            for range in [
                0..0,
                0..1,
                5..4096,
                4095..4097,
                100..size,
                size - 1..size,
                size..size,
            ] {
                let found = file.read(range.clone(), &mut buffer)?;
                assert_eq!(
                    buffer[found],
                    bytes[range.start as usize..range.end as usize]
                );
            }
            for range in [0..size + 1, size + 5..size + 6, u64::MAX - 1..u64::MAX] {
                let error = file.read(range, &mut buffer).unwrap_err();
                assert!(matches!(error, Error::Truncated(_)), "{error}");
            }
        }
        Ok(())
    }

    #[test]
    fn partial_blocks_are_rejected() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let file = DirectFile::create(folder.path().join("file"), true, Arc::default())?;
        let buffer = AlignedBuffer::new(BLOCK_BYTES)?;
        for (offset, length) in [(1, BLOCK_BYTES), (0, 1), (0, 2 * BLOCK_BYTES)] {
            assert!(file.write_blocks(offset, &buffer, length).is_err());
        }
        file.write_blocks(0, &buffer, BLOCK_BYTES)?;
        assert_eq!(file.size()?, BLOCK_BYTES as u64);
        Ok(())
    }

    #[test]
    fn errors_name_the_missing_file() {
        let error = DirectFile::open("no/such/file", true, Arc::default()).unwrap_err();
        assert!(error.to_string().contains("no/such/file"), "{error}");
    }
}
