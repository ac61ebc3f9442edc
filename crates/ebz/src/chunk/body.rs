//! Input and output of an engine: the values of a chunk, and its encoded body.

use crate::array::FoundFill;
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::huge_pages;

/// How a body stores the values of its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Encoded by the frame's codec.
    Coded,
    /// Uncompressed, little-endian.
    Raw,
    /// All values are identical; the value is stored once.
    Constant,
}

/// An encoded chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Body<'a> {
    /// How it stores the values.
    pub form: Form,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The values of a chunk in C order, to be encoded.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// Index of the chunk in its frame.
    pub chunk: usize,
    /// The values in memory layout, aligned for their type.
    pub bytes: &'a [u8],
}

/// An encoded chunk, and memory to decode it into.
#[derive(Debug)]
pub struct Target<'a> {
    /// Index of the chunk in its frame.
    pub chunk: usize,
    /// The encoded chunk (untrusted bytes).
    pub body: Body<'a>,
    /// Memory for exactly the chunk's values, aligned for their type.
    pub out: &'a mut [u8],
}

/// Bytes reserved in front of every body, for the header that the container writes there, while the number of the
/// frame is not known.
pub(crate) const RESERVED_HEADER_BYTES: usize = 32;

/// Length of the header of a chunk: marker and kind, two numbers, length, checksum.
pub(crate) fn chunk_header_len(frame: u32, chunk: usize) -> usize {
    4 + varint::length(frame.into()) + varint::length(chunk as u64) + 4 + 8
}

/// The bodies of consecutive chunks of a frame.
#[derive(Debug, Default)]
pub struct EncodedChunks {
    /// Index of the first chunk.
    first: usize,
    /// Bodies with reserved bytes in front of each; after [`Self::put_headers`], headers and bodies
    /// without gaps.
    bytes: Vec<u8>,
    /// While `bytes` is the caller's memory.
    in_place: Option<InPlace>,
    /// Bytes in front of these chunks, which are in the caller's memory.
    kept: usize,
    /// Offset of the first header.
    start: usize,
    chunks: Vec<Piece>,
    /// Fill values that chunks detected themselves.
    found: FoundFill,
}

/// State of chunks that are appended to the caller's memory.
#[derive(Debug)]
struct InPlace {
    /// The buffer that the memory replaces.
    own: Vec<u8>,
    /// Number of the frame.
    frame: u32,
    /// Offset of its first chunk.
    start: usize,
}

/// Location of a body in the buffer.
#[derive(Debug, Clone, Copy)]
struct Piece {
    form: Form,
    start: usize,
    length: usize,
}

impl EncodedChunks {
    /// Removes all chunks but keeps the memory; the next body is that of chunk `first`.
    pub(crate) fn restart(&mut self, first: usize) {
        self.first = first;
        self.start = self.kept;
        self.bytes.truncate(self.kept);
        self.chunks.clear();
        self.found = FoundFill::default();
    }

    /// Appends chunks of this frame to the caller's memory from now on.
    pub(crate) fn write_to(&mut self, memory: Vec<u8>, frame: u32) {
        self.kept = memory.len();
        self.in_place = Some(InPlace {
            start: memory.len(),
            own: std::mem::replace(&mut self.bytes, memory),
            frame,
        });
    }

    /// Whether chunks are appended to the caller's memory. If so, keeps those that are there, and makes room for the
    /// rest of this many chunks of `raw_bytes` each.
    pub(crate) fn keep_in_place(&mut self, chunks: usize, raw_bytes: usize) -> bool {
        let Some(InPlace { start, .. }) = self.in_place else {
            return false;
        };
        self.kept = self.bytes.len();
        let done = self.first + self.chunks.len();
        let rest = (self.kept - start) / done.max(1) * chunks.saturating_sub(done);
        if rest > self.bytes.capacity() - self.kept {
            // A little more than those so far took, and what an encoder may want for the last one. Without it,
            // memory grows step by step, so a failure does not matter.
            let _ = self.bytes.try_reserve_exact(rest + rest / 16 + raw_bytes);
        }
        huge_pages::advise(self.bytes.spare_capacity_mut());
        true
    }

    /// Returns the caller's memory, if chunks were appended to it.
    pub(crate) fn take_memory(&mut self) -> Option<Vec<u8>> {
        let InPlace { own, .. } = self.in_place.take()?;
        let memory = std::mem::replace(&mut self.bytes, own);
        self.kept = 0;
        self.restart(0);
        Some(memory)
    }

    /// Adds the body of the next chunk.
    pub fn push(&mut self, body: Body<'_>) {
        self.push_found(body, FoundFill::default());
    }

    /// Adds the body of the next chunk, in which these fill values were detected.
    pub fn push_found(&mut self, body: Body<'_>, found: FoundFill) {
        // Copying cannot fail.
        let _ = self.push_with(|out| {
            out.extend_from_slice(body.bytes);
            Ok((body.form, found))
        });
    }

    /// Adds the body of the next chunk, which `encode` appends.
    pub(crate) fn push_with(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(Form, FoundFill)>,
    ) -> Result<()> {
        let reserved = match self.in_place {
            Some(InPlace { frame, .. }) => chunk_header_len(frame, self.first + self.chunks.len()),
            None => RESERVED_HEADER_BYTES,
        };
        let start = self.bytes.len() + reserved;
        self.bytes.resize(start, 0);
        let (form, found) = encode(&mut self.bytes)?;
        self.found.join(&found);
        let length = self.bytes.len() - start;
        self.chunks.push(Piece {
            form,
            start,
            length,
        });
        Ok(())
    }

    /// Index of the first chunk.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// The detected fill values.
    pub(crate) fn found(&self) -> FoundFill {
        self.found
    }

    /// Whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The bodies, in chunk order.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = Body<'_>> {
        self.chunks.iter().map(|piece| Body {
            form: piece.form,
            bytes: &self.bytes[piece.start..piece.start + piece.length],
        })
    }

    /// Writes a header in front of every body and closes the gaps. `header` makes the header of a
    /// chunk, at most [`RESERVED_HEADER_BYTES`] long, from its index and its body.
    pub(crate) fn put_headers<H: AsRef<[u8]>>(&mut self, header: impl Fn(usize, Body<'_>) -> H) {
        let mut at = None;
        for (piece, number) in self.chunks.iter_mut().zip(self.first..) {
            let old = piece.start..piece.start + piece.length;
            let body = Body {
                form: piece.form,
                bytes: &self.bytes[old.clone()],
            };
            let header = header(number, body);
            let header = header.as_ref();
            let start = *at.get_or_insert_with(|| {
                self.start = old.start - header.len();
                self.start
            });
            // The first body stays in place; later ones move down by the unused reserve.
            piece.start = start + header.len();
            if piece.start != old.start {
                self.bytes.copy_within(old, piece.start);
            }
            self.bytes[start..piece.start].copy_from_slice(header);
            at = Some(piece.start + piece.length);
        }
        self.bytes.truncate(at.unwrap_or(0));
    }

    /// Headers and bodies; call [`Self::put_headers`] first.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// An error unless there is one body per chunk, which a faulty engine could violate.
    pub(crate) fn check(&self, chunks: usize) -> Result<()> {
        if self.chunks.len() == chunks {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the engine returned {} bodies for {chunks} chunks",
            self.chunks.len()
        )))
    }
}
