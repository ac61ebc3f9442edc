//! Which code book a chunk uses: one of the offline books, named by its number, or one of its own.

use super::offline;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::huffman::{self, Book, Histogram, Sort, Symbol, Table};
use std::borrow::Cow;

/// How books are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// By the exact size of the coded chunk, book included.
    Cost,
    /// By the paper's χ: the offline book while the frequencies resemble those it was made from.
    Chi,
    /// Always an offline book, the best of them.
    Offline,
}

/// The paper's threshold τ₀: up to here a book is kept.
///
/// χ = |σ₀ − σ₁| is the change of the standard deviation of the symbols' frequencies, here in
/// thousandths of the chunk's symbols: a unit in which the paper's thresholds separate
/// histograms that share a book from those that do not.
const KEEP: f64 = 5.18;

/// In place of an offline book's number: the book follows.
const OWN: u8 = 255;

/// Symbols that have offline books.
pub(super) trait Offline: Symbol {
    /// The offline books and their tables.
    fn shelf() -> &'static [offline::Entry<Self>];
}

/// Codes symbols with the book that the rule chooses. Appends the book's number, the book if it is
/// a new one, and the coded symbols.
pub(super) fn encode<S: Offline>(
    symbols: &[S],
    rule: Rule,
    sort: Sort,
    simd: Level,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    if symbols.is_empty() {
        return;
    }
    let histogram = Histogram::of(symbols);
    let (number, book) = choose(&histogram, rule, sort);
    out.push(number);
    if number == OWN {
        book.write_to(out);
    }
    huffman::encode(symbols, &book, simd, scratch, out);
}

/// Undoes [`encode`].
pub(super) fn decode<S: Offline>(
    bytes: &mut &[u8],
    table: &mut Table<S>,
    simd: Level,
    symbols: &mut [S],
) -> Result<()> {
    if symbols.is_empty() {
        return Ok(());
    }
    let (&number, rest) = bytes
        .split_first()
        .ok_or_else(|| Error::truncated("the number of a code book is missing"))?;
    *bytes = rest;
    let table = if number == OWN {
        table.rebuild(&Book::read_from(bytes)?, symbols.len());
        table
    } else {
        let entry = S::shelf().get(usize::from(number));
        entry
            .ok_or_else(|| Error::corrupt("unknown offline book"))?
            .table()
    };
    huffman::decode(bytes, table, simd, symbols)
}

fn choose<S: Offline>(
    histogram: &Histogram<S>,
    rule: Rule,
    sort: Sort,
) -> (u8, Cow<'static, Book<S>>) {
    // Offline books have a code for every symbol.
    let costs = S::shelf().iter().enumerate().map(|(number, entry)| {
        let cost = entry.book.cost(histogram).unwrap_or(u64::MAX);
        (cost, number as u8, entry)
    });
    let Some((cost, number, entry)) = costs.min_by_key(|&(cost, number, _)| (cost, number)) else {
        return (OWN, Cow::Owned(Book::of(histogram, sort)));
    };
    let offline = (number, Cow::Borrowed(&entry.book));
    let keep = match rule {
        Rule::Offline => true,
        Rule::Chi => (deviation(histogram) - implied_deviation(&entry.book)).abs() <= KEEP,
        Rule::Cost => false,
    };
    if keep {
        return offline;
    }
    let own = Book::of(histogram, sort);
    let mut stored = Vec::new();
    own.write_to(&mut stored);
    let own_cost = own.cost(histogram).unwrap_or(u64::MAX);
    match rule {
        Rule::Cost if cost <= own_cost.saturating_add(8 * stored.len() as u64) => offline,
        _ => (OWN, Cow::Owned(own)),
    }
}

/// Standard deviation of the frequencies of all symbols, in thousandths.
fn deviation<S: Symbol>(histogram: &Histogram<S>) -> f64 {
    let total = histogram.total().max(1) as f64;
    let counts = histogram.counts().iter();
    deviation_of::<S>(counts.map(|&count| f64::from(count) / total))
}

/// The same of the frequencies that a book is best for.
fn implied_deviation<S: Symbol>(book: &Book<S>) -> f64 {
    let lengths = book.lengths().iter();
    deviation_of::<S>(lengths.map(|&length| 0.5f64.powi(length.into())))
}

fn deviation_of<S: Symbol>(frequencies: impl Iterator<Item = f64>) -> f64 {
    let mean = 1.0 / S::ALPHABET as f64;
    let squares: f64 = frequencies.map(|f| (f - mean) * (f - mean)).sum();
    1000.0 * (squares / S::ALPHABET as f64).sqrt()
}
