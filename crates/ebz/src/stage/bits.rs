//! Bit streams, least significant bit first: one writer, one reader, and words of one width in bulk.

use crate::error::{Error, Result};

/// Appends bits to a byte vector of its own.
#[derive(Default)]
pub(crate) struct BitWriter {
    /// Whole words may be written at `end`: some bytes beyond it are always there, without meaning.
    bytes: Vec<u8>,
    end: usize,
    pending: u64,
    used: u32,
}

/// The fewest bytes that a writer makes room for at a time: small, because headers are short.
const LEAST_ROOM: usize = 64;

impl BitWriter {
    /// Appends the low `count` bits of `value`; the bits above must be zero and `count` at most 32.
    ///
    /// Every call writes a whole word: a branch that depends on how many bits are pending could not
    /// be predicted.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u32, count: u32) {
        self.pending |= u64::from(value) << self.used;
        self.used += count;
        self.write();
        self.end += self.used as usize / 8;
        self.pending >>= self.used & !7;
        self.used &= 7;
    }

    /// Writes what is pending, without moving on.
    #[inline(always)]
    fn write(&mut self) {
        if let Some(word) = self.bytes.get_mut(self.end..self.end + 8) {
            word.copy_from_slice(&self.pending.to_le_bytes());
        } else {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.bytes.resize(2 * self.end + LEAST_ROOM, 0);
        self.bytes[self.end..self.end + 8].copy_from_slice(&self.pending.to_le_bytes());
    }

    /// Appends a number of at least 1 in Elias' gamma code.
    pub(crate) fn put_gamma(&mut self, value: u32) {
        let length = 31 - value.leading_zeros();
        self.put(0, length);
        self.put(1, 1);
        self.put(value & !(1 << length), length);
    }

    /// The bytes so far, the last one filled with zeros.
    pub(crate) fn finish(&mut self) -> &[u8] {
        self.end += self.used.div_ceil(8) as usize;
        self.pending = 0;
        self.used = 0;
        &self.bytes[..self.end]
    }

    /// Starts again with nothing.
    pub(crate) fn clear(&mut self) {
        self.end = 0;
        self.pending = 0;
        self.used = 0;
    }
}

/// Reads what [`BitWriter`] wrote. Reading past the end gives zeros, which
/// [`BitReader::finish`] reports.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> BitReader<'a> {
    /// Starts at the first bit.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// The next `count` bits, at most 32.
    #[inline(always)]
    pub(crate) fn get(&mut self, count: u32) -> u32 {
        let byte = self.position >> 3;
        let word = match self.bytes.get(byte..byte + 8) {
            Some(eight) => u64::from_le_bytes(eight.try_into().unwrap_or_default()),
            None => self.last_word(byte),
        };
        let value = (word >> (self.position & 7)) & ((1u64 << count) - 1);
        self.position += count as usize;
        value as u32
    }

    #[cold]
    fn last_word(&self, byte: usize) -> u64 {
        let mut eight = [0; 8];
        let rest = self.bytes.get(byte..).unwrap_or_default();
        let count = rest.len().min(8);
        eight[..count].copy_from_slice(&rest[..count]);
        u64::from_le_bytes(eight)
    }

    /// The next number in Elias' gamma code; an error at the end of the bytes.
    pub(crate) fn get_gamma(&mut self) -> Result<u32> {
        let mut length = 0;
        while self.get(1) == 0 {
            length += 1;
            if length > 31 || self.position > self.bytes.len() * 8 {
                return Err(Error::truncated("a bit stream ends within a number"));
            }
        }
        Ok(self.get(length) | 1 << length)
    }

    /// The bytes behind the one that the last bit came from; an error if there were too few.
    pub(crate) fn rest(&self) -> Result<&'a [u8]> {
        let read = self.position.div_ceil(8);
        let rest = self.bytes.get(read..);
        rest.ok_or_else(|| Error::truncated("bits are missing"))
    }

    /// An error if more or fewer bytes were read than there are.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.position.div_ceil(8) == self.bytes.len() {
            Ok(())
        } else {
            Err(Error::corrupt("a bit stream has another length than used"))
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut writer = BitWriter::default();
        for i in 0..2000u32 {
            writer.put_gamma(i * i + 1);
            writer.put(i & 7, 3);
            writer.put(u32::MAX, 32);
        }
        let bytes = writer.finish().to_vec();
        let mut reader = BitReader::new(&bytes);
        for i in 0..2000u32 {
            assert_eq!(reader.get_gamma().unwrap(), i * i + 1);
            assert_eq!(reader.get(3), i & 7);
            assert_eq!(reader.get(32), u32::MAX);
        }
        reader.finish().unwrap();
        assert!(reader.rest().unwrap().is_empty());
        reader.get(32);
        assert!(reader.finish().is_err() && reader.rest().is_err());
        assert!(reader.get_gamma().is_err());
    }
}
