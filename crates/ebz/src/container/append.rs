//! Adding frames to a complete file, one writer at a time.
//!
//! Steps of an append: 1 lock the file and read its index, 2 note in the file header where that index
//! is, 3 frames and a new index behind the old one, 4 clear the note. While there is a note, readers
//! go by it and by nothing behind it; a writer that fails goes back to what the file was at 1.

use super::file_header::NOTED_INDEX;
use super::index::{self, FramePlace};
use super::reader::Reader;
use super::record::{Kind, Record};
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

/// A complete file to which frames can be added, locked against other writers for as long as it
/// or a [`Writer`](super::Writer) made from it lives.
///
/// The lock is advisory: every ebz writer that appends takes it, readers do not. File systems
/// without locks (some parallel ones) are taken as they are; there, one append at a time is up to
/// the user.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    reader: Reader<File>,
}

impl LockedFile {
    /// Opens a file, after any writer that has it locked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        loop {
            let file = open_file(path.as_ref())?;
            file.lock().or_else(without_locks)?;
            if let Some(locked) = Self::new(file, path.as_ref())? {
                return Ok(locked);
            }
        }
    }

    /// Opens a file; `None` while another writer has it locked.
    pub fn try_open(path: impl AsRef<Path>) -> Result<Option<Self>> {
        loop {
            let file = open_file(path.as_ref())?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => without_locks(error)?,
                Ok(()) => {}
            }
            if let Some(locked) = Self::new(file, path.as_ref())? {
                return Ok(Some(locked));
            }
        }
    }

    /// Reads the index under the lock; `None` if the name means another file by now.
    fn new(file: File, path: &Path) -> Result<Option<Self>> {
        if !is_still_named(&file, path)? {
            return Ok(None);
        }
        let reader = Reader::from_source(file.try_clone()?)?;
        if reader.is_unfinished() {
            return Err(Error::truncated(
                "an append to this file was stopped: `ebz recover` saves what is there",
            ));
        }
        Ok(Some(Self { file, reader }))
    }

    /// The frames that are there.
    pub fn reader(&self) -> &Reader<File> {
        &self.reader
    }

    /// The file, to write frames to; it shares the lock.
    pub fn file(&self) -> Result<File> {
        Ok(self.file.try_clone()?)
    }

    /// Notes where the index is, and goes to the end of the file. Writers begin with this.
    pub(super) fn begin(&self) -> Result<()> {
        let place = self.reader.index_offset().to_le_bytes();
        let (note, rest) = place.split_at(NOTED_INDEX.len());
        if rest.iter().any(|&byte| byte > 0) {
            return Err(Error::unsupported(
                "a file beyond 2^48 bytes cannot be appended to",
            ));
        }
        self.write_at(NOTED_INDEX.start as u64, note)?;
        (&self.file).seek(SeekFrom::Start(self.reader.size()))?;
        Ok(())
    }

    /// Clears the note: what was written becomes visible.
    pub fn complete(&self) -> Result<()> {
        self.write_at(
            NOTED_INDEX.start as u64,
            &[0; NOTED_INDEX.end - NOTED_INDEX.start],
        )
    }

    /// Makes the file what it was when it was locked.
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

/// What a [`Writer`](super::Writer) that appends leaves if it is dropped before it is finished: the
/// frames that are whole, and an index of them.
#[derive(Debug)]
pub(super) struct Session {
    locked: LockedFile,
    /// Where the last whole frame ends.
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

    /// A frame is whole and ends here.
    pub fn frame(&mut self, place: FramePlace, end: u64) {
        self.frames.push(place);
        self.end = end;
    }

    /// The new index is written.
    pub fn finish(&mut self) -> Result<()> {
        self.locked.complete()?;
        self.finished = true;
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        if self.end == self.locked.reader.size() {
            return self.locked.undo();
        }
        self.locked.file.set_len(self.end)?;
        let mut body = Vec::new();
        index::write_frames(&self.frames, self.end, &mut body);
        let count = u32::try_from(self.frames.len());
        let count = count.map_err(|_| Error::invalid("a file holds at most 2^32 frames"))?;
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
            // If this fails too, readers find the frames from before, and recovery the others.
            let _ = self.settle();
        }
    }
}

fn open_file(path: &Path) -> Result<File> {
    Ok(OpenOptions::new().read(true).write(true).open(path)?)
}

/// A file system that knows no locks is no reason not to write.
fn without_locks(error: std::io::Error) -> Result<()> {
    match error.kind() {
        ErrorKind::Unsupported => Ok(()),
        _ => Err(error.into()),
    }
}

/// Whether the file was not replaced or removed while its lock was waited for.
#[cfg(unix)]
fn is_still_named(file: &File, path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (opened, named) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((opened.dev(), opened.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_still_named(_: &File, _: &Path) -> Result<bool> {
    Ok(true)
}
