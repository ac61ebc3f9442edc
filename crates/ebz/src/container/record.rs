//! Records: a short header and a body, protected by one checksum.

use super::bytes::Fields;
use crate::bits::varint;
use crate::checksum;
use crate::chunk::{Body, Form, RESERVED_HEADER_BYTES, chunk_header_len};
use crate::error::{Error, Result};
use crate::simd::Avx2;

/// First bytes of every record, before its kind; recovery searches for them after damage.
pub(super) const MARKER: [u8; 3] = *b"EBZ";

/// Minimum length of a header.
pub(super) const MIN_HEADER_BYTES: usize = 10;

/// Maximum length of a header: marker and kind, two numbers, length, checksum.
pub(super) const MAX_HEADER_BYTES: usize = 4 + 5 + 5 + 4 + 8;

// The reserved bytes in front of a body fit every header.
const _: () = assert!(MAX_HEADER_BYTES <= RESERVED_HEADER_BYTES);

/// What a record contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A frame header.
    Frame = 1,
    /// A chunk encoded by its codec.
    Coded = 2,
    /// An uncompressed chunk.
    Raw = 3,
    /// The end of a frame: its chunk lengths.
    End = 4,
    /// The end of the file: the positions of its frames.
    Index = 5,
    /// A chunk of identical values: the value, once.
    Constant = 6,
}

impl Kind {
    fn from_id(id: u8) -> Result<Self> {
        let known = [
            Self::Frame,
            Self::Coded,
            Self::Raw,
            Self::End,
            Self::Index,
            Self::Constant,
        ];
        known
            .into_iter()
            .find(|k| *k as u8 == id)
            .ok_or_else(|| Error::corrupt(format!("unknown record kind {id}")))
    }

    /// The form of a chunk record; `None` for other records.
    pub fn form(self) -> Option<Form> {
        match self {
            Self::Coded => Some(Form::Coded),
            Self::Raw => Some(Form::Raw),
            Self::Constant => Some(Form::Constant),
            Self::Frame | Self::End | Self::Index => None,
        }
    }
}

impl From<Form> for Kind {
    fn from(form: Form) -> Self {
        match form {
            Form::Coded => Self::Coded,
            Form::Raw => Self::Raw,
            Form::Constant => Self::Constant,
        }
    }
}

/// Header of a record, without marker and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub kind: Kind,
    /// Frame number; in an index record, the number of frames.
    pub frame: u32,
    /// Chunk number; 0 for other records.
    pub number: u32,
    /// Length of the body.
    pub length: u64,
}

/// A serialized header.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderBytes {
    bytes: [u8; MAX_HEADER_BYTES],
    length: usize,
}

impl AsRef<[u8]> for HeaderBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl HeaderBytes {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn put_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.put(&[number as u8 | 0x80]);
            number >>= 7;
        }
        self.put(&[number as u8]);
    }
}

/// A parsed header whose checksum is not verified yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unverified {
    pub record: Record,
    /// Length of the header.
    pub header: usize,
    checksum: u64,
}

impl Record {
    /// A chunk record.
    pub fn of_chunk(frame: u32, number: usize, form: Form, length: u64) -> Self {
        Self {
            kind: form.into(),
            frame,
            number: number as u32,
            length,
        }
    }

    /// A record that is not a chunk.
    pub fn other(kind: Kind, frame: u32, length: u64) -> Self {
        Self {
            kind,
            frame,
            number: 0,
            length,
        }
    }

    /// Length of the header.
    pub fn header_len(&self) -> usize {
        match self.kind.form() {
            Some(_) => chunk_header_len(self.frame, self.number as usize),
            None => {
                MARKER.len()
                    + 1
                    + varint::length(self.frame.into())
                    + varint::length(self.length)
                    + 4
            }
        }
    }

    /// The header without its checksum.
    fn head(&self) -> HeaderBytes {
        let mut head = HeaderBytes {
            bytes: [0; MAX_HEADER_BYTES],
            length: 0,
        };
        head.put(&MARKER);
        head.put(&[self.kind as u8]);
        head.put_number(self.frame.into());
        match self.kind.form() {
            Some(_) => {
                head.put_number(self.number.into());
                head.put(&(self.length as u32).to_le_bytes());
            }
            None => head.put_number(self.length),
        }
        head
    }

    /// XXH3 of head and body, truncated to 32 bits for records that are not chunks.
    fn checksum(&self, head: &HeaderBytes, body: &[u8]) -> u64 {
        let sum = checksum::xxh3(Avx2::new(), head.as_ref(), body);
        match self.kind.form() {
            Some(_) => sum,
            None => sum & u64::from(u32::MAX),
        }
    }

    /// The serialized header for this body.
    pub fn header(&self, body: &[u8]) -> HeaderBytes {
        let mut header = self.head();
        let sum = self.checksum(&header, body).to_le_bytes();
        match self.kind.form() {
            Some(_) => header.put(&sum),
            None => header.put(&sum[..4]),
        }
        header
    }

    /// The body of a record that must be this chunk.
    pub fn chunk<'a>(&self, frame: u32, number: usize, bytes: &'a [u8]) -> Result<Body<'a>> {
        let here = self.frame == frame && self.number as usize == number;
        let form = self.kind.form().filter(|_| here);
        let form = form.ok_or_else(|| {
            Error::corrupt(format!(
                "a record other than the expected chunk {number} of frame {frame}"
            ))
        })?;
        Ok(Body { form, bytes })
    }

    /// Minimum length of a header that starts with these bytes.
    pub fn min_header_len(bytes: &[u8]) -> usize {
        let kind = bytes.get(MARKER.len()).map(|&id| Kind::from_id(id));
        match kind {
            Some(Ok(kind)) if kind.form().is_some() => MIN_HEADER_BYTES + 8,
            _ => MIN_HEADER_BYTES,
        }
    }

    /// Parses a header at the front of `bytes`. `None` if more bytes are needed, at most
    /// [`MAX_HEADER_BYTES`].
    pub fn read(bytes: &[u8]) -> Result<Option<Unverified>> {
        let known = bytes.len().min(MARKER.len());
        if bytes[..known] != MARKER[..known] {
            return Err(Error::corrupt("a record is expected but not found"));
        }
        if bytes.len() < MIN_HEADER_BYTES {
            return Ok(None);
        }
        let mut fields = Fields::new(&bytes[MARKER.len()..], "record header");
        let kind = Kind::from_id(fields.u8()?)?;
        let short = bytes.len() < MAX_HEADER_BYTES;
        match Self::read_rest(kind, &mut fields) {
            Ok((record, checksum)) => {
                let header = record.header_len();
                Ok(Some(Unverified {
                    record,
                    header,
                    checksum,
                }))
            }
            Err(_) if short && fields.is_short() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_rest(kind: Kind, fields: &mut Fields<'_>) -> Result<(Self, u64)> {
        let frame = fields.number32()?;
        let record = match kind.form() {
            Some(_) => Self {
                kind,
                frame,
                number: fields.number32()?,
                length: fields.u32()?.into(),
            },
            None => Self::other(kind, frame, fields.number()?),
        };
        let checksum = match kind.form() {
            Some(_) => fields.u64()?,
            None => fields.u32()?.into(),
        };
        Ok((record, checksum))
    }
}

impl Unverified {
    /// Verifies the checksum.
    pub fn verify(self, body: &[u8]) -> Result<Record> {
        if self.record.checksum(&self.record.head(), body) == self.checksum {
            return Ok(self.record);
        }
        Err(Error::corrupt(match self.record.kind {
            Kind::Coded | Kind::Raw | Kind::Constant => format!(
                "checksum mismatch in chunk {} of frame {}",
                self.record.number, self.record.frame
            ),
            Kind::Frame => format!(
                "checksum mismatch in the header of frame {}",
                self.record.frame
            ),
            Kind::End => format!(
                "checksum mismatch in the index of frame {}",
                self.record.frame
            ),
            Kind::Index => "checksum mismatch in the file index".into(),
        }))
    }
}
