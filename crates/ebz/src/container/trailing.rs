//! Streams with something behind their end, such as chunks of a size that is out of date.

use super::index::Place;
use super::record::{Kind, MARKER, MAX_HEADER, Record};
use super::source::Source;
use crate::error::{Error, Result};

/// Where a complete stream ends within a source, if it does and something else follows. Its records
/// begin at `at`.
pub(super) fn early_end<S: Source>(source: &S, mut at: u64, size: u64) -> Result<Option<u64>> {
    let mut scratch = Vec::new();
    let mut indexed = false;
    while at < size {
        let known = (size - at).min(MAX_HEADER as u64) as usize;
        let Ok(Some(found)) = Record::read(source.fetch(at, known, &mut scratch)?) else {
            break;
        };
        at = Place::new(at, &found.record).end();
        indexed = found.record.kind == Kind::Index;
    }
    let rest = (size.saturating_sub(at) as usize).min(MARKER.len());
    // A record that was cut off is not something else.
    Ok(
        (indexed && rest > 0 && !MARKER.starts_with(source.fetch(at, rest, &mut scratch)?))
            .then_some(at),
    )
}

pub(super) fn bytes_behind_end(end: u64) -> Error {
    Error::corrupt(format!(
        "the stream ends at byte {end}, but there are bytes behind its end: the file or chunk was \
         written over a longer one, or its size is out of date"
    ))
}
