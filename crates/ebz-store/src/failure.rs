//! The first error of a servant, kept until the application's next call.

use ebz::{Error, Result};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Set once; every later call of the application returns the error.
#[derive(Debug, Default)]
pub(crate) struct Failure(OnceLock<Error>);

impl Failure {
    /// Returns the error, if there was one.
    pub fn check(&self) -> Result<()> {
        self.0.get().map_or(Ok(()), |error| Err(copy(error)))
    }

    pub fn is_set(&self) -> bool {
        self.0.get().is_some()
    }

    /// Runs a servant's work, unless something failed before, and records its error.
    pub fn guard(&self, work: impl FnOnce() -> Result<()>) {
        if self.is_set() {
            return;
        }
        if let Err(error) = catch(work) {
            // Only the first error is kept.
            let _ = self.0.set(error);
        }
    }
}

/// Runs work and turns a panic into an error: others would wait for the dead thread forever.
pub(crate) fn catch<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let text = "a servant thread of the frame store panicked: this is a bug, please report it";
        Err(io::Error::other(text).into())
    })
}

/// An error of the same kind with the same message.
fn copy(error: &Error) -> Error {
    match error {
        Error::Io(error) => io::Error::new(error.kind(), error.to_string()).into(),
        Error::Corrupt(text) => Error::Corrupt(text.clone()),
        Error::Truncated(text) => Error::Truncated(text.clone()),
        Error::InvalidArgument(text) => Error::InvalidArgument(text.clone()),
        Error::Unsupported(text) => Error::Unsupported(text.clone()),
        Error::LimitExceeded(text) => Error::LimitExceeded(text.clone()),
        other => io::Error::other(other.to_string()).into(),
    }
}

/// Locks a mutex even if it is poisoned: guarded work leaves its data consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
