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

/// Appends the lowest `width` bits of each word, up to 63, one behind the other.
pub fn pack(words: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let mask = (1 << width) - 1;
    let (mut held, mut count) = (0u128, 0);
    for word in words {
        held |= u128::from(word & mask) << count;
        count += width;
        if count >= 64 {
            out.extend_from_slice(&(held as u64).to_le_bytes());
            held >>= 64;
            count -= 64;
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..count.div_ceil(8) as usize]);
}

/// Takes `count` words of up to 63 bits, as [`pack`] wrote them, from the front of `bytes`.
pub fn take_packed<'a>(bytes: &mut &'a [u8], count: usize, width: u32) -> Result<&'a [u8]> {
    let bits = count.checked_mul(width as usize);
    bits.and_then(|bits| bytes.split_off(..bits.div_ceil(8)))
        .ok_or_else(|| Error::truncated("packed bits are cut off"))
}

/// The words that [`pack`] wrote, and zeros behind them.
pub fn unpack(packed: &[u8], width: u32) -> impl Iterator<Item = u64> {
    let mask = (1 << width) - 1;
    let (mut held, mut count) = (0u128, 0);
    let mut rest = packed;
    std::iter::repeat_with(move || {
        if count < width {
            let (head, tail) = rest.split_at(rest.len().min(8));
            let mut word = [0; 8];
            word[..head.len()].copy_from_slice(head);
            held |= u128::from(u64::from_le_bytes(word)) << count;
            count += 64;
            rest = tail;
        }
        let word = held as u64 & mask;
        held >>= width;
        count -= width;
        word
    })
}
