//! The decoding table: the next twelve bits of a stream → the symbols they begin with.

use super::book::LENGTH_AT;
use super::{Book, MAX_LENGTH, Symbol};
use std::marker::PhantomData;

/// Entries of a table.
pub(super) const ENTRIES: usize = 1 << MAX_LENGTH;

/// What the bits of each index decode to. An entry holds up to six byte symbols or three 16-bit
/// ones from bit 0 on, the number of bits they take from bit 48 on, their number from bit 56 on.
#[derive(Debug, Clone)]
pub struct Table<S> {
    /// [`ENTRIES`] of them; none before the first book.
    entries: Vec<u64>,
    kind: PhantomData<S>,
}

/// Where an entry holds the number of bits that it takes.
pub(super) const BITS_AT: u32 = 48;
const COUNT_AT: u32 = 56;

/// Bits that the symbols of an entry take.
#[inline(always)]
pub(super) fn bits_of(entry: u64) -> u32 {
    (entry >> BITS_AT & 0xff) as u32
}

/// Number of symbols of an entry.
#[inline(always)]
pub(super) fn count_of(entry: u64) -> usize {
    (entry >> COUNT_AT) as usize
}

impl<S: Symbol> Default for Table<S> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            kind: PhantomData,
        }
    }
}

impl<S: Symbol> Table<S> {
    /// The table of a book that will decode `symbols` symbols.
    pub fn of(book: &Book<S>, symbols: usize) -> Self {
        let mut table = Self::default();
        table.rebuild(book, symbols);
        table
    }

    /// The entries, by the next bits of a stream. Nothing comes of a table without a book.
    pub(super) fn entries(&self) -> &[u64; ENTRIES] {
        self.entries.first_chunk().unwrap_or(&[0; ENTRIES])
    }

    /// Replaces the table by that of another book.
    pub fn rebuild(&mut self, book: &Book<S>, symbols: usize) {
        self.entries.resize(ENTRIES, 0);
        // 1. One symbol per entry, for as many bits as the longest code has; then repeated.
        let longest = book.lengths().iter().copied().max().unwrap_or(0);
        let short = 1 << longest;
        for (symbol, &code) in book.codes().iter().enumerate() {
            let length = code >> LENGTH_AT;
            if length > 0 {
                let entry = symbol as u64 | u64::from(length) << BITS_AT | 1 << COUNT_AT;
                let first = code as u16 as usize;
                for slot in self.entries[first..short].iter_mut().step_by(1 << length) {
                    *slot = entry;
                }
            }
        }
        let mut filled = short;
        while filled < ENTRIES {
            self.entries.copy_within(..filled, filled);
            filled *= 2;
        }
        // 2. As many further symbols as the remaining bits hold. From the last entry to the
        // first, because an entry looks up lower ones, which must still be single symbols.
        // For few symbols this takes longer than it saves.
        if symbols < 8 * ENTRIES {
            return;
        }
        let width = 64 / S::PER_WORD as u32;
        for index in (1..ENTRIES).rev() {
            let mut entry = self.entries[index];
            for _ in 1..S::PER_ENTRY {
                let used = bits_of(entry);
                let next = self.entries[index >> used];
                if used + bits_of(next) > MAX_LENGTH {
                    break;
                }
                let symbol = next & ((1 << BITS_AT) - 1);
                entry += symbol << (width * count_of(entry) as u32);
                entry += u64::from(bits_of(next)) << BITS_AT | 1 << COUNT_AT;
            }
            self.entries[index] = entry;
        }
        self.extend_zero_entry(width);
    }

    /// Entry 0 looks up itself: its code is all zeros, as often as it fits.
    fn extend_zero_entry(&mut self, width: u32) {
        let single = self.entries[0];
        let fits = (MAX_LENGTH / bits_of(single).max(1)) as usize;
        let symbol = single & ((1 << BITS_AT) - 1);
        for _ in 1..fits.min(S::PER_ENTRY) {
            let entry = &mut self.entries[0];
            *entry += symbol << (width * count_of(*entry) as u32);
            *entry += u64::from(bits_of(single)) << BITS_AT | 1 << COUNT_AT;
        }
    }
}
