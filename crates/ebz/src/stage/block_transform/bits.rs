//! Bit streams, least significant bit first.

/// Appends bits to bytes.
#[derive(Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Whole bytes written.
    at: usize,
    /// Bits that do not fill a byte yet, and how many.
    rest: u64,
    filled: u32,
}

impl BitWriter {
    /// Starts anew with the same memory.
    pub fn clear(&mut self) {
        (self.at, self.rest, self.filled) = (0, 0, 0);
    }

    /// Whole bytes so far.
    #[inline(always)]
    pub fn whole_bytes(&self) -> usize {
        self.at
    }

    /// Makes room for so many further bits.
    pub fn reserve(&mut self, bits: usize) {
        let needed = self.at + bits / 8 + 24;
        if self.bytes.len() < needed {
            self.bytes.resize(2 * needed, 0);
        }
    }

    /// Appends the low `count` ≤ 64 bits of `value`, whose other bits are 0, after `reserve`.
    #[inline(always)]
    pub fn put(&mut self, value: u64, count: u32) {
        let low = self.rest | value << self.filled;
        let high = (value >> 1) >> (63 - self.filled);
        if let Some(to) = self.bytes.get_mut(self.at..self.at + 16) {
            to[..8].copy_from_slice(&low.to_le_bytes());
            to[8..].copy_from_slice(&high.to_le_bytes());
        }
        let total = self.filled + count;
        let whole = total & !7;
        self.at += (total >> 3) as usize;
        self.rest = if total >= 64 {
            high >> (whole & 63)
        } else {
            low >> (whole & 63)
        };
        self.filled = total & 7;
    }

    /// Appends `prefix` of at most 7 bits, then `value` as [`BitWriter::put`] does.
    #[inline(always)]
    pub fn put_with_prefix(&mut self, prefix: u64, length: u32, value: u64, count: u32) {
        self.rest |= prefix << self.filled;
        self.filled += length;
        self.put(value, count);
    }

    /// The stream, padded with zero bits to a whole byte.
    pub fn finish(&mut self) -> &[u8] {
        self.reserve(0);
        self.bytes[self.at] = self.rest as u8;
        &self.bytes[..self.at + usize::from(self.filled > 0)]
    }
}

/// Takes bits from bytes; beyond the end there are zeros, and [`BitReader::overrun`] says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// At the first bit.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next 64 bits, and at least 57 of those that follow them.
    #[inline(always)]
    pub fn peek(&self) -> (u64, u64) {
        let byte = self.at >> 3;
        let shift = (self.at & 7) as u32;
        let (low, high) = match self.bytes.get(byte..byte + 16) {
            Some(b) => (word(b), word(&b[8..])),
            None => self.near_end(byte),
        };
        (low >> shift | (high << 1) << (63 - shift), high >> shift)
    }

    #[cold]
    fn near_end(&self, byte: usize) -> (u64, u64) {
        let mut padded = [0; 16];
        let rest = self.bytes.get(byte..).unwrap_or_default();
        let there = rest.len().min(16);
        padded[..there].copy_from_slice(&rest[..there]);
        (word(&padded), word(&padded[8..]))
    }

    /// Skips bits.
    #[inline(always)]
    pub fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// The next `count` ≤ 64 bits.
    #[inline(always)]
    pub fn take(&mut self, count: u32) -> u64 {
        let (next, _) = self.peek();
        self.skip(count as usize);
        next & low_mask(count)
    }

    /// Whether more bits were taken than there are.
    pub fn overrun(&self) -> bool {
        self.at > 8 * self.bytes.len()
    }

    /// Whether nothing but the padding of the last byte is left.
    pub fn at_end(&self) -> bool {
        self.at.div_ceil(8) == self.bytes.len()
    }
}

/// The lowest `count` ≤ 64 bits set.
#[inline(always)]
pub const fn low_mask(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let words: Vec<(u64, u32)> = (0..400u64)
            .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15), (i * 7 % 65) as u32))
            .collect();
        let mut writer = BitWriter::default();
        for &(value, count) in &words {
            writer.reserve(71);
            writer.put_with_prefix(0b101, 3, value & low_mask(count), count);
        }
        let bytes = writer.finish().to_vec();
        let mut reader = BitReader::new(&bytes);
        for &(value, count) in &words {
            assert_eq!(reader.take(3), 0b101);
            assert_eq!(reader.take(count), value & low_mask(count));
        }
        assert!(reader.at_end() && !reader.overrun());
        assert_eq!(reader.take(64), 0);
        assert!(reader.overrun());
    }
}
