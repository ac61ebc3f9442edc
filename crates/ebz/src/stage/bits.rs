//! Single bits in bytes, least significant first: for headers, not for bulk data.

use crate::error::{Error, Result};

/// Appends bits to bytes.
pub struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// Writes behind what `out` holds.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            held: 0,
            count: 0,
        }
    }

    /// Appends the lowest bits of a word: (word, number of bits up to 32); higher bits must be 0.
    pub fn put(&mut self, (word, bits): (u64, u32)) {
        self.held |= word << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Fills the last byte with zeros.
    pub fn finish(self) {
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
    }
}

/// Takes bits from bytes.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    held: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    /// Reads from the front of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            held: 0,
            count: 0,
        }
    }

    /// The next `bits` bits, up to 32.
    pub fn take(&mut self, bits: u32) -> Result<u64> {
        while self.count < bits {
            let (&byte, rest) = self
                .bytes
                .split_first()
                .ok_or_else(|| Error::truncated("bits are missing"))?;
            self.bytes = rest;
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
        }
        let word = self.held & ((1 << bits) - 1);
        self.held >>= bits;
        self.count -= bits;
        Ok(word)
    }

    /// The bytes behind the one that the last bit came from.
    pub fn finish(self) -> &'a [u8] {
        self.bytes
    }
}
