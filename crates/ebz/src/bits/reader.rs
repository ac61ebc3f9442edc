//! Bit reader.

use super::low_mask;
use crate::error::{Error, Result};

/// Bytes of a flit: what a hardware core outputs in one cycle.
const FLIT_BYTES: usize = 16;

/// Reads the output of [`BitWriter`](super::BitWriter). Reads beyond the end return zeros, so that
/// inner loops need no checks; [`BitReader::finish`] and [`BitReader::rest`] report them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits consumed.
    position: usize,
}

impl<'a> BitReader<'a> {
    /// Starts at the first bit.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// The next 64 bits, and at least 57 of the following ones.
    #[inline(always)]
    pub fn peek(&self) -> (u64, u64) {
        let words = u128::from_le_bytes(self.next_bytes());
        let shift = (self.position & 7) as u32;
        ((words >> shift) as u64, (words >> 64) as u64 >> shift)
    }

    /// Skips bits.
    #[inline(always)]
    pub fn skip(&mut self, count: usize) {
        self.position += count;
    }

    /// The next `count` ≤ 32 bits.
    #[inline(always)]
    pub fn get(&mut self, count: u32) -> u32 {
        let word = u64::from_le_bytes(self.next_bytes());
        let value = word >> (self.position & 7) & ((1 << count) - 1);
        self.position += count as usize;
        value as u32
    }

    /// The next `count` ≤ 64 bits.
    #[inline(always)]
    pub fn get_wide(&mut self, count: u32) -> u64 {
        let (next, _) = self.peek();
        self.position += count as usize;
        next & low_mask(count)
    }

    /// The next number in Elias gamma code; an error at the end of the stream.
    pub fn get_gamma(&mut self) -> Result<u32> {
        let zeros = self.get(32).trailing_zeros();
        if zeros > 31 {
            return Err(Error::truncated("a bit stream ends within a number"));
        }
        self.position -= 31 - zeros as usize;
        Ok(self.get(zeros) | 1 << zeros)
    }

    /// Bytes starting with the one that contains the next bit.
    #[inline(always)]
    fn next_bytes<const N: usize>(&self) -> [u8; N] {
        let rest = self.bytes.get(self.position >> 3..).unwrap_or_default();
        match rest.first_chunk() {
            Some(bytes) => *bytes,
            None => padded(rest),
        }
    }

    /// The bytes after the last bit read; an error if the reader went past the end.
    pub fn rest(&self) -> Result<&'a [u8]> {
        self.bytes
            .get(self.position.div_ceil(8)..)
            .ok_or_else(|| Error::truncated("a bit stream ends early"))
    }

    /// An error unless exactly all bytes were consumed.
    pub fn finish(&self) -> Result<()> {
        if self.rest()?.is_empty() {
            Ok(())
        } else {
            Err(Error::corrupt("a bit stream has trailing bytes"))
        }
    }

    /// As [`Self::finish`], but zeros may follow that fill up a flit of a hardware core.
    pub fn finish_flit(&self) -> Result<()> {
        match fills_flit(self.rest()?) {
            true => Ok(()),
            false => self.finish(),
        }
    }
}

/// Whether these bytes after a stream only fill up the last flit of a hardware core, which does not tell how many
/// bytes of it are in use.
pub(crate) fn fills_flit(rest: &[u8]) -> bool {
    rest.len() < FLIT_BYTES && rest.iter().all(|&byte| byte == 0)
}

/// The last bytes, padded with zeros.
#[cold]
fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}
