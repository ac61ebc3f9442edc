//! Positions of chunks within a frame, and of frames within a file.

use super::bytes::Fields;
use super::file_header::{FILE_HEADER_BYTES, read_offset};
use super::record::{Kind, MAX_HEADER_BYTES, Record};
use super::source::Source;
use crate::bits::varint;
use crate::chunk::Form;
use crate::error::{Error, Result};
use smallvec::SmallVec;

/// Bytes at the end of a file that hold the offset of the index record.
pub(super) const TAIL_BYTES: usize = 6;

/// Largest offset that fits the tail.
pub(super) const MAX_OFFSET: u64 = (1 << 48) - 1;

/// Position of a record in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Offset of the header.
    pub offset: u64,
    /// Length of the header.
    pub header: u64,
    /// Length of the body.
    pub length: u64,
}

impl Place {
    /// The position of a record that starts at `offset`.
    pub fn new(offset: u64, record: &Record) -> Self {
        Self {
            offset,
            header: record.header_len() as u64,
            length: record.length,
        }
    }

    /// Length of header and body.
    pub fn record_len(self) -> u64 {
        self.length.saturating_add(self.header)
    }

    /// Offset of the body.
    pub fn body(self) -> u64 {
        self.offset.saturating_add(self.header)
    }

    /// End of the record.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.record_len())
    }
}

/// Position of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub header: Place,
    /// Total length of the chunk records, which follow the header.
    pub chunks: u64,
    /// The end record, which only frames of several chunks have.
    pub end: Option<Place>,
}

/// Places of the chunks of a frame; small arrays have one, which needs no allocation.
pub(super) type Places = SmallVec<[Place; 1]>;

/// Places of the frames of a file.
pub(super) type FramePlaces = SmallVec<[FramePlace; 1]>;

impl FramePlace {
    /// End of the chunk records.
    pub fn chunks_end(&self) -> u64 {
        self.header.end().saturating_add(self.chunks)
    }

    /// End of the frame.
    pub fn end(&self) -> u64 {
        self.end.map_or(self.chunks_end(), Place::end)
    }
}

/// Appends the body of an end record: the body length of every chunk.
pub(super) fn write_chunks(places: &[Place], out: &mut Vec<u8>) {
    for place in places {
        varint::write(place.length, out);
    }
}

/// Positions of a frame's `count` chunks, from the body of its end record if it has one. They
/// follow the frame record without gaps, so that sequential readers see the same records.
pub(super) fn read_chunks(
    frame: u32,
    place: &FramePlace,
    count: usize,
    end: Option<&[u8]>,
) -> Result<Places> {
    if end.is_some() != (count > 1) {
        return Err(mismatch());
    }
    let mut at = place.header.end();
    // The length of a header does not depend on the form.
    let chunk = |number, length| Record::of_chunk(frame, number, Form::Raw, length);
    let mut places = Places::new();
    match (count, end) {
        (1, _) => {
            let header = chunk(0, 0).header_len() as u64;
            let length = place.chunks.checked_sub(header).ok_or_else(mismatch)?;
            places.push(Place::new(at, &chunk(0, length)));
        }
        (_, Some(body)) => {
            // A length takes at least one byte.
            if body.len() < count {
                return Err(mismatch());
            }
            places
                .try_reserve_exact(count)
                .map_err(|_| crate::allocate::no_memory((count * size_of::<Place>()) as u64))?;
            let mut fields = Fields::new(body, "chunk index");
            for number in 0..count {
                let place = Place::new(at, &chunk(number, fields.number()?));
                at = place.end();
                places.push(place);
            }
            fields.finish()?;
        }
        _ => {}
    }
    let end = places.last().map_or(place.header.end(), |last| last.end());
    match end == place.chunks_end() {
        true => Ok(places),
        false => Err(mismatch()),
    }
}

pub(super) fn mismatch() -> Error {
    Error::corrupt("the index does not match the records of the file")
}

/// Appends the body of the index record, which starts at `offset` in the file.
pub(super) fn write_frames(frames: &[FramePlace], offset: u64, out: &mut Vec<u8>) {
    let mut at = FILE_HEADER_BYTES as u64;
    for frame in frames {
        varint::write(frame.header.offset - at, out);
        varint::write(frame.header.length, out);
        varint::write(frame.chunks, out);
        varint::write(frame.end.map_or(0, |end| end.length), out);
        at = frame.end();
    }
    out.extend_from_slice(&offset.to_le_bytes()[..TAIL_BYTES]);
}

/// The index record at the end of a source of this size, if there is one.
pub(super) fn last(source: &impl Source, size: u64) -> Result<Option<Place>> {
    let mut scratch = Vec::new();
    let Some(tail) = size.checked_sub(TAIL_BYTES as u64) else {
        return Ok(None);
    };
    let offset = read_offset(source.fetch(tail, TAIL_BYTES, &mut scratch)?);
    let place = find(source, size, offset)?;
    Ok(place.filter(|place| place.end() == size))
}

/// The index record at the offset in the file header; its checksum and tail are still to be
/// verified.
pub(super) fn at(source: &impl Source, size: u64, offset: u64) -> Result<Place> {
    find(source, size, offset)?
        .filter(|place| place.end() <= size)
        .ok_or_else(|| Error::corrupt("no file index at the offset in the file header"))
}

/// The index record at this offset, if there is one.
fn find(source: &impl Source, size: u64, offset: u64) -> Result<Option<Place>> {
    let mut scratch = Vec::new();
    if offset < FILE_HEADER_BYTES as u64 || offset >= size {
        return Ok(None);
    }
    let known = (size - offset).min(MAX_HEADER_BYTES as u64) as usize;
    let found = Record::read(source.fetch(offset, known, &mut scratch)?);
    let record = found.ok().flatten().map(|found| found.record);
    let index = record.filter(|record| record.kind == Kind::Index);
    Ok(index.map(|record| Place::new(offset, &record)))
}

/// Parses the body of the index record of `count` frames, which starts at `offset` in the file.
pub(super) fn read_frames(body: &[u8], count: u32, offset: u64) -> Result<FramePlaces> {
    let wrong = || Error::corrupt("file index of invalid length");
    let table = body.len().checked_sub(TAIL_BYTES).ok_or_else(wrong)?;
    let (table, tail) = body.split_at(table);
    // A frame takes at least four bytes.
    if table.len() / 4 < count as usize || read_offset(tail) != offset {
        return Err(wrong());
    }
    let mut fields = Fields::new(table, "file index");
    let mut frames = FramePlaces::new();
    let mut at = FILE_HEADER_BYTES as u64;
    for frame in 0..count {
        let start = at.saturating_add(fields.number()?);
        let header = Record::other(Kind::Frame, frame, fields.number()?);
        let mut place = FramePlace {
            header: Place::new(start, &header),
            chunks: fields.number()?,
            end: None,
        };
        place.end = match fields.number()? {
            0 => None,
            length => {
                let end = Record::other(Kind::End, frame, length);
                Some(Place::new(place.chunks_end(), &end))
            }
        };
        at = place.end();
        frames.push(place);
    }
    fields.finish()?;
    Ok(frames)
}

/// A frame number or count as stored.
pub(super) fn frame_number(frame: usize) -> Result<u32> {
    u32::try_from(frame).map_err(|_| Error::invalid("a file can have at most 2^32 frames"))
}
