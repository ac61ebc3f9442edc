//! The coder of the CEAZ paper, section 3.2: 1,024 symbols around a centre, books by update unit.
//!
//! ```text
//! values ─► dualquant ─► residuals ─► symbols of ten bits ─► update units ─► Huffman
//!               └► exceptions
//! ```
//!
//! A unit is coded with the book of the unit before, one of its own that it carries, or the offline one.
//! The last symbol stands for a residual that has no code, whose bits follow.

use super::books::{NEW_BOOK, PREVIOUS_BOOK, Rule};
use super::estimate::Entropy;
use super::{head, rule, sort, update_unit};
use crate::bits::{BitReader, BitWriter, varint};
use crate::codec::{Context, Dims, Task};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Fetch, Sink};
use crate::stage::exceptions::Exceptions;
use crate::stage::huffman::{Sort, WIDE_ALPHABET, WideBook, WideTable};
use std::sync::LazyLock;

/// First byte of such a chunk, where others have a mode.
pub(super) const MARK: u8 = 7;
/// In place of a book's number: the offline one.
const OFFLINE_BOOK: u8 = 0;
/// The symbol of residuals that have no code.
const ESCAPE: u16 = WIDE_ALPHABET as u16 - 1;

/// The paper's threshold τ₀: the book of the unit before is kept while χ is not above it.
///
/// χ = |σ₀ − σ₁| is the change of the standard deviation of the symbols' frequencies from one unit to the
/// next, in thousandths of the unit's symbols. In this unit the paper's thresholds do what its Figure 9 says:
/// see `docs/papers.md`.
const TAU_0: f64 = 5.18;
/// The paper's threshold τ₁: above it the offline book is used.
const TAU_1: f64 = 9.69;

/// The offline book and its frequencies.
static OFFLINE: LazyLock<(Counts, WideBook)> = LazyLock::new(|| {
    let text = include_str!("offline_centred.txt");
    let numbers = text.lines().filter(|line| !line.starts_with('#'));
    let mut numbers = numbers.flat_map(str::split_whitespace);
    let mut next = || numbers.next().and_then(|word| word.parse().ok());
    // Every symbol has a code.
    let counts = [(); WIDE_ALPHABET].map(|()| next().unwrap_or(1));
    (counts, WideBook::of(&counts, Sort::Exact))
});

type Counts = [u32; WIDE_ALPHABET];

/// Memory that is kept from chunk to chunk.
#[derive(Default)]
struct Scratch {
    exceptions: Exceptions,
    symbols: Symbols,
    list: Vec<u8>,
    bits: BitWriter,
}

/// The residuals of a chunk as symbols.
#[derive(Default)]
struct Symbols {
    symbols: Vec<u16>,
    /// Residuals that are no symbol, in order.
    large: Vec<u64>,
}

impl Sink for Symbols {
    type Estimate = Entropy;

    fn restart<W: Word>(&mut self, units: usize) {
        self.symbols.clear();
        self.symbols.reserve(units * UNIT);
        self.large.clear();
    }

    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]) {
        for residual in residuals {
            let residual = residual.unsigned();
            self.symbols.push(residual.min(ESCAPE.into()) as u16);
            if residual >= ESCAPE.into() {
                self.large.push(residual);
            }
        }
    }
}

/// How often each symbol occurs in a chunk; for tools that study fields.
pub fn centred_frequencies<T: Float>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
) -> Vec<u32> {
    let mut symbols = Symbols::default();
    dualquant::forward(
        values,
        task,
        context,
        &mut Exceptions::default(),
        &mut symbols,
    );
    counts(&symbols.symbols).to_vec()
}

fn counts(symbols: &[u16]) -> Counts {
    let mut counts = [0; WIDE_ALPHABET];
    for &symbol in symbols {
        counts[usize::from(symbol)] += 1;
    }
    counts
}

/// Appends a chunk.
pub(super) fn encode<T: Float>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut scratch = context.take::<Scratch>();
    let Scratch {
        exceptions,
        symbols,
        list,
        bits,
    } = &mut *scratch;
    // 1. Quantize and predict.
    let plan = dualquant::forward(values, task, context, exceptions, symbols);
    out.push(MARK);
    head::write_to(&plan, out);
    // 2. Exact values.
    list.clear();
    exceptions.write_to::<T>(list);
    varint::write_block(list, out);
    // 3. Update units.
    let unit = (update_unit(task.params)? / T::SIZE).next_multiple_of(UNIT);
    varint::write(unit as u64, out);
    let escape_bits = 16 * plan.parts::<T>() as u32;
    let mut chooser = Chooser {
        rule: rule(task.params)?,
        sort: sort(task.params)?,
        escape_bits,
        before: None,
        deviation: deviation(&OFFLINE.0),
    };
    let mut large = symbols.large.iter().copied();
    for unit in symbols.symbols.chunks(unit) {
        let (number, book) = chooser.choose(&counts(unit));
        out.push(number);
        if number == NEW_BOOK {
            book.write_to(out);
        }
        bits.clear();
        for &symbol in unit {
            let residual = match symbol {
                ESCAPE => large.next().unwrap_or_default(),
                symbol => symbol.into(),
            };
            if symbol == ESCAPE || book.lengths()[usize::from(symbol)] == 0 {
                book.put(ESCAPE, bits);
                bits.put_wide(residual, escape_bits);
            } else {
                book.put(symbol, bits);
            }
        }
        varint::write_block(bits.finish(), out);
    }
    context.put_back(scratch);
    Ok(())
}

/// Chooses the books of units.
struct Chooser {
    rule: Rule,
    sort: Sort,
    escape_bits: u32,
    /// The book of the unit before, unless that was the offline one.
    before: Option<WideBook>,
    /// The standard deviation of its frequencies.
    deviation: f64,
}

impl Chooser {
    /// The book for a unit of these frequencies, and its number.
    fn choose(&mut self, counts: &Counts) -> (u8, &WideBook) {
        let deviation = deviation(counts);
        let change = (deviation - self.deviation).abs();
        self.deviation = deviation;
        let number = match self.rule {
            Rule::Offline => OFFLINE_BOOK,
            Rule::Chi if change > TAU_1 => OFFLINE_BOOK,
            Rule::Chi if change <= TAU_0 && self.before.is_some() => PREVIOUS_BOOK,
            // A unit behind one with the offline book: by then there are frequencies to make a book from.
            Rule::Chi => NEW_BOOK,
            Rule::Cost => self.cheapest(counts),
        };
        match number {
            NEW_BOOK => self.before = Some(self.own(counts)),
            OFFLINE_BOOK => self.before = None,
            _ => {}
        }
        (number, self.before.as_ref().unwrap_or(&OFFLINE.1))
    }

    /// A book of these frequencies, in which there is always an escape.
    fn own(&self, counts: &Counts) -> WideBook {
        let mut counts = *counts;
        counts[usize::from(ESCAPE)] = counts[usize::from(ESCAPE)].max(1);
        WideBook::of(&counts, self.sort)
    }

    /// The number of the book with which a unit is smallest.
    fn cheapest(&self, counts: &Counts) -> u8 {
        let own = self.own(counts);
        let mut stored = Vec::new();
        own.write_to(&mut stored);
        let new = self.cost(&own, counts) + 8 * stored.len() as u64;
        let offline = self.cost(&OFFLINE.1, counts);
        let before = self.before.as_ref().map(|book| self.cost(book, counts));
        match before.unwrap_or(u64::MAX) {
            before if before <= new.min(offline) => PREVIOUS_BOOK,
            _ if offline <= new => OFFLINE_BOOK,
            _ => NEW_BOOK,
        }
    }

    /// Bits of a unit with a book.
    fn cost(&self, book: &WideBook, counts: &Counts) -> u64 {
        let escape = u64::from(book.lengths()[usize::from(ESCAPE)]) + u64::from(self.escape_bits);
        let costs = (0u16..).zip(counts).zip(book.lengths());
        let costs = costs.map(|((symbol, &count), &length)| match length {
            0 => u64::from(count) * escape,
            _ if symbol == ESCAPE => u64::from(count) * escape,
            length => u64::from(count) * u64::from(length),
        });
        costs.sum()
    }
}

/// Standard deviation of the frequencies of all symbols, in thousandths.
fn deviation(counts: &Counts) -> f64 {
    let total = counts.iter().map(|&c| u64::from(c)).sum::<u64>().max(1) as f64;
    let mean = 1.0 / WIDE_ALPHABET as f64;
    let squares = counts.iter().map(|&count| f64::from(count) / total - mean);
    let squares: f64 = squares.map(|difference| difference * difference).sum();
    1000.0 * (squares / WIDE_ALPHABET as f64).sqrt()
}

/// Undoes [`encode`], behind the mark.
pub(super) fn decode<T: Float>(
    mut bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let plan = head::read_from(&mut bytes)?;
    let exceptions = varint::read_block(&mut bytes)?;
    let unit = varint::read_length(&mut bytes)?;
    if unit == 0 || unit % UNIT != 0 {
        return Err(Error::corrupt("an update unit that ends within a unit"));
    }
    let mut units = Units {
        bytes,
        reader: BitReader::default(),
        unit,
        left: 0,
        own: None,
        offline: None,
        is_own: false,
    };
    dualquant::inverse(&plan, dims, context, &mut units, exceptions, out)?;
    units.reader.finish()?;
    match units.bytes.is_empty() {
        true => Ok(()),
        false => Err(Error::corrupt("a chunk is too long")),
    }
}

/// Reads update units.
struct Units<'a> {
    bytes: &'a [u8],
    reader: BitReader<'a>,
    /// Residuals of an update unit, and how many are left of this one.
    unit: usize,
    left: usize,
    /// The table of the last new book, and of the offline one.
    own: Option<WideTable>,
    offline: Option<WideTable>,
    is_own: bool,
}

impl Units<'_> {
    /// Begins the next update unit.
    fn advance(&mut self) -> Result<()> {
        self.reader.finish()?;
        match self.bytes.split_off_first() {
            Some(&NEW_BOOK) => {
                self.own = Some(WideTable::of(&WideBook::read_from(&mut self.bytes)?));
                self.is_own = true;
            }
            Some(&OFFLINE_BOOK) => {
                self.offline
                    .get_or_insert_with(|| WideTable::of(&OFFLINE.1));
                self.is_own = false;
            }
            Some(&PREVIOUS_BOOK) => {}
            Some(_) => return Err(Error::corrupt("unknown codebook")),
            None => return Err(Error::truncated("the number of a codebook is missing")),
        }
        self.reader = BitReader::new(varint::read_block(&mut self.bytes)?);
        self.left = self.unit;
        Ok(())
    }
}

impl Fetch for Units<'_> {
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()> {
        if self.left == 0 {
            self.advance()?;
        }
        self.left -= UNIT;
        let table = match self.is_own {
            true => &self.own,
            false => &self.offline,
        };
        let unknown = || Error::corrupt("unknown codebook");
        let table = table.as_ref().ok_or_else(unknown)?;
        for residual in residuals {
            *residual = match table.get(&mut self.reader) {
                ESCAPE => W::truncate(self.reader.get_wide(16 * W::PARTS as u32)),
                symbol => W::truncate(symbol.into()),
            };
        }
        Ok(())
    }
}
