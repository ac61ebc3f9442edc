//! What goes wrong where ranks work together.

/// What went wrong. Collective calls fail on every rank or on none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Compression, files, or arguments.
    #[error(transparent)]
    Ebz(#[from] ebz::Error),
    /// MPI refused a call.
    #[error("{call}: {text}")]
    Mpi {
        /// The function.
        call: &'static str,
        /// What MPI says.
        text: String,
    },
    /// The ranks do not ask for the same.
    #[error("the ranks disagree: {0}")]
    Disagree(String),
    /// Another rank failed.
    #[error("rank {rank}: {text}")]
    Other {
        /// Which one.
        rank: usize,
        /// Its error.
        text: String,
    },
}

/// Result with the crate's error.
pub type Result<T> = std::result::Result<T, Error>;

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Ebz(error.into())
    }
}
