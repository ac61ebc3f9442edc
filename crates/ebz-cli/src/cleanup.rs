//! Nothing half-written stays behind, whether a command fails or is stopped by Ctrl-C.

use anyhow::{Context, Result};
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What to do with a file that is not finished.
#[derive(Debug, Clone, PartialEq)]
pub enum Undo {
    /// It is temporary.
    Remove(PathBuf),
    /// It was there before, with this many bytes.
    Truncate(PathBuf, u64),
}

static PENDING: Mutex<Vec<Undo>> = Mutex::new(Vec::new());

fn pending() -> MutexGuard<'static, Vec<Undo>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cleans up when the user stops the command.
pub fn install() -> Result<()> {
    ctrlc::set_handler(|| {
        // Held until the end, so that nothing is finished or started any more.
        let pending = pending();
        pending.iter().for_each(Undo::run);
        std::process::exit(130);
    })
    .context("cannot listen for Ctrl-C")
}

impl Undo {
    fn run(&self) {
        // There is nobody left to tell if this fails.
        let _ = match self {
            Self::Remove(path) => std::fs::remove_file(path),
            Self::Truncate(path, length) => OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|file| file.set_len(*length)),
        };
    }
}

/// Undoes something unless it is finished.
#[derive(Debug)]
pub struct Guard(Undo);

impl Guard {
    /// From now on, failing and stopping undo it.
    pub fn new(undo: Undo) -> Self {
        pending().push(undo.clone());
        Self(undo)
    }

    /// Runs the last step, which Ctrl-C does not interrupt; if it succeeds, all is well.
    pub fn finish<R>(self, step: impl FnOnce() -> Result<R>) -> Result<R> {
        let mut pending = pending();
        let result = step();
        if result.is_ok() {
            pending.retain(|undo| *undo != self.0);
        }
        result
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut pending = pending();
        if pending.contains(&self.0) {
            self.0.run();
            pending.retain(|undo| *undo != self.0);
        }
    }
}
