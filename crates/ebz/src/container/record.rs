//! Records: a 32-byte header and a body, protected by one checksum.

use super::bytes::Fields;
use crate::chunk::{Body, Form, HEADER_ROOM};
use crate::error::{Error, Result};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Bytes of a record header.
pub(crate) const HEADER: usize = 32;

/// First bytes of every record, by which recovery finds the next one behind damage.
pub(super) const MARKER: [u8; 4] = *b"EBZr";

// Bodies have room for a header in front of them.
const _: () = assert!(HEADER <= HEADER_ROOM);

/// The header of a chunk's record.
pub(super) fn chunk_header(frame: u32, number: usize, body: Body<'_>) -> [u8; HEADER] {
    Record::header(body.form.into(), frame, number as u32, body.bytes)
}

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
    /// The end of a frame: where its chunks are.
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
    /// Number of the frame in the file.
    pub frame: u32,
    /// Number of the chunk in the frame; 0 for other kinds.
    pub number: u32,
    /// Bytes of the body.
    pub length: u64,
}

/// A record header as read, with the checksum still to be compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unverified {
    pub record: Record,
    checksum: u64,
}

impl Record {
    /// The first 24 bytes.
    fn head(&self) -> [u8; 24] {
        let mut head = [0; 24];
        head[0..4].copy_from_slice(&MARKER);
        head[4] = self.kind as u8;
        head[8..12].copy_from_slice(&self.frame.to_le_bytes());
        head[12..16].copy_from_slice(&self.number.to_le_bytes());
        head[16..24].copy_from_slice(&self.length.to_le_bytes());
        head
    }

    fn checksum(&self, body: &[u8]) -> u64 {
        // The same hash at once, where setting up the hasher would take longer than hashing.
        const SMALL: usize = 240;
        if body.len() <= SMALL - 24 {
            let mut both = [0; SMALL];
            both[..24].copy_from_slice(&self.head());
            both[24..24 + body.len()].copy_from_slice(body);
            return xxh3_64(&both[..24 + body.len()]);
        }
        let mut hasher = Xxh3Default::new();
        hasher.update(&self.head());
        hasher.update(body);
        hasher.digest()
    }

    /// The header of the record with this body.
    pub fn header(kind: Kind, frame: u32, number: u32, body: &[u8]) -> [u8; HEADER] {
        let record = Self {
            kind,
            frame,
            number,
            length: body.len() as u64,
        };
        let mut header = [0; HEADER];
        header[..24].copy_from_slice(&record.head());
        header[24..].copy_from_slice(&record.checksum(body).to_le_bytes());
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

    /// Reads a header; the body comes next.
    pub fn read(header: &[u8; HEADER]) -> Result<Unverified> {
        let mut fields = Fields::new(header, "record header");
        if fields.take(4)? != MARKER {
            return Err(Error::corrupt("no record where one should be"));
        }
        let kind = Kind::from_id(fields.u8()?)?;
        if fields.take(3)? != [0; 3] {
            return Err(Error::corrupt("record header with unknown flags"));
        }
        let record = Self {
            kind,
            frame: fields.u32()?,
            number: fields.u32()?,
            length: fields.u64()?,
        };
        let checksum = fields.u64()?;
        Ok(Unverified { record, checksum })
    }
}

impl Unverified {
    /// Compares the checksum.
    pub fn verify(self, body: &[u8]) -> Result<Record> {
        if self.record.checksum(body) == self.checksum {
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
