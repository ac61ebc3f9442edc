//! Removes or restores unfinished files when a command fails or is stopped by Ctrl-C.

use anyhow::{Context, Result};
use ebz::LockedFile;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How to clean up an unfinished file.
#[derive(Debug)]
pub enum Undo {
    /// Remove a temporary file.
    Remove(PathBuf),
    /// Restore an existing file, which stays locked against other writers until then.
    Append(Arc<LockedFile>),
}

/// Pending cleanups.
static PENDING: Mutex<Vec<(u64, Undo)>> = Mutex::new(Vec::new());

fn pending() -> MutexGuard<'static, Vec<(u64, Undo)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a step that must not run during a cleanup.
pub fn undisturbed<R>(step: impl FnOnce() -> R) -> R {
    let _pending = pending();
    step()
}

/// Cleans up when the user stops the command.
pub fn install() -> Result<()> {
    ctrlc::set_handler(|| {
        // Held until the process ends, so that no other step starts or finishes.
        let pending = pending();
        pending.iter().for_each(|(_, undo)| undo.run());
        std::process::exit(130);
    })
    .context("cannot listen for Ctrl-C")
}

impl Undo {
    fn run(&self) {
        // Errors cannot be reported any more.
        let _ = match self {
            Self::Remove(path) => std::fs::remove_file(path).map_err(ebz::Error::from),
            Self::Append(file) => file.undo(),
        };
    }
}

/// Cleans up unless it is finished.
#[derive(Debug)]
pub struct Guard(u64);

impl Guard {
    /// From now on, errors and Ctrl-C clean up.
    pub fn new(undo: Undo) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        pending().push((id, undo));
        Self(id)
    }

    /// Runs the last step, uninterrupted by Ctrl-C; if it succeeds, there is nothing to clean up.
    pub fn finish<R>(self, step: impl FnOnce() -> Result<R>) -> Result<R> {
        let mut pending = pending();
        let result = step();
        if result.is_ok() {
            pending.retain(|(id, _)| *id != self.0);
        }
        result
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut pending = pending();
        if let Some(at) = pending.iter().position(|(id, _)| *id == self.0) {
            pending.swap_remove(at).1.run();
        }
    }
}
