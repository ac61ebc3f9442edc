//! Decoder state of a bit stream.

use super::table::{ENTRIES, MAX_ENTRY_SYMBOLS, bits_of, count_of, symbols_of};
use super::{MAX_LENGTH, Table};
use crate::error::{Error, Result};

/// A bit stream being decoded.
#[derive(Default)]
pub(super) struct Stream<'a> {
    pub(super) source: &'a [u8],
    /// Next bit of `source`.
    pub(super) bit: usize,
    pub(super) out: &'a mut [u8],
    /// Symbols written.
    pub(super) done: usize,
}

/// Lookups per read of a stream: eight bytes give at least 56 bits beside the sentinel.
pub(super) const LOOKUPS: usize = 4;

/// Number of rounds of [`LOOKUPS`] that stay within bounds in every stream.
pub(super) fn safe_rounds(streams: &[Stream<'_>]) -> usize {
    streams.iter().map(Stream::safe_rounds).min().unwrap_or(0)
}

impl Stream<'_> {
    /// Number of rounds of [`LOOKUPS`] that stay within bounds.
    pub(super) fn safe_rounds(&self) -> usize {
        let bits_left = (self.source.len() * 8).saturating_sub(self.bit);
        let reads = bits_left.saturating_sub(64) / (LOOKUPS * MAX_LENGTH as usize);
        let room = self.out.len() - self.done;
        let writes = room.saturating_sub(8) / (LOOKUPS * MAX_ENTRY_SYMBOLS);
        reads.min(writes)
    }

    /// The next bits of the source: at least 57.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        let at = self.bit >> 3;
        let mut word = [0; 8];
        word.copy_from_slice(&self.source[at..at + 8]);
        u64::from_le_bytes(word) >> (self.bit & 7)
    }

    /// Decodes the rest one lookup at a time; an error if the source is too short.
    pub(super) fn finish(mut self, table: &Table) -> Result<()> {
        let entries = table.entries();
        while self.done < self.out.len() {
            let left = self.source.get(self.bit >> 3..).unwrap_or_default();
            let mut word = [0; 8];
            let have = left.len().min(8);
            word[..have].copy_from_slice(&left[..have]);
            let held = u64::from_le_bytes(word) >> (self.bit & 7);
            let entry = entries[held as usize % ENTRIES];
            let room = self.out.len() - self.done;
            let count = count_of(entry);
            if count <= room {
                self.bit += bits_of(entry) as usize;
            }
            let count = count.min(room);
            self.out[self.done..self.done + count].copy_from_slice(&symbols_of(entry)[..count]);
            self.done += count;
            if self.bit > self.source.len() * 8 {
                return Err(Error::truncated("a Huffman stream is cut off"));
            }
        }
        Ok(())
    }
}
