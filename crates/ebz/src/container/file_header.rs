//! The first bytes of a file: what it is, and whether an append is under way.

use super::source::Source;
use super::{FORMAT_VERSION, SIGNATURE};
use crate::error::{Error, Result};
use std::ops::Range;

/// Bytes of the signature, the version and the note.
pub(super) const FILE_HEADER: usize = 16;

/// Where the file header tells, during an append, the place of the index from before.
pub(super) const NOTED_INDEX: Range<usize> = 10..FILE_HEADER;

pub(super) fn check_file_header(bytes: &[u8]) -> Result<()> {
    if bytes[..8] != SIGNATURE {
        return Err(not_ebz());
    }
    let version = u16::from_le_bytes([bytes[8], bytes[9]]);
    if version == 0 || version > FORMAT_VERSION {
        return Err(Error::unsupported(format!(
            "format version {version} is unknown to this version of ebz: use a newer one"
        )));
    }
    Ok(())
}

/// The size of a file and what its header notes, which belong together even if an append begins or
/// ends meanwhile.
pub(super) fn size_and_note(source: &impl Source) -> Result<(u64, u64)> {
    const TRIES: usize = 100;
    let mut scratch = Vec::new();
    for _ in 0..TRIES {
        let size = source.size()?;
        if size < FILE_HEADER as u64 {
            return Err(not_ebz());
        }
        let header = source.fetch(0, FILE_HEADER, &mut scratch)?;
        check_file_header(header)?;
        let noted = noted_index(header);
        // Behind a note nothing counts; without one, the end of the file must stay where it is.
        if noted > 0 || source.size()? == size {
            return Ok((size, noted));
        }
    }
    Err(Error::truncated("the file is still being written"))
}

/// The place in the file header of the index from before an append that is not complete; else 0.
pub(super) fn noted_index(header: &[u8]) -> u64 {
    let bytes = header[NOTED_INDEX].iter().rev();
    bytes.fold(0, |offset, &byte| offset << 8 | u64::from(byte))
}

pub(super) fn not_ebz() -> Error {
    Error::corrupt("this is not an .ebz file")
}
