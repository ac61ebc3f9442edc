//! Errors of parallel operations.

/// An error. Collective calls fail on every rank or on none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Compression, files, or arguments.
    #[error(transparent)]
    Ebz(#[from] ebz::Error),
    /// An MPI call failed.
    #[error("{call}: {text}")]
    Mpi {
        /// The function.
        call: &'static str,
        /// MPI's error message.
        text: String,
    },
    /// The ranks' requests differ.
    #[error("the ranks disagree: {0}")]
    Disagree(String),
    /// Another rank failed.
    #[error("rank {rank}: {text}")]
    Other {
        /// The rank.
        rank: usize,
        /// Its error.
        text: String,
    },
}

/// Result with the error of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Ebz(error.into())
    }
}
