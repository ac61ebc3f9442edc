//! Books that chunks name by number: the offline ones, and those that the chunks of a frame have in
//! common.

use super::symbols::ESCAPE;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::huffman::{Book, Histogram, Sort, Table};
use std::sync::OnceLock;

/// Books of both kinds of symbols.
#[derive(Default)]
pub(super) struct Shelves {
    pub masks: Vec<Entry>,
    pub residuals: Vec<Entry>,
}

/// A book on a shelf.
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
    /// The decoding table, made at its first use.
    pub fn table(&self) -> &Table {
        self.table.get_or_init(|| Table::of(&self.book, usize::MAX))
    }
}

/// A kind of symbols, with books of its own.
pub(super) trait Kind {
    /// The books of this kind.
    fn on(shelves: &Shelves) -> &[Entry];
    /// What new books of this kind were made from.
    fn of(made: &mut Made) -> &mut Vec<Histogram>;
    /// The frequencies of symbols.
    fn histogram(symbols: &[u8], simd: Level) -> Histogram;
}

/// Masks, and labels of units.
pub(super) struct OfMasks;
/// Residuals.
pub(super) struct OfResiduals;

impl Kind for OfMasks {
    fn on(shelves: &Shelves) -> &[Entry] {
        &shelves.masks
    }
    fn of(made: &mut Made) -> &mut Vec<Histogram> {
        &mut made.masks
    }
    fn histogram(symbols: &[u8], _: Level) -> Histogram {
        Histogram::of(symbols)
    }
}

impl Kind for OfResiduals {
    fn on(shelves: &Shelves) -> &[Entry] {
        &shelves.residuals
    }
    fn of(made: &mut Made) -> &mut Vec<Histogram> {
        &mut made.residuals
    }
    fn histogram(symbols: &[u8], simd: Level) -> Histogram {
        Histogram::estimate(symbols, simd)
    }
}

/// The most books of a kind that chunks have in common.
const MOST: usize = 32;
/// The most bytes that they take.
pub(super) const MOST_BYTES: usize = 8 << 10;

/// What the new books of a chunk were made from.
#[derive(Default)]
pub(super) struct Made {
    masks: Vec<Histogram>,
    residuals: Vec<Histogram>,
}

impl Made {
    /// Appends such books for other chunks: the number of those for masks, and all books.
    pub fn write_to(mut self, sort: Sort, out: &mut Vec<u8>) {
        if self.masks.is_empty() && self.residuals.is_empty() {
            return;
        }
        self.masks.truncate(MOST);
        self.residuals.truncate(MOST);
        out.push(self.masks.len() as u8);
        for masks in &self.masks {
            open_book(masks, likely_masks(masks), sort).write_to(out);
        }
        for residuals in &self.residuals {
            open_book(residuals, likely_residuals(residuals), sort).write_to(out);
        }
    }
}

/// A book for symbols like these, and for those of a range that other chunks may have besides.
fn open_book(histogram: &Histogram, likely: impl Fn(usize) -> bool, sort: Sort) -> Book {
    let mut counts = histogram.counts().to_vec();
    for (symbol, count) in counts.iter_mut().enumerate() {
        *count = (*count).max(u32::from(likely(symbol)));
    }
    let opened = Histogram::from_counts(counts);
    Book::of(opened.as_ref().unwrap_or(histogram), sort)
}

/// Fewer masks than this that do not occur get a code.
const FEW: usize = 64;
/// Residuals may be larger by half, and so many kinds of those that have no symbol of their own may
/// occur.
const WIDE: usize = 12;

/// Whether another chunk may have a mask.
fn likely_masks(histogram: &Histogram) -> impl Fn(usize) -> bool {
    let missing = histogram.counts().iter().filter(|c| **c == 0).count();
    move |_| missing < FEW
}

/// Whether another chunk may have a residual.
fn likely_residuals(histogram: &Histogram) -> impl Fn(usize) -> bool {
    let escape = usize::from(ESCAPE);
    let narrow = &histogram.counts()[..escape];
    let used = narrow.iter().rposition(|c| *c > 0).map_or(0, |i| i + 1);
    let most = escape.min(used + used / 2 + 1);
    move |symbol| symbol < most || (escape..escape + WIDE).contains(&symbol)
}

impl Shelves {
    /// Reads what [`Made::write_to`] appended.
    pub fn read_from(mut bytes: &[u8]) -> Result<Self> {
        let mut shelves = Self::default();
        let masks = bytes.split_off_first().copied().unwrap_or(0);
        if bytes.len() > MOST_BYTES || usize::from(masks) > MOST {
            return Err(Error::corrupt("too many books in common"));
        }
        for _ in 0..masks {
            shelves.masks.push(Book::read_from(&mut bytes)?.into());
        }
        while !bytes.is_empty() {
            shelves.residuals.push(Book::read_from(&mut bytes)?.into());
        }
        match shelves.residuals.len() {
            0..=MOST => Ok(shelves),
            _ => Err(Error::corrupt("too many books in common")),
        }
    }
}
