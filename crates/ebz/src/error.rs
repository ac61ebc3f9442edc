//! The one error type of the library.

/// What went wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a read or a write.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The bytes are not what a writer of this format produces.
    #[error("corrupt stream: {0}")]
    Corrupt(String),
    /// The bytes end too early.
    #[error("truncated stream: {0}")]
    Truncated(String),
    /// The caller asked for something that makes no sense.
    #[error("{0}")]
    InvalidArgument(String),
    /// The request is sensible, but not available here.
    #[error("{0}")]
    Unsupported(String),
    /// The stream asks for more memory than the caller allows.
    #[error("{0}")]
    LimitExceeded(String),
}

/// Result with the library's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A stream that no writer produces.
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt(what.into())
    }

    /// A stream that ends too early.
    pub fn truncated(what: impl Into<String>) -> Self {
        Self::Truncated(what.into())
    }

    /// An argument that makes no sense.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidArgument(what.into())
    }

    /// A request that is not available here.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }
}
