//! Parsing of header fields, little-endian and bounds-checked.

use crate::bits::varint;
use crate::error::{Error, Result};

/// Reads fields front to back.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    what: &'static str,
    short: bool,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        let short = false;
        Self { bytes, what, short }
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((head, tail)) = self.bytes.split_at_checked(length) else {
            self.short = true;
            return Err(Error::corrupt(format!("{} is too short", self.what)));
        };
        self.bytes = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// A variable-length integer.
    pub fn number(&mut self) -> Result<u64> {
        let before = self.bytes.len();
        match varint::read(&mut self.bytes) {
            // Reject encodings that are not the shortest.
            Ok(number) if before - self.bytes.len() == varint::length(number) => Ok(number),
            Err(Error::Truncated(_)) => {
                self.short = true;
                Err(Error::corrupt(format!("{} is too short", self.what)))
            }
            _ => Err(Error::corrupt(format!(
                "{} has an invalid number",
                self.what
            ))),
        }
    }

    /// A variable-length integer below 2³².
    pub fn number32(&mut self) -> Result<u32> {
        let number = self.number()?;
        u32::try_from(number)
            .map_err(|_| Error::corrupt(format!("{} has an invalid number", self.what)))
    }

    /// A length that this machine can address.
    pub fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?)
            .map_err(|_| Error::corrupt(format!("{} has an invalid length", self.what)))
    }

    /// Text, preceded by its length.
    pub fn text(&mut self) -> Result<&'a str> {
        let length = self.size()?;
        std::str::from_utf8(self.take(length)?)
            .map_err(|_| Error::corrupt(format!("{} has text that is not UTF-8", self.what)))
    }

    /// Whether a field was cut off.
    pub fn is_short(&self) -> bool {
        self.short
    }

    /// An error unless all bytes were read.
    pub fn finish(self) -> Result<()> {
        match self.bytes {
            [] => Ok(()),
            _ => Err(Error::corrupt(format!("{} is too long", self.what))),
        }
    }
}
