//! A chunk as segments that can be decoded one without the other: runs of whole groups of blocks
//! that take about a given number of bytes.
//!
//! In the stream: the number of segments, then for each the number of groups in it and the lengths
//! of its [`STREAMS`], then all streams. Numbers are of 32 bits.

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
    /// Starts anew, with segments of about `limit` bytes.
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

    /// A group is complete.
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
            // A segment is not much larger than its limit, which is a `u32`.
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

/// One segment to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segment<'a> {
    /// Groups of blocks in it.
    pub groups: usize,
    /// Its streams.
    pub readers: [BitReader<'a>; STREAMS],
}

impl Segment<'_> {
    /// Checks that the groups used up the streams.
    pub fn end(&self) -> Result<()> {
        self.readers.iter().try_for_each(BitReader::finish)
    }
}

/// Goes through the segments at the start of `bytes`.
pub struct SegmentReader<'a> {
    index: &'a [u8],
    body: &'a [u8],
}

impl<'a> SegmentReader<'a> {
    /// Takes the index from `bytes`.
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

    /// What follows the last segment.
    pub fn rest(self) -> &'a [u8] {
        self.body
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))
}

fn short() -> Error {
    Error::truncated("the chunk ends before its segments do")
}
