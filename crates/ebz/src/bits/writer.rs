//! Bit writer.

/// Appends bits to an internal buffer.
///
/// Every call stores a whole word: a branch on the number of pending bits would be unpredictable.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    /// Valid up to `end`; anything beyond is overwritten.
    bytes: Vec<u8>,
    /// Whole bytes written.
    end: usize,
    /// Up to seven bits that do not fill a byte yet, and their number.
    pending: u64,
    used: u32,
}

/// Minimum growth of the buffer in bytes; small, because headers are short.
const MIN_GROWTH_BYTES: usize = 64;

impl BitWriter {
    /// Discards all bits, keeping the memory.
    pub fn clear(&mut self) {
        (self.end, self.pending, self.used) = (0, 0, 0);
    }

    /// Number of whole bytes so far.
    #[inline(always)]
    pub fn whole_bytes(&self) -> usize {
        self.end
    }

    /// Appends the low `count` bits of `value`; the bits above must be 0.
    #[inline(always)]
    pub fn put(&mut self, value: u32, count: u32) {
        self.pending |= u64::from(value) << self.used;
        self.used += count;
        self.store(self.pending.to_le_bytes());
        self.end += self.used as usize / 8;
        self.pending >>= self.used & !7;
        self.used &= 7;
    }

    /// Appends the low `count` ≤ 64 bits of `value`; the bits above must be 0.
    #[inline(always)]
    pub fn put_wide(&mut self, value: u64, count: u32) {
        let low = self.pending | value << self.used;
        let high = (value >> 1) >> (63 - self.used);
        self.store((u128::from(high) << 64 | u128::from(low)).to_le_bytes());
        let total = self.used + count;
        let word = if total >= 64 { high } else { low };
        self.end += total as usize / 8;
        self.pending = word >> (total & !7 & 63);
        self.used = total & 7;
    }

    /// Appends `prefix` of `length` ≤ 7 bits, then `value` as [`BitWriter::put_wide`] does.
    #[inline(always)]
    pub fn put_with_prefix(&mut self, prefix: u64, length: u32, value: u64, count: u32) {
        self.pending |= prefix << self.used;
        self.used += length;
        self.put_wide(value, count);
    }

    /// Appends a positive integer in Elias gamma code.
    pub fn put_gamma(&mut self, value: u32) {
        let length = value.ilog2();
        self.put(1 << length, length + 1);
        self.put(value & !(1 << length), length);
    }

    /// Stores bytes at the end without advancing.
    #[inline(always)]
    fn store<const N: usize>(&mut self, word: [u8; N]) {
        if let Some(to) = self.bytes.get_mut(self.end..self.end + N) {
            to.copy_from_slice(&word);
        } else {
            self.grow();
            self.bytes[self.end..self.end + N].copy_from_slice(&word);
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.bytes.resize(2 * self.end + MIN_GROWTH_BYTES, 0);
    }

    /// The bytes so far, the last one padded with zeros.
    pub fn finish(&mut self) -> &[u8] {
        self.end += usize::from(self.used > 0);
        (self.pending, self.used) = (0, 0);
        &self.bytes[..self.end]
    }
}
