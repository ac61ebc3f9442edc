//! MPI-IO: many runs of bytes per rank in one access.

use crate::comm::{Comm, MAX_MESSAGE_BYTES, check};
use crate::error::Result;
use mpi::ffi;
use mpi::traits::AsRaw;
use std::ffi::{CString, c_char, c_int};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An open file. Not closed on drop, because closing is collective.
#[derive(Debug)]
pub(super) struct SharedFile(ffi::MPI_File);

/// A piece of a run of bytes: its offset in the file, and its range in memory.
type Piece = (u64, Range<usize>);

impl SharedFile {
    /// Creates a file that must not exist. Collective.
    pub fn create(comm: &Comm, path: &Path) -> Result<Self> {
        let mode = ffi::MPI_MODE_CREATE | ffi::MPI_MODE_EXCL | ffi::MPI_MODE_RDWR;
        Self::with_mode(comm, path, mode as c_int)
    }

    /// Opens a file for reading. Collective.
    pub fn open(comm: &Comm, path: &Path) -> Result<Self> {
        Self::with_mode(comm, path, ffi::MPI_MODE_RDONLY as c_int)
    }

    fn with_mode(comm: &Comm, path: &Path, mode: c_int) -> Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes());
        let name = name.map_err(|_| ebz::Error::invalid("paths must not contain zero bytes"))?;
        // SAFETY: the name is null-terminated; the handle is set by the call.
        let (file, code) = unsafe {
            let mut file = ffi::RSMPI_FILE_NULL;
            let info = ffi::RSMPI_INFO_NULL;
            let code = ffi::PMPI_File_open(comm.as_raw(), name.as_ptr(), mode, info, &mut file);
            (file, code)
        };
        check("MPI_File_open", code)?;
        Ok(Self(file))
    }

    /// Writes bytes independently.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        for (piece, bytes) in bytes.chunks(MAX_MESSAGE_BYTES).enumerate() {
            let at = offset + (piece * MAX_MESSAGE_BYTES) as u64;
            // SAFETY: the bytes outlive the call.
            let (code, written) = unsafe {
                let mut status = std::mem::zeroed();
                let code = ffi::PMPI_File_write_at(
                    self.0,
                    at as ffi::MPI_Offset,
                    bytes.as_ptr().cast(),
                    bytes.len() as c_int,
                    ffi::RSMPI_UINT8_T,
                    &mut status,
                );
                (code, moved(&status))
            };
            check("MPI_File_write_at", code)?;
            whole("written", written, bytes.len())?;
        }
        Ok(())
    }

    /// Reads bytes independently.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: there is room for this many bytes, below 2³¹.
        let (code, read) = unsafe {
            let mut status = std::mem::zeroed();
            let code = ffi::PMPI_File_read_at(
                self.0,
                offset as ffi::MPI_Offset,
                bytes.as_mut_ptr().cast(),
                bytes.len() as c_int,
                ffi::RSMPI_UINT8_T,
                &mut status,
            );
            (code, moved(&status))
        };
        check("MPI_File_read_at", code)?;
        whole("read", read, bytes.len())
    }

    /// Writes runs of bytes of every rank. Collective; fails on every rank or on none.
    pub fn write_all(&self, comm: &Comm, runs: &[(u64, usize)], bytes: &[u8]) -> Result<()> {
        self.batches(comm, runs, |offset, part: Range<usize>| {
            let bytes = &bytes[part];
            // SAFETY: the bytes outlive the call.
            let (code, written) = unsafe {
                let mut status = std::mem::zeroed();
                let code = ffi::PMPI_File_write_at_all(
                    self.0,
                    offset,
                    bytes.as_ptr().cast(),
                    bytes.len() as c_int,
                    ffi::RSMPI_UINT8_T,
                    &mut status,
                );
                (code, moved(&status))
            };
            check("MPI_File_write_at_all", code)?;
            whole("written", written, bytes.len())
        })
    }

    /// Reads runs of bytes independently: `MPI_File_read_at_all` of Open MPI 4.1 returns wrong bytes if
    /// several ranks read the same ones through views with gaps.
    pub fn read_runs(&self, runs: &[(u64, usize)], bytes: &mut [u8]) -> Result<()> {
        for (offset, part) in cut(runs, MAX_MESSAGE_BYTES).into_iter().flatten() {
            self.read_at(offset, &mut bytes[part])?;
        }
        Ok(())
    }

    /// Splits runs, whose bytes are contiguous in memory, into batches within MPI's 32-bit counts, equally
    /// many on every rank, and moves each through a file view without gaps.
    fn batches(
        &self,
        comm: &Comm,
        runs: &[(u64, usize)],
        mut access: impl FnMut(ffi::MPI_Offset, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let batches = cut(runs, MAX_MESSAGE_BYTES);
        let longest = batches.iter().map(Vec::len).max().unwrap_or(0);
        let mut most = [batches.len() as u64, longest as u64];
        comm.max(&mut most)?;
        let mut result = Ok(());
        for number in 0..most[0] as usize {
            let batch = batches.get(number).map_or(&[][..], |batch| batch);
            let start = batch.first().map_or(0, |piece| piece.1.start);
            let end = batch.last().map_or(0, |piece| piece.1.end);
            let done = match most[1] > 1 {
                true => self.view(Some(batch)).and_then(|()| access(0, start..end)),
                false => {
                    let offset = batch.first().map_or(0, |piece| piece.0);
                    access(offset as ffi::MPI_Offset, start..end)
                }
            };
            // A failing rank continues, so that the others do not block.
            result = result.and(done);
        }
        if most[1] > 1 {
            result = result.and(self.view(None));
        }
        comm.settle(result)
    }

    /// Sets a file view of only these pieces.
    fn view(&self, pieces: Option<&[Piece]>) -> Result<()> {
        const NATIVE: &[u8] = b"native\0";
        let lengths: Vec<c_int> = pieces
            .iter()
            .flat_map(|p| p.iter())
            .map(|p| p.1.len() as c_int)
            .collect();
        let offsets: Vec<ffi::MPI_Aint> = pieces
            .iter()
            .flat_map(|p| p.iter())
            .map(|p| p.0 as ffi::MPI_Aint)
            .collect();
        // SAFETY: the arrays have the given length; the type is freed after use.
        unsafe {
            let byte = ffi::RSMPI_UINT8_T;
            let mut kind = byte;
            if !lengths.is_empty() {
                let count = lengths.len() as c_int;
                let (lengths, offsets) = (lengths.as_ptr(), offsets.as_ptr());
                let code = ffi::PMPI_Type_create_hindexed(count, lengths, offsets, byte, &mut kind);
                check("MPI_Type_create_hindexed", code)?;
                check("MPI_Type_commit", ffi::PMPI_Type_commit(&mut kind))?;
            }
            let name = NATIVE.as_ptr().cast::<c_char>();
            let info = ffi::RSMPI_INFO_NULL;
            let code = ffi::PMPI_File_set_view(self.0, 0, byte, kind, name, info);
            if !lengths.is_empty() {
                ffi::PMPI_Type_free(&mut kind);
            }
            check("MPI_File_set_view", code)
        }
    }

    /// Syncs the file to disk. Collective.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the file is open.
        check("MPI_File_sync", unsafe { ffi::PMPI_File_sync(self.0) })
    }

    /// Collective.
    pub fn close(mut self) -> Result<()> {
        // SAFETY: the file is open, and the handle is not used again.
        check("MPI_File_close", unsafe {
            ffi::PMPI_File_close(&mut self.0)
        })
    }
}

fn moved(status: &ffi::MPI_Status) -> usize {
    let mut count = 0;
    // SAFETY: the status was set by an access.
    unsafe { ffi::PMPI_Get_count(status, ffi::RSMPI_UINT8_T, &mut count) };
    count.max(0) as usize
}

fn whole(what: &str, count: usize, asked: usize) -> Result<()> {
    if count == asked {
        return Ok(());
    }
    let text = format!("only {count} of {asked} bytes were {what}");
    Err(std::io::Error::other(text).into())
}

/// Batches of at most this many bytes of runs, whose bytes are contiguous in memory. Adjacent runs are
/// merged.
fn cut(runs: &[(u64, usize)], most: usize) -> Vec<Vec<Piece>> {
    let mut batches: Vec<Vec<Piece>> = Vec::new();
    let (mut at, mut room) = (0, 0);
    for &(mut offset, mut length) in runs {
        while length > 0 {
            if room == 0 {
                batches.push(Vec::new());
                room = most;
            }
            let part = length.min(room);
            if let Some(batch) = batches.last_mut() {
                match batch.last_mut() {
                    Some((start, bytes)) if *start + bytes.len() as u64 == offset => {
                        bytes.end += part;
                    }
                    _ => batch.push((offset, at..at + part)),
                }
            }
            at += part;
            offset += part as u64;
            length -= part;
            room -= part;
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_and_joined() {
        assert_eq!(cut(&[], 10), [[]; 0]);
        let batches = cut(&[(5, 3), (8, 4), (20, 6)], 10);
        assert_eq!(batches, [vec![(5, 0..7), (20, 7..10)], vec![(23, 10..13)]]);
        let beyond = cut(&[(1 << 40, 25)], 10);
        assert_eq!(beyond.len(), 3);
        assert_eq!(beyond[2], [((1 << 40) + 20, 20..25)]);
    }
}
