//! Where things are: the chunks of a frame, and the frames of a file.

use super::bytes::Fields;
use super::file_header::FILE_HEADER;
use super::record::{Kind, MAX_HEADER, Record};
use super::source::Source;
use crate::bits::varint;
use crate::chunk::Form;
use crate::error::{Error, Result};

/// Bytes at the end of a file that lead to its index: where the index record starts.
pub(super) const TAIL: usize = 6;

/// The largest offset that a tail can tell.
pub(super) const MAX_OFFSET: u64 = (1 << 48) - 1;

/// A record in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where its header starts.
    pub offset: u64,
    /// Bytes of its header.
    pub header: u64,
    /// Bytes of its body.
    pub length: u64,
}

impl Place {
    /// Where a record that starts here lies.
    pub fn new(offset: u64, record: &Record) -> Self {
        Self {
            offset,
            header: record.header_len() as u64,
            length: record.length,
        }
    }

    /// Header and body.
    pub fn record_len(self) -> u64 {
        self.length.saturating_add(self.header)
    }

    /// Where the body starts.
    pub fn body(self) -> u64 {
        self.offset.saturating_add(self.header)
    }

    /// Where the record ends.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.record_len())
    }
}

/// Where a frame's header and chunks are, and its end record if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub header: Place,
    /// Bytes of the records of all chunks, which follow the header.
    pub chunks: u64,
    /// Only frames of several chunks have one.
    pub end: Option<Place>,
}

impl FramePlace {
    /// Where the records of the chunks end.
    pub fn chunks_end(&self) -> u64 {
        self.header.end().saturating_add(self.chunks)
    }

    /// Where the frame ends.
    pub fn end(&self) -> u64 {
        self.end.map_or(self.chunks_end(), Place::end)
    }
}

/// The body of an end record: the lengths of the bodies of a frame's chunks.
pub(super) fn write_chunks(places: &[Place], out: &mut Vec<u8>) {
    for place in places {
        varint::write(place.length, out);
    }
}

/// The places of a frame's `count` chunks, from the body of its end record if it has one. They follow
/// the frame record without gaps, so that whoever reads front to back meets the same records.
pub(super) fn read_chunks(
    frame: u32,
    place: &FramePlace,
    count: usize,
    end: Option<&[u8]>,
) -> Result<Vec<Place>> {
    if end.is_some() != (count > 1) {
        return Err(other_places());
    }
    let mut at = place.header.end();
    // The form does not change the length of a header.
    let chunk = |number, length| Record::of_chunk(frame, number, Form::Raw, length);
    let mut places = Vec::new();
    match (count, end) {
        (1, _) => {
            let header = chunk(0, 0).header_len() as u64;
            let length = place.chunks.checked_sub(header).ok_or_else(other_places)?;
            places.push(Place::new(at, &chunk(0, length)));
        }
        (_, Some(body)) => {
            // A length takes a byte or more.
            if body.len() < count {
                return Err(other_places());
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
        false => Err(other_places()),
    }
}

/// What an index says is not what the file holds.
pub(super) fn other_places() -> Error {
    Error::corrupt("the index of a frame names other places than those where its chunks are")
}

/// The body of the index record, which starts at `offset` in the file.
pub(super) fn write_frames(frames: &[FramePlace], offset: u64, out: &mut Vec<u8>) {
    let mut at = FILE_HEADER as u64;
    for frame in frames {
        varint::write(frame.header.offset - at, out);
        varint::write(frame.header.length, out);
        varint::write(frame.chunks, out);
        varint::write(frame.end.map_or(0, |end| end.length), out);
        at = frame.end();
    }
    out.extend_from_slice(&offset.to_le_bytes()[..TAIL]);
}

/// The index record that a source of so many bytes ends with, if it does.
pub(super) fn last(source: &impl Source, size: u64) -> Result<Option<Place>> {
    let mut scratch = Vec::new();
    let Some(tail) = size.checked_sub(TAIL as u64) else {
        return Ok(None);
    };
    let offset = read_tail(source.fetch(tail, TAIL, &mut scratch)?);
    let place = find(source, size, offset)?;
    Ok(place.filter(|place| place.end() == size))
}

/// The index record that the file header notes. What it is worth, its checksum and its tail tell.
pub(super) fn at(source: &impl Source, size: u64, offset: u64) -> Result<Place> {
    find(source, size, offset)?
        .filter(|place| place.end() <= size)
        .ok_or_else(|| Error::corrupt("no file index where one is noted"))
}

/// An index record that starts here, if there is one.
fn find(source: &impl Source, size: u64, offset: u64) -> Result<Option<Place>> {
    let mut scratch = Vec::new();
    if offset < FILE_HEADER as u64 || offset >= size {
        return Ok(None);
    }
    let known = (size - offset).min(MAX_HEADER as u64) as usize;
    let found = Record::read(source.fetch(offset, known, &mut scratch)?);
    let record = found.ok().flatten().map(|found| found.record);
    let index = record.filter(|record| record.kind == Kind::Index);
    Ok(index.map(|record| Place::new(offset, &record)))
}

/// Where the index record starts, if these are the last bytes of a file.
pub(super) fn read_tail(tail: &[u8]) -> u64 {
    tail.iter()
        .rev()
        .fold(0, |n, &byte| n << 8 | u64::from(byte))
}

/// Reads the body of the index record of `count` frames, which starts at `offset` in the file.
pub(super) fn read_frames(body: &[u8], count: u32, offset: u64) -> Result<Vec<FramePlace>> {
    let wrong = || Error::corrupt("file index of an impossible size");
    let table = body.len().checked_sub(TAIL).ok_or_else(wrong)?;
    let (table, tail) = body.split_at(table);
    // A frame takes four bytes or more.
    if table.len() / 4 < count as usize || read_tail(tail) != offset {
        return Err(wrong());
    }
    let mut fields = Fields::new(table, "file index");
    let mut frames = Vec::new();
    let mut at = FILE_HEADER as u64;
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
