//! Random-access input.

use super::limits;
use crate::error::{Error, Result};
use std::fs::File;

/// Bytes that can be read at any offset, from several threads at once.
pub trait Source: Sync {
    /// Number of bytes.
    fn size(&self) -> Result<u64>;

    /// The bytes of a range; sources that need to copy use `scratch`.
    fn fetch<'a>(
        &'a self,
        offset: u64,
        length: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]>;
}

impl Source for &[u8] {
    fn size(&self) -> Result<u64> {
        Ok(self.len() as u64)
    }

    fn fetch<'a>(
        &'a self,
        offset: u64,
        length: usize,
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..)?.get(..length))
            .ok_or_else(|| outside(offset, length))
    }
}

impl Source for File {
    fn size(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn fetch<'a>(
        &'a self,
        offset: u64,
        length: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        limits::resize(scratch, length)?;
        read_exact_at(self, scratch, offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => outside(offset, length),
            _ => error.into(),
        })?;
        Ok(scratch)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        offset += read as u64;
    }
    Ok(())
}

/// Without a call that leaves the position alone, threads that read one file would disturb each other.
#[cfg(not(any(unix, windows)))]
fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

fn outside(offset: u64, length: usize) -> Error {
    Error::truncated(format!(
        "{length} bytes at offset {offset} exceed the end of the file"
    ))
}
