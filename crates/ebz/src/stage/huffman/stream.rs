//! A bit stream while it is decoded.

use super::table::{ENTRIES, PER_ENTRY, bits_of, count_of, symbols_of};
use super::{MAX_LENGTH, Table};
use crate::error::{Error, Result};

/// A bit stream on its way to symbols.
#[derive(Default)]
pub(super) struct Stream<'a> {
    pub(super) source: &'a [u8],
    /// Next bit of `source`.
    pub(super) bit: usize,
    pub(super) out: &'a mut [u8],
    /// Symbols written.
    pub(super) done: usize,
}

/// Lookups between two reads of a stream: eight bytes give at least 56 bits beside a mark.
pub(super) const LOOKUPS: usize = 4;

/// Rounds of [`LOOKUPS`] that read and write within bounds in every stream.
pub(super) fn safe_rounds(streams: &[Stream<'_>]) -> usize {
    streams.iter().map(Stream::safe_rounds).min().unwrap_or(0)
}

impl Stream<'_> {
    /// Rounds of [`LOOKUPS`] that read and write within bounds.
    pub(super) fn safe_rounds(&self) -> usize {
        let bits_left = (self.source.len() * 8).saturating_sub(self.bit);
        let reads = bits_left.saturating_sub(64) / (LOOKUPS * MAX_LENGTH as usize);
        let room = self.out.len() - self.done;
        let writes = room.saturating_sub(8) / (LOOKUPS * PER_ENTRY);
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

    /// Decodes what is left one lookup at a time, and checks that the source had all its bits.
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
                return Err(Error::truncated("a Huffman stream ends too early"));
            }
        }
        Ok(())
    }
}
