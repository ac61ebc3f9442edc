//! Little-endian fields of headers, with every length checked.

use crate::error::{Error, Result};

/// Reads fields front to back.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((head, tail)) = self.bytes.split_at_checked(length) else {
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

    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
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

    /// A size that this machine can address.
    pub fn size(&mut self) -> Result<usize> {
        usize::try_from(self.u64()?)
            .map_err(|_| Error::corrupt(format!("{} has an impossible size", self.what)))
    }

    /// Bytes behind their 32-bit number.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Text behind its 32-bit length.
    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|_| Error::corrupt(format!("{} holds text that is not UTF-8", self.what)))
    }

    /// Everything must have been read.
    pub fn finish(self) -> Result<()> {
        match self.bytes {
            [] => Ok(()),
            _ => Err(Error::corrupt(format!("{} is too long", self.what))),
        }
    }
}

/// Appends text behind its 32-bit length.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}
