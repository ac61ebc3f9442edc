//! Segments of a chunk, which can be decoded independently: runs of whole groups of blocks of about a
//! given size.
//!
//! The encoding is the number of segments; for each segment, its number of groups and the lengths of
//! its [`STREAMS`]; then all streams. Numbers have 32 bits.

use super::plane_code::STREAMS;
use crate::bits::{BitReader, BitWriter};
use crate::error::{Error, Result};

/// Writes segments.
#[derive(Debug, Default)]
pub struct SegmentWriter {
    streams: [BitWriter; STREAMS],
    groups: u32,
    count: u32,
    index: Vec<u8>,
    body: Vec<u8>,
    limit: usize,
}

impl SegmentWriter {
    /// Removes all segments; the next ones have about `limit` bytes.
    pub fn reset(&mut self, limit: usize) {
        self.streams.iter_mut().for_each(BitWriter::clear);
        (self.groups, self.count, self.limit) = (0, 0, limit);
        self.index.clear();
        self.body.clear();
    }

    /// The stream of a block.
    #[inline(always)]
    pub fn stream_of(&mut self, block: usize) -> &mut BitWriter {
        &mut self.streams[block % STREAMS]
    }

    /// Ends a group.
    #[inline(always)]
    pub fn end_group(&mut self) {
        self.groups += 1;
        let size: usize = self.streams.iter().map(BitWriter::whole_bytes).sum();
        if size >= self.limit {
            self.end_segment();
        }
    }

    fn end_segment(&mut self) {
        self.index.extend_from_slice(&self.groups.to_le_bytes());
        for stream in &mut self.streams {
            let bytes = stream.finish();
            // A segment barely exceeds its limit, which is a `u32`.
            self.index
                .extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            self.body.extend_from_slice(bytes);
            stream.clear();
        }
        self.groups = 0;
        self.count += 1;
    }

    /// Appends all segments.
    pub fn write_to(&mut self, out: &mut Vec<u8>) {
        if self.groups > 0 {
            self.end_segment();
        }
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.index);
        out.extend_from_slice(&self.body);
    }
}

/// A segment being read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segment<'a> {
    /// Number of groups left.
    pub groups: usize,
    /// Its streams.
    pub readers: [BitReader<'a>; STREAMS],
}

impl Segment<'_> {
    /// Checks that the streams were consumed completely, up to whole flits.
    pub fn end(&self) -> Result<()> {
        self.readers.iter().try_for_each(BitReader::finish_flit)
    }
}

/// Reads segments.
pub struct SegmentReader<'a> {
    index: &'a [u8],
    body: &'a [u8],
}

impl<'a> SegmentReader<'a> {
    /// Reads the index at the start of `bytes`.
    pub fn new(mut bytes: &'a [u8]) -> Result<Self> {
        let count = bytes.split_off(..4).ok_or_else(short)?;
        let length = number(count)
            .checked_mul(4 * (1 + STREAMS))
            .ok_or_else(short)?;
        let index = bytes.split_off(..length).ok_or_else(short)?;
        Ok(Self { index, body: bytes })
    }

    /// The next segment, if there is one.
    pub fn next(&mut self) -> Result<Option<Segment<'a>>> {
        let Some(groups) = self.index.split_off(..4) else {
            return Ok(None);
        };
        let mut readers = [BitReader::new(&[]); STREAMS];
        for reader in &mut readers {
            let length = self.index.split_off(..4).ok_or_else(short)?;
            let stream = self.body.split_off(..number(length)).ok_or_else(short)?;
            *reader = BitReader::new(stream);
        }
        Ok(Some(Segment {
            groups: number(groups),
            readers,
        }))
    }

    /// The bytes after the last segment.
    pub fn rest(self) -> &'a [u8] {
        self.body
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))
}

fn short() -> Error {
    Error::truncated("the segments of a chunk are cut off")
}
