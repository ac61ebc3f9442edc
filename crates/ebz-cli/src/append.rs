//! A file that gets one more frame, and is restored if that fails.

use crate::cleanup::{self, Guard, Undo};
use crate::output::explain;
use crate::report;
use anyhow::{Context, Result, bail};
use ebz::LockedFile;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time to wait for another writer before saying so.
const SILENT_WAIT: Duration = Duration::from_millis(500);

/// A file being appended to, locked against other writers.
pub struct Append {
    path: PathBuf,
    locked: Arc<LockedFile>,
    file: File,
    guard: Guard,
}

impl Append {
    /// Locks a complete file; waits for other writers, or fails if asked not to wait.
    pub fn open(path: &Path, wait: bool, quiet: bool) -> Result<Self> {
        let name = path.display();
        let failed = || format!("cannot append to {name}");
        let start = Instant::now();
        let locked = loop {
            if let Some(locked) = LockedFile::try_open(path).with_context(failed)? {
                break locked;
            }
            if !wait {
                bail!("{name} is being written by another process: try again later");
            }
            if start.elapsed() < SILENT_WAIT {
                std::thread::sleep(SILENT_WAIT / 20);
                continue;
            }
            report::note(quiet, &format!("waiting for another writer of {name}"));
            break LockedFile::open(path).with_context(failed)?;
        };
        let locked = Arc::new(locked);
        Ok(Self {
            path: path.to_path_buf(),
            file: locked.file()?,
            guard: Guard::new(Undo::Append(locked.clone())),
            locked,
        })
    }

    pub fn locked(&self) -> Arc<LockedFile> {
        self.locked.clone()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the frame visible; it can still be undone.
    pub fn show(&self) -> Result<()> {
        Ok(self.locked.complete()?)
    }

    /// Commits the frame.
    pub fn commit(self, sync: bool) -> Result<()> {
        let Self {
            path, file, guard, ..
        } = self;
        guard.finish(|| {
            if sync {
                file.sync_all()
                    .with_context(|| format!("cannot write {} to the disk", path.display()))?;
            }
            Ok(())
        })
    }
}

impl Write for Append {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Not while Ctrl-C restores the file.
        cleanup::undisturbed(|| self.file.write(bytes))
            .map_err(|error| explain(&self.path.display().to_string(), error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
