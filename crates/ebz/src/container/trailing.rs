//! Detection of bytes after the end of a stream, for example in chunks of an outdated size.

use super::index::Place;
use super::record::{Kind, MARKER, MAX_HEADER_BYTES, Record};
use super::source::Source;
use crate::error::{Error, Result};

/// The end of a complete stream that other data follows, if that is what the source holds. Its
/// records start at `at`.
pub(super) fn early_end<S: Source>(source: &S, mut at: u64, size: u64) -> Result<Option<u64>> {
    let mut scratch = Vec::new();
    let mut indexed = false;
    while at < size {
        let known = (size - at).min(MAX_HEADER_BYTES as u64) as usize;
        let Ok(Some(found)) = Record::read(source.fetch(at, known, &mut scratch)?) else {
            break;
        };
        at = Place::new(at, &found.record).end();
        indexed = found.record.kind == Kind::Index;
    }
    let rest = (size.saturating_sub(at) as usize).min(MARKER.len());
    // The beginning of a truncated record is not other data.
    Ok(
        (indexed && rest > 0 && !MARKER.starts_with(source.fetch(at, rest, &mut scratch)?))
            .then_some(at),
    )
}

pub(super) fn trailing_bytes(end: u64) -> Error {
    Error::corrupt(format!(
        "the stream ends at byte {end}, but there are bytes after its end: the file or chunk was \
         written over a longer one, or its size is outdated"
    ))
}
