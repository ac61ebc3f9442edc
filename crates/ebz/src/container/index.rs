//! Where things are: the chunks of a frame, and the frames of a file.

use super::bytes::Fields;
use super::record::HEADER;
use crate::error::{Error, Result};

/// Last bytes of every complete file.
const END: [u8; 8] = *b"ebz-end\n";

/// Bytes at the end of a file that lead to its index: an offset and [`END`].
pub(super) const TAIL: usize = 16;

/// Bytes of a frame in the index.
pub(super) const FRAME: usize = 32;

/// A record in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where its header starts.
    pub offset: u64,
    /// Bytes of its body.
    pub length: u64,
}

impl Place {
    /// Header and body.
    pub fn record_len(self) -> u64 {
        self.length.saturating_add(HEADER as u64)
    }

    /// Where the record ends.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.record_len())
    }

    fn write_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
    }

    fn read_from(fields: &mut Fields<'_>) -> Result<Self> {
        Ok(Self {
            offset: fields.u64()?,
            length: fields.u64()?,
        })
    }
}

/// The body of an end record: the places of a frame's chunks, in the order of their numbers.
pub(super) fn write_chunks(places: &[Place], out: &mut Vec<u8>) {
    for place in places {
        place.write_to(out);
    }
}

/// Reads the body of an end record of a frame with `chunks` chunks.
pub(super) fn read_chunks(body: &[u8], chunks: usize) -> Result<Vec<Place>> {
    if body.len() / 16 != chunks || !body.len().is_multiple_of(16) {
        return Err(Error::corrupt(format!(
            "index of {} bytes for a frame of {chunks} chunks",
            body.len()
        )));
    }
    let mut fields = Fields::new(body, "chunk index");
    (0..chunks).map(|_| Place::read_from(&mut fields)).collect()
}

/// The chunks of a frame must lie between its header and its end, in order and without gaps, so that
/// whoever reads front to back meets the same records.
pub(super) fn check_chunks(frame: &FramePlace, chunks: &[Place]) -> Result<()> {
    let mut at = frame.header.end();
    for chunk in chunks {
        if chunk.offset != at {
            return Err(other_places());
        }
        at = chunk.end();
    }
    match at == frame.end.offset {
        true => Ok(()),
        false => Err(other_places()),
    }
}

/// What an index says is not what the file holds.
pub(super) fn other_places() -> Error {
    Error::corrupt("the index of a frame names other places than those where its chunks are")
}

/// The places of a frame's header and end records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub header: Place,
    pub end: Place,
}

/// The body of the index record, which starts at `offset` in the file.
pub(super) fn write_frames(frames: &[FramePlace], offset: u64, out: &mut Vec<u8>) {
    for frame in frames {
        frame.header.write_to(out);
        frame.end.write_to(out);
    }
    out.extend_from_slice(&offset.to_le_bytes());
    out.extend_from_slice(&END);
}

/// Where the index record starts, from the last bytes of a file.
pub(super) fn read_tail(tail: &[u8; TAIL]) -> Result<u64> {
    let mut fields = Fields::new(tail, "end of file");
    let offset = fields.u64()?;
    if fields.take(8)? != END {
        return Err(Error::truncated(
            "the end of the file is missing: its writer was stopped, or it is still being \
             written; `ebz recover` saves what is there",
        ));
    }
    Ok(offset)
}

/// Reads the body of the index record.
pub(super) fn read_frames(body: &[u8]) -> Result<Vec<FramePlace>> {
    let table = body.len().wrapping_sub(TAIL);
    if body.len() < TAIL || !table.is_multiple_of(FRAME) {
        return Err(Error::corrupt("file index of an impossible size"));
    }
    let mut fields = Fields::new(&body[..table], "file index");
    (0..table / FRAME)
        .map(|_| {
            Ok(FramePlace {
                header: Place::read_from(&mut fields)?,
                end: Place::read_from(&mut fields)?,
            })
        })
        .collect()
}
