//! The first error of a servant, kept until somebody asks.

use ebz::{Error, Result};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Set once; every call of the application after that returns the error.
#[derive(Debug, Default)]
pub(crate) struct Failure(OnceLock<Error>);

impl Failure {
    /// The error, if there was one.
    pub fn check(&self) -> Result<()> {
        self.0.get().map_or(Ok(()), |error| Err(copy(error)))
    }

    pub fn is_set(&self) -> bool {
        self.0.get().is_some()
    }

    /// Does a servant's work, unless something failed before, and keeps its error.
    pub fn guard(&self, work: impl FnOnce() -> Result<()>) {
        if self.is_set() {
            return;
        }
        if let Err(error) = catch(work) {
            // Only the first error counts.
            let _ = self.0.set(error);
        }
    }
}

/// Does some work; a panic, which would leave others waiting for a thread that is gone, becomes
/// an error.
pub(crate) fn catch<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let text = "a servant thread of the frame store panicked: this is a bug, please report it";
        Err(io::Error::other(text).into())
    })
}

/// An error of the same kind with the same text.
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

/// What a mutex holds, also after a panic: guarded work leaves nothing half done behind.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
