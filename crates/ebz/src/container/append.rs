//! Appending frames to a complete file, one writer at a time.
//!
//! An append 1 locks the file and reads its index, 2 stores the offset of that index in the file
//! header, 3 writes frames and a new index after the old one, 4 clears the offset. While the offset
//! is set, readers use that index and ignore everything after it; a failing writer restores the
//! state of step 1.

use super::file_header::PREVIOUS_INDEX;
use super::index::{self, FramePlace, frame_number};
use super::reader::Reader;
use super::record::{Kind, Record};
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

/// A complete file, locked against other writers as long as this value or a
/// [`Writer`](super::Writer) made from it exists.
///
/// The lock is advisory: every appending ebz writer takes it, readers do not. File systems without
/// locks (some parallel ones) are accepted; there, users must avoid concurrent appends.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    reader: Reader<File>,
}

impl LockedFile {
    /// Opens a file, waiting for other writers to release their lock.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        loop {
            let file = open_file(path.as_ref())?;
            file.lock().or_else(allow_unsupported)?;
            if let Some(locked) = Self::new(file, path.as_ref())? {
                return Ok(locked);
            }
        }
    }

    /// Opens a file; `None` if another writer has it locked.
    pub fn try_open(path: impl AsRef<Path>) -> Result<Option<Self>> {
        loop {
            let file = open_file(path.as_ref())?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => allow_unsupported(error)?,
                Ok(()) => {}
            }
            if let Some(locked) = Self::new(file, path.as_ref())? {
                return Ok(Some(locked));
            }
        }
    }

    /// Reads the index under the lock; `None` if the path now refers to another file.
    fn new(file: File, path: &Path) -> Result<Option<Self>> {
        if !is_same_file(&file, path)? {
            return Ok(None);
        }
        let reader = Reader::from_source(file.try_clone()?)?;
        if reader.is_unfinished() {
            return Err(Error::truncated(
                "an append to this file was interrupted: run `ebz recover`",
            ));
        }
        Ok(Some(Self { file, reader }))
    }

    /// A reader for the existing frames.
    pub fn reader(&self) -> &Reader<File> {
        &self.reader
    }

    /// A handle for writing frames, which shares the lock.
    pub fn file(&self) -> Result<File> {
        Ok(self.file.try_clone()?)
    }

    /// Starts an append: stores the index offset in the file header and seeks to the end.
    pub(super) fn begin(&self) -> Result<()> {
        let place = self.reader.index_offset().to_le_bytes();
        let (previous, rest) = place.split_at(PREVIOUS_INDEX.len());
        if rest.iter().any(|&byte| byte > 0) {
            return Err(Error::unsupported(
                "cannot append to a file of more than 2^48 bytes",
            ));
        }
        self.write_at(PREVIOUS_INDEX.start as u64, previous)?;
        (&self.file).seek(SeekFrom::Start(self.reader.size()))?;
        Ok(())
    }

    /// Ends an append: makes the new frames visible to readers.
    pub fn complete(&self) -> Result<()> {
        self.write_at(
            PREVIOUS_INDEX.start as u64,
            &[0; PREVIOUS_INDEX.end - PREVIOUS_INDEX.start],
        )
    }

    /// Restores the file to its state when it was locked.
    pub fn undo(&self) -> Result<()> {
        self.file.set_len(self.reader.size())?;
        self.complete()
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        Ok(file.write_all(bytes)?)
    }
}

/// An append in progress. If its [`Writer`](super::Writer) is dropped before it is finished, this
/// keeps the complete frames and writes an index of them.
#[derive(Debug)]
pub(super) struct Session {
    locked: LockedFile,
    /// End of the last complete frame.
    end: u64,
    frames: Vec<FramePlace>,
    finished: bool,
}

impl Session {
    pub fn new(locked: LockedFile) -> Self {
        Self {
            end: locked.reader.size(),
            frames: locked.reader.frame_places().to_vec(),
            locked,
            finished: false,
        }
    }

    /// Records a complete frame and its end.
    pub fn frame(&mut self, place: FramePlace, end: u64) {
        self.frames.push(place);
        self.end = end;
    }

    /// Marks the append as complete, after the new index was written.
    pub fn finish(&mut self) -> Result<()> {
        self.locked.complete()?;
        self.finished = true;
        Ok(())
    }

    fn close(&self) -> Result<()> {
        if self.end == self.locked.reader.size() {
            return self.locked.undo();
        }
        self.locked.file.set_len(self.end)?;
        let mut body = Vec::new();
        index::write_frames(&self.frames, self.end, &mut body);
        let count = frame_number(self.frames.len())?;
        let record = Record::other(Kind::Index, count, body.len() as u64);
        let header = record.header(&body);
        self.locked
            .write_at(self.end, &[header.as_ref(), &body].concat())?;
        self.locked.complete()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.finished {
            // If this fails too, readers still see the previous frames, and recovery finds the
            // others.
            let _ = self.close();
        }
    }
}

fn open_file(path: &Path) -> Result<File> {
    Ok(OpenOptions::new().read(true).write(true).open(path)?)
}

/// Ignores missing lock support of the file system.
fn allow_unsupported(error: std::io::Error) -> Result<()> {
    match error.kind() {
        ErrorKind::Unsupported => Ok(()),
        _ => Err(error.into()),
    }
}

/// Whether the path still refers to this file after waiting for the lock.
#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (opened, named) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((opened.dev(), opened.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_same_file(_: &File, _: &Path) -> Result<bool> {
    Ok(true)
}
