//! Little-endian fields of headers, with every length checked.

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

    /// A whole number in as few bytes as it needs.
    pub fn number(&mut self) -> Result<u64> {
        let before = self.bytes.len();
        match varint::read(&mut self.bytes) {
            // A number has one form only.
            Ok(number) if before - self.bytes.len() == varint::length(number) => Ok(number),
            Err(Error::Truncated(_)) => {
                self.short = true;
                Err(Error::corrupt(format!("{} is too short", self.what)))
            }
            _ => Err(Error::corrupt(format!(
                "{} has an impossible number",
                self.what
            ))),
        }
    }

    /// Such a number below 2³².
    pub fn number32(&mut self) -> Result<u32> {
        let number = self.number()?;
        u32::try_from(number)
            .map_err(|_| Error::corrupt(format!("{} has an impossible number", self.what)))
    }

    /// A size that this machine can address.
    pub fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?)
            .map_err(|_| Error::corrupt(format!("{} has an impossible size", self.what)))
    }

    /// Text behind its length.
    pub fn text(&mut self) -> Result<&'a str> {
        let length = self.size()?;
        std::str::from_utf8(self.take(length)?)
            .map_err(|_| Error::corrupt(format!("{} holds text that is not UTF-8", self.what)))
    }

    /// Whether bytes were missing.
    pub fn is_short(&self) -> bool {
        self.short
    }

    /// Everything must have been read.
    pub fn finish(self) -> Result<()> {
        match self.bytes {
            [] => Ok(()),
            _ => Err(Error::corrupt(format!("{} is too long", self.what))),
        }
    }
}
