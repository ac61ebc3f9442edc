//! Messages between ranks: a header, a checksum, and a body.
//!
//! ```text
//! 0   "EBZM"
//! 4   version (1)
//! 5   kind
//! 6   0 0
//! 8   rank whose data this is
//! 12  number of the part
//! 16  a number that depends on the kind: the bound that holds for the part
//! 24  XXH3 of bytes 0 to 24 and the body
//! 32  body
//! ```

use crate::error::Result;
use ebz::Error;
use xxhash_rust::xxh3::Xxh3Default;

const MAGIC: [u8; 4] = *b"EBZM";
const VERSION: u8 = 1;
pub(crate) const HEADER: usize = 32;
/// Offset of the checksum.
const CHECKSUM_OFFSET: usize = 24;

/// Type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Records of a slab.
    Slab = 1,
    /// Raw values.
    Raw = 3,
    /// The sender failed; the body is its error message.
    Failure = 4,
    /// Announces a transfer between two ranks.
    Opening = 5,
    /// The receiver's acknowledgement.
    Answer = 6,
}

/// A validated message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    pub kind: Kind,
    pub origin: usize,
    pub part: usize,
    pub bound: f64,
    pub body: &'a [u8],
}

/// Starts a message; the body is appended to it.
pub(crate) fn begin(kind: Kind, origin: usize, part: usize, bound: f64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, kind as u8, 0, 0]);
    out.extend_from_slice(&(origin as u32).to_le_bytes());
    out.extend_from_slice(&(part as u32).to_le_bytes());
    out.extend_from_slice(&bound.to_le_bytes());
    out.extend_from_slice(&[0; HEADER - CHECKSUM_OFFSET]);
}

/// Completes a message.
pub(crate) fn seal(message: &mut [u8]) {
    let sum = checksum(message).to_le_bytes();
    message[CHECKSUM_OFFSET..HEADER].copy_from_slice(&sum);
}

/// A complete message.
pub(crate) fn whole(kind: Kind, origin: usize, part: usize, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + body.len());
    begin(kind, origin, part, 0.0, &mut message);
    message.extend_from_slice(body);
    seal(&mut message);
    message
}

fn checksum(message: &[u8]) -> u64 {
    let mut hasher = Xxh3Default::new();
    hasher.update(&message[..CHECKSUM_OFFSET]);
    hasher.update(&message[HEADER..]);
    hasher.digest()
}

impl<'a> Message<'a> {
    /// Validates a received message.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let damaged = || Error::corrupt("a message was damaged in transit");
        if bytes.len() < HEADER || bytes[..4] != MAGIC || bytes[4] != VERSION {
            return Err(damaged().into());
        }
        let sum = &bytes[CHECKSUM_OFFSET..HEADER];
        if sum != checksum(bytes).to_le_bytes() {
            return Err(damaged().into());
        }
        let kinds = [
            Kind::Slab,
            Kind::Raw,
            Kind::Failure,
            Kind::Opening,
            Kind::Answer,
        ];
        let kind = kinds.into_iter().find(|&kind| kind as u8 == bytes[5]);
        let number = |at: usize| {
            let bytes = bytes[at..at + 4].iter().rev();
            bytes.fold(0usize, |n, &byte| n << 8 | usize::from(byte))
        };
        let mut bound = [0; 8];
        bound.copy_from_slice(&bytes[16..24]);
        let message = Self {
            kind: kind.ok_or_else(damaged)?,
            origin: number(8),
            part: number(12),
            bound: f64::from_le_bytes(bound),
            body: &bytes[HEADER..],
        };
        match message.kind {
            Kind::Failure => {
                Err(Error::invalid(String::from_utf8_lossy(message.body).into_owned()).into())
            }
            _ => Ok(message),
        }
    }

    /// The body, if this is the expected message.
    pub fn expect(&self, kind: Kind, origin: usize, part: usize) -> Result<&'a [u8]> {
        if (self.kind, self.origin, self.part) == (kind, origin, part) {
            return Ok(self.body);
        }
        Err(Error::corrupt(format!(
            "{:?} {} of rank {} instead of {kind:?} {part} of rank {origin}",
            self.kind, self.part, self.origin
        ))
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let message = whole(Kind::Slab, 3, 7, b"some body");
        let read = Message::read(&message).unwrap();
        assert_eq!(read.expect(Kind::Slab, 3, 7).unwrap(), b"some body");
        assert!(read.expect(Kind::Slab, 3, 8).is_err());
        for bit in 0..8 * message.len() {
            let mut wrong = message.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(Message::read(&wrong).is_err(), "bit {bit}");
        }
        for length in 0..message.len() {
            assert!(Message::read(&message[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn failures_carry_their_reason() {
        let message = whole(Kind::Failure, 1, 0, b"no memory");
        let error = Message::read(&message).unwrap_err().to_string();
        assert_eq!(error, "no memory");
    }
}
