//! The decoding table: maps the next twelve bits of a stream to the symbols they start with.

use super::book::LENGTH_AT;
use super::{Book, MAX_LENGTH};

/// Entries of a table.
pub(super) const ENTRIES: usize = 1 << MAX_LENGTH;

/// Maps bits to symbols. The lowest byte of an entry is the number of bits of its symbols, so that it
/// is a shift count without masking; then come up to six symbols; the highest byte is their number.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Either [`ENTRIES`] of them or, before the first book, none.
    entries: Vec<u64>,
}

/// Maximum number of symbols in an entry.
pub(super) const MAX_ENTRY_SYMBOLS: usize = 6;

/// Bit positions of the first symbol and of the number of symbols in an entry.
pub(super) const SYMBOLS_AT: u32 = 8;
const COUNT_AT: u32 = 56;

/// Number of bits of the symbols of an entry.
#[inline(always)]
pub(super) fn bits_of(entry: u64) -> u32 {
    (entry & 0xff) as u32
}

/// Number of symbols of an entry.
#[inline(always)]
pub(super) fn count_of(entry: u64) -> usize {
    (entry >> COUNT_AT) as usize
}

/// The symbols of an entry; the bytes after them are meaningless.
#[inline(always)]
pub(super) fn symbols_of(entry: u64) -> [u8; 8] {
    (entry >> SYMBOLS_AT).to_le_bytes()
}

impl Table {
    /// Builds the table of a book, to decode `symbols` symbols.
    pub fn of(book: &Book, symbols: usize) -> Self {
        let mut table = Self::default();
        table.rebuild(book, symbols);
        table
    }

    /// Whether the table has no book yet.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, indexed by the next bits of a stream; all zero without a book.
    pub(super) fn entries(&self) -> &[u64; ENTRIES] {
        self.entries.first_chunk().unwrap_or(&[0; ENTRIES])
    }

    /// Replaces the table by that of another book.
    pub fn rebuild(&mut self, book: &Book, symbols: usize) {
        self.entries.resize(ENTRIES, 0);
        // 1. One symbol per entry, for indices of the length of the longest code; then repeated.
        let longest = book.lengths().iter().copied().max().unwrap_or(0);
        let short = 1 << longest;
        for (symbol, &code) in book.codes().iter().enumerate() {
            let length = code >> LENGTH_AT;
            if length > 0 {
                let entry = (symbol as u64) << SYMBOLS_AT | u64::from(length) | 1 << COUNT_AT;
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
        // 2. Append the symbols that the remaining bits encode. From the last entry to the first,
        // because an entry looks up lower ones, which must still have one symbol. For few symbols
        // this costs more time than it saves.
        if symbols < 8 * ENTRIES {
            return;
        }
        for index in (1..ENTRIES).rev() {
            let mut entry = self.entries[index];
            for _ in 1..MAX_ENTRY_SYMBOLS {
                let used = bits_of(entry);
                let next = self.entries[index >> used];
                if used + bits_of(next) > MAX_LENGTH {
                    break;
                }
                entry = appended(entry, next);
            }
            self.entries[index] = entry;
        }
        self.extend_zero_entry();
    }

    /// Entry 0 looks up itself: repeats its symbol, whose code is all zeros, as often as it fits.
    fn extend_zero_entry(&mut self) {
        let single = self.entries[0];
        let fits = (MAX_LENGTH / bits_of(single).max(1)) as usize;
        for _ in 1..fits.min(MAX_ENTRY_SYMBOLS) {
            self.entries[0] = appended(self.entries[0], single);
        }
    }
}

/// Appends the symbol of a single-symbol entry to another entry.
fn appended(entry: u64, single: u64) -> u64 {
    let symbol = u64::from(symbols_of(single)[0]) << SYMBOLS_AT;
    let count = 1 << COUNT_AT;
    entry + (symbol << (8 * count_of(entry))) + u64::from(bits_of(single)) + count
}
