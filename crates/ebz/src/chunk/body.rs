//! Chunks as they are handed over: values, and the bodies that they are encoded to.

use crate::array::FoundFill;
use crate::error::{Error, Result};

/// How a body holds the values of its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As the frame's codec wrote them.
    Coded,
    /// As they are, little-endian.
    Raw,
    /// As the one value that all of them are.
    Constant,
}

/// An encoded chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Body<'a> {
    /// How it holds the values.
    pub form: Form,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The values of a chunk in C order, to be encoded.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// Number of the chunk in its frame.
    pub chunk: usize,
    /// The values as memory holds them, aligned for their type.
    pub bytes: &'a [u8],
}

/// An encoded chunk, and memory for its values.
#[derive(Debug)]
pub struct Target<'a> {
    /// Number of the chunk in its frame.
    pub chunk: usize,
    /// The encoded chunk; its bytes are not trusted.
    pub body: Body<'a>,
    /// Memory for exactly the chunk's values, aligned for their type.
    pub out: &'a mut [u8],
}

/// Free bytes in front of every body, for the header that a container puts there.
pub(crate) const HEADER_ROOM: usize = 32;

/// The bodies of consecutive chunks of a frame.
#[derive(Debug, Default)]
pub struct EncodedChunks {
    /// Number of the first chunk.
    first: usize,
    /// Bodies with room in front of each; after [`Self::put_headers`] headers and bodies without gaps.
    bytes: Vec<u8>,
    /// Where the first header starts.
    start: usize,
    chunks: Vec<Piece>,
    /// What chunks that look for it themselves found to mark missing data.
    found: FoundFill,
}

/// Where a body lies.
#[derive(Debug, Clone, Copy)]
struct Piece {
    form: Form,
    start: usize,
    length: usize,
}

impl EncodedChunks {
    /// Forgets everything but keeps the memory; the next body is that of chunk `first`.
    pub(crate) fn restart(&mut self, first: usize) {
        self.first = first;
        self.start = 0;
        self.bytes.clear();
        self.chunks.clear();
        self.found = FoundFill::default();
    }

    /// Adds the body of the next chunk.
    pub fn push(&mut self, body: Body<'_>) {
        self.push_found(body, FoundFill::default());
    }

    /// Adds the body of the next chunk, in which this was found to mark missing data.
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
        let start = self.bytes.len() + HEADER_ROOM;
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

    /// Number of the first chunk.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// What was found to mark missing data.
    pub(crate) fn found(&self) -> FoundFill {
        self.found
    }

    /// No chunks at all.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The bodies, in the order of the chunks.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = Body<'_>> {
        self.chunks.iter().map(|piece| Body {
            form: piece.form,
            bytes: &self.bytes[piece.start..piece.start + piece.length],
        })
    }

    /// Puts a header in front of every body and closes the gaps. `header` makes that of a chunk, of at
    /// most [`HEADER_ROOM`] bytes, from its number and its body.
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
            // The first body stays where it is; later ones move by what headers leave free.
            piece.start = start + header.len();
            if piece.start != old.start {
                self.bytes.copy_within(old, piece.start);
            }
            self.bytes[start..piece.start].copy_from_slice(header);
            at = Some(piece.start + piece.length);
        }
        self.bytes.truncate(at.unwrap_or(0));
    }

    /// Headers and bodies, once [`Self::put_headers`] has been called.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// A run without one body per chunk comes from a faulty engine.
    pub(crate) fn check(&self, chunks: usize) -> Result<()> {
        if self.chunks.len() == chunks {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the engine made {} bodies of {chunks} chunks",
            self.chunks.len()
        )))
    }
}
