//! The error type of the library.

/// What went wrong and, where possible, what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O operation failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The bytes are not a valid stream.
    #[error("corrupt stream: {0}")]
    Corrupt(String),
    /// The stream ends too early.
    #[error("truncated stream: {0}")]
    Truncated(String),
    /// An argument is invalid.
    #[error("{0}")]
    InvalidArgument(String),
    /// A valid request that this codec, build or machine does not support.
    #[error("{0}")]
    Unsupported(String),
    /// The stream needs more memory than the caller allows.
    #[error("{0}")]
    LimitExceeded(String),
}

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A [`Error::Corrupt`] with this message.
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt(what.into())
    }

    /// A [`Error::Truncated`] with this message.
    pub fn truncated(what: impl Into<String>) -> Self {
        Self::Truncated(what.into())
    }

    /// A [`Error::InvalidArgument`] with this message.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidArgument(what.into())
    }

    /// A [`Error::Unsupported`] with this message.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }
}
