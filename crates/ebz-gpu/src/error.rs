//! Errors of a device; a fault never leads to wrong results.

use std::fmt;

/// Why a device could not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter, or none with this name.
    NoAdapter(String),
    /// The adapter lacks a required feature, or its driver refused to open it.
    Unsuitable(String),
    /// The device's bytes differed from the CPU's when it was opened.
    SelfTest(String),
    /// Device memory is exhausted, or a request exceeds the limits of the device.
    Memory(String),
    /// The device was lost, or rejected work.
    Lost(String),
    /// The device did not answer in time.
    Timeout,
    /// The request is invalid, or the compressed data is corrupt.
    Input(String),
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAdapter(what) => write!(f, "no GPU: {what}"),
            Self::Unsuitable(what) => write!(f, "the GPU cannot be used: {what}"),
            Self::SelfTest(what) => write!(f, "the GPU failed its self-test: {what}"),
            Self::Memory(what) => write!(f, "not enough GPU memory: {what}"),
            Self::Lost(what) => write!(f, "the GPU failed: {what}"),
            Self::Timeout => f.write_str("the GPU did not answer in time"),
            Self::Input(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for GpuError {}

impl From<ebz::Error> for GpuError {
    fn from(error: ebz::Error) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<GpuError> for ebz::Error {
    fn from(error: GpuError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// The result of work on a device.
pub type Result<T> = std::result::Result<T, GpuError>;
