//! Records: a short header and a body, protected by one checksum.

use super::bytes::Fields;
use crate::bits::varint;
use crate::chunk::{Body, Form, HEADER_ROOM};
use crate::error::{Error, Result};
use std::hash::Hasher;
use twox_hash::xxhash3_64::{self, RawHasher, SecretBuffer};

/// First bytes of every record, by which recovery finds the next one behind damage. The kind follows.
pub(super) const MARKER: [u8; 3] = *b"EBZ";

/// Fewest bytes of a header.
pub(super) const MIN_HEADER: usize = 10;

/// Most bytes of a header: marker, kind, two numbers, length, checksum.
pub(super) const MAX_HEADER: usize = 4 + 5 + 5 + 4 + 8;

// Bodies have room for a header in front of them.
const _: () = assert!(MAX_HEADER <= HEADER_ROOM);

/// What the body of a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Describes a frame.
    Frame = 1,
    /// A chunk as its codec wrote it.
    Coded = 2,
    /// A chunk of raw values.
    Raw = 3,
    /// The end of a frame: the lengths of its chunks.
    End = 4,
    /// The end of the file: where its frames are.
    Index = 5,
    /// A chunk whose values are all the same: that value.
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
            .ok_or_else(|| Error::corrupt(format!("unknown kind of record {id}")))
    }

    /// How the body holds the values of a chunk, if it is one.
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

/// Header of a record, without its marker and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub kind: Kind,
    /// Number of the frame in the file; of an index, how many there are.
    pub frame: u32,
    /// Number of the chunk in the frame; 0 for other kinds.
    pub number: u32,
    /// Bytes of the body.
    pub length: u64,
}

/// The bytes of a header.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderBytes {
    bytes: [u8; MAX_HEADER],
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

/// A record header as read, with the checksum still to be compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unverified {
    pub record: Record,
    /// Bytes of the header.
    pub header: usize,
    checksum: u64,
}

impl Record {
    /// The record of a chunk's body.
    pub fn of_chunk(frame: u32, number: usize, form: Form, length: u64) -> Self {
        Self {
            kind: form.into(),
            frame,
            number: number as u32,
            length,
        }
    }

    /// The record of something else.
    pub fn other(kind: Kind, frame: u32, length: u64) -> Self {
        Self {
            kind,
            frame,
            number: 0,
            length,
        }
    }

    /// Bytes of the header.
    pub fn header_len(&self) -> usize {
        let frame = varint::length(self.frame.into());
        match self.kind.form() {
            Some(_) => MARKER.len() + 1 + frame + varint::length(self.number.into()) + 4 + 8,
            None => MARKER.len() + 1 + frame + varint::length(self.length) + 4,
        }
    }

    /// The header up to its checksum.
    fn head(&self) -> HeaderBytes {
        let mut head = HeaderBytes {
            bytes: [0; MAX_HEADER],
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

    /// XXH3 over head and body; half of it for records that are not chunks.
    fn checksum(&self, head: &HeaderBytes, body: &[u8]) -> u64 {
        // The same hash at once, where setting up the hasher would take longer than hashing.
        const MAX_ONE_SHOT: usize = 240;
        let head = head.as_ref();
        let total = head.len() + body.len();
        let sum = if total <= MAX_ONE_SHOT {
            let mut both = [0; MAX_ONE_SHOT];
            both[..head.len()].copy_from_slice(head);
            both[head.len()..total].copy_from_slice(body);
            xxhash3_64::Hasher::oneshot(&both[..total])
        } else {
            let mut hasher = RawHasher::new(SecretBuffer::default());
            hasher.write(head);
            hasher.write(body);
            hasher.finish()
        };
        match self.kind.form() {
            Some(_) => sum,
            None => sum & u64::from(u32::MAX),
        }
    }

    /// The header of this record with this body.
    pub fn header(&self, body: &[u8]) -> HeaderBytes {
        let mut header = self.head();
        let sum = self.checksum(&header, body).to_le_bytes();
        match self.kind.form() {
            Some(_) => header.put(&sum),
            None => header.put(&sum[..4]),
        }
        header
    }

    /// The body of the chunk that should be here.
    pub fn chunk<'a>(&self, frame: u32, number: usize, bytes: &'a [u8]) -> Result<Body<'a>> {
        let here = self.frame == frame && self.number as usize == number;
        let form = self.kind.form().filter(|_| here);
        let form = form.ok_or_else(|| {
            Error::corrupt(format!(
                "another record where chunk {number} of frame {frame} should be"
            ))
        })?;
        Ok(Body { form, bytes })
    }

    /// The fewest bytes of a header that starts like this.
    pub fn least_header(bytes: &[u8]) -> usize {
        let kind = bytes.get(MARKER.len()).map(|&id| Kind::from_id(id));
        match kind {
            Some(Ok(kind)) if kind.form().is_some() => MIN_HEADER + 8,
            _ => MIN_HEADER,
        }
    }

    /// Reads a header from the front of `bytes`; the body comes next. `None` if more bytes are needed:
    /// at most [`MAX_HEADER`].
    pub fn read(bytes: &[u8]) -> Result<Option<Unverified>> {
        let known = bytes.len().min(MARKER.len());
        if bytes[..known] != MARKER[..known] {
            return Err(Error::corrupt("no record where one should be"));
        }
        if bytes.len() < MIN_HEADER {
            return Ok(None);
        }
        let mut fields = Fields::new(&bytes[MARKER.len()..], "record header");
        let kind = Kind::from_id(fields.u8()?)?;
        let short = bytes.len() < MAX_HEADER;
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
    /// Compares the checksum.
    pub fn verify(self, body: &[u8]) -> Result<Record> {
        if self.record.checksum(&self.record.head(), body) == self.checksum {
            return Ok(self.record);
        }
        Err(Error::corrupt(match self.record.kind {
            Kind::Coded | Kind::Raw | Kind::Constant => format!(
                "checksum of chunk {} of frame {} does not match",
                self.record.number, self.record.frame
            ),
            Kind::Frame => format!("checksum of the header of frame {}", self.record.frame),
            Kind::End => format!("checksum of the index of frame {}", self.record.frame),
            Kind::Index => "checksum of the file index does not match".into(),
        }))
    }
}
