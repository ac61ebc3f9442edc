//! Huffman coding of ten-bit symbols, as in the CEAZ paper: one stream, one symbol at a time.

use super::book::{LENGTH_AT, canonical, read_lengths, write_lengths};
use super::lengths::{Sort, lengths};
use crate::bits::{BitReader, BitWriter, low_mask};
use crate::error::Result;

/// Number of different symbols.
pub const WIDE_ALPHABET: usize = 1024;
/// Maximum code length in bits.
const MAX_WIDE_LENGTH: u32 = 15;

/// A complete prefix code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WideBook {
    lengths: Vec<u8>,
    codes: Vec<u32>,
}

impl WideBook {
    /// The book for these frequencies.
    pub fn of(counts: &[u32; WIDE_ALPHABET], sort: Sort) -> Self {
        Self::of_lengths(lengths(counts, sort, MAX_WIDE_LENGTH))
    }

    fn of_lengths(lengths: Vec<u8>) -> Self {
        let mut codes = vec![0; WIDE_ALPHABET];
        canonical(&lengths, &mut codes);
        Self { lengths, codes }
    }

    /// The code length of each symbol, 0 for symbols without a code.
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Appends the code of a symbol, which must have one.
    pub(crate) fn put(&self, symbol: u16, writer: &mut BitWriter) {
        let code = self.codes[usize::from(symbol)];
        writer.put(code & low_mask(LENGTH_AT) as u32, code >> LENGTH_AT);
    }

    /// Appends the lengths.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        write_lengths(&self.lengths, out);
    }

    /// Reads a book from the front of `bytes`, and advances `bytes`.
    pub fn read_from(bytes: &mut &[u8]) -> Result<Self> {
        let lengths = read_lengths(bytes, WIDE_ALPHABET, MAX_WIDE_LENGTH)?;
        Ok(Self::of_lengths(lengths))
    }
}

/// Decoding table: maps the next bits of a stream to a symbol.
#[derive(Debug, Clone)]
pub struct WideTable {
    /// Symbol and length of the code at the start of each index.
    entries: Vec<(u16, u8)>,
    mask: u64,
}

impl WideTable {
    /// The table of a book.
    pub fn of(book: &WideBook) -> Self {
        let longest = book.lengths.iter().copied().max().unwrap_or(0);
        let mut entries = vec![(0, 0); 1 << longest];
        for ((symbol, &length), &code) in (0u16..).zip(&book.lengths).zip(&book.codes) {
            if length > 0 {
                let first = (code & low_mask(LENGTH_AT) as u32) as usize;
                for entry in entries[first..].iter_mut().step_by(1 << length) {
                    *entry = (symbol, length);
                }
            }
        }
        Self {
            entries,
            mask: low_mask(longest.into()),
        }
    }

    /// The next symbol.
    pub fn get(&self, reader: &mut BitReader<'_>) -> u16 {
        let (next, _) = reader.peek();
        let (symbol, length) = self.entries[(next & self.mask) as usize];
        reader.skip(length.into());
        symbol
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_books_round_trip() {
        for sort in [Sort::Exact, Sort::Centre] {
            for spread in [1.0f64, 30.0, 1e4] {
                let count = |symbol: usize| (1e6 * (-(symbol as f64) / spread).exp()) as u32;
                let mut counts: [u32; WIDE_ALPHABET] = std::array::from_fn(count);
                counts[WIDE_ALPHABET - 1] = 1;
                let book = WideBook::of(&counts, sort);
                let mut bytes = Vec::new();
                book.write_to(&mut bytes);
                let mut rest = &bytes[..];
                assert_eq!(WideBook::read_from(&mut rest).unwrap(), book);
                assert!(rest.is_empty());
                let coded = |symbol: &u16| book.lengths()[usize::from(*symbol)] > 0;
                let symbols: Vec<u16> = (0..WIDE_ALPHABET as u16).filter(coded).collect();
                let mut writer = BitWriter::default();
                symbols.iter().for_each(|s| book.put(*s, &mut writer));
                let stream = writer.finish().to_vec();
                let mut reader = BitReader::new(&stream);
                let table = WideTable::of(&book);
                for symbol in symbols {
                    assert_eq!(table.get(&mut reader), symbol);
                }
                reader.finish().unwrap();
            }
        }
    }
}
