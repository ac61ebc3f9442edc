//! The file header: signature, version, and the state of an append in progress.

use super::source::Source;
use super::{FORMAT_VERSION, SIGNATURE};
use crate::error::{Error, Result};
use std::ops::Range;

/// Bytes of signature, version and previous index offset.
pub(super) const FILE_HEADER_BYTES: usize = 16;

/// During an append, these bytes hold the offset of the previous index; otherwise 0.
pub(super) const PREVIOUS_INDEX: Range<usize> = 10..FILE_HEADER_BYTES;

pub(super) fn check_file_header(bytes: &[u8]) -> Result<()> {
    if bytes[..8] != SIGNATURE {
        return Err(not_ebz());
    }
    let version = u16::from_le_bytes([bytes[8], bytes[9]]);
    if version == 0 || version > FORMAT_VERSION {
        return Err(Error::unsupported(format!(
            "unknown format version {version}: use a newer version of ebz"
        )));
    }
    Ok(())
}

/// Consistent values of the file size and the previous index offset, even if an append starts or
/// ends concurrently.
pub(super) fn size_and_previous_index(source: &impl Source) -> Result<(u64, u64)> {
    const MAX_ATTEMPTS: usize = 100;
    let mut scratch = Vec::new();
    for _ in 0..MAX_ATTEMPTS {
        let size = source.size()?;
        if size < FILE_HEADER_BYTES as u64 {
            return Err(not_ebz());
        }
        let header = source.fetch(0, FILE_HEADER_BYTES, &mut scratch)?;
        check_file_header(header)?;
        let previous = read_offset(&header[PREVIOUS_INDEX]);
        // During an append only the previous index counts; otherwise the size must not change.
        if previous > 0 || source.size()? == size {
            return Ok((size, previous));
        }
    }
    Err(Error::truncated("the file is still being written"))
}

/// Reads a 48-bit offset.
pub(super) fn read_offset(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |offset, &byte| offset << 8 | u64::from(byte))
}

pub(super) fn not_ebz() -> Error {
    Error::corrupt("not an .ebz file, or its first bytes are damaged")
}
