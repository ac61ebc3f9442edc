//! Codebooks that chunks refer to by index.

use crate::simd::Level;
use crate::stage::huffman::{Book, Histogram, Sort, Table};
use std::sync::OnceLock;

/// Codebooks of both kinds of symbols.
#[derive(Default)]
pub(super) struct Codebooks {
    pub masks: Vec<Entry>,
    pub residuals: Vec<Entry>,
}

/// A codebook and its decoding table.
pub(super) struct Entry {
    pub book: Book,
    table: OnceLock<Table>,
}

impl From<Book> for Entry {
    fn from(book: Book) -> Self {
        let table = OnceLock::new();
        Self { book, table }
    }
}

impl Entry {
    /// The decoding table, built on first use.
    pub fn table(&self) -> &Table {
        self.table.get_or_init(|| Table::of(&self.book, usize::MAX))
    }
}

/// A kind of symbols, with codebooks of its own.
pub(super) trait Kind {
    /// The codebooks of this kind.
    fn of(codebooks: &Codebooks) -> &[Entry];
    /// The frequencies of symbols.
    fn histogram(symbols: &[u8], simd: Level) -> Histogram;
    /// How to sort symbols for a new codebook, given the requested way.
    fn sort(requested: Sort) -> Sort;
}

/// Masks, and labels of units.
pub(super) struct OfMasks;
/// Residuals.
pub(super) struct OfResiduals;

impl Kind for OfMasks {
    fn of(codebooks: &Codebooks) -> &[Entry] {
        &codebooks.masks
    }
    fn histogram(symbols: &[u8], _: Level) -> Histogram {
        Histogram::of(symbols)
    }
    fn sort(_: Sort) -> Sort {
        // The paper's Algorithm 1 is for residuals, whose frequencies decrease from the centre.
        Sort::Exact
    }
}

impl Kind for OfResiduals {
    fn of(codebooks: &Codebooks) -> &[Entry] {
        &codebooks.residuals
    }
    fn histogram(symbols: &[u8], simd: Level) -> Histogram {
        Histogram::estimate(symbols, simd)
    }
    fn sort(requested: Sort) -> Sort {
        requested
    }
}
