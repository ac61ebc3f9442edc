//! The coder of the CEAZ paper, section 3.2: 1,024 symbols around a centre, codebooks by update
//! unit.
//!
//! ```text
//! values ─► dualquant ─► residuals ─► symbols of ten bits ─► update units ─► Huffman
//!               └► exceptions
//! ```
//!
//! A unit uses the codebook of the previous unit, a new one, or the offline one. The last symbol is
//! an escape for residuals without a code; the bits of the residual follow.

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

/// First byte of such a chunk, in place of a mode.
pub(super) const CENTRED_MARK: u8 = 7;
/// Codebook index of the offline one.
const OFFLINE_BOOK: u8 = 0;
/// The symbol of residuals without a code.
const ESCAPE: u16 = WIDE_ALPHABET as u16 - 1;

/// The paper's threshold τ₀: up to it, the previous codebook is kept.
///
/// χ = |σ₀ − σ₁| is the change of the standard deviation of the symbol frequencies from one unit to
/// the next, in thousandths of the symbols of the unit. With this scale, the paper's thresholds
/// behave as in its Figure 9: see `docs/papers.md`.
const TAU_0: f64 = 5.18;
/// The paper's threshold τ₁: above it, the offline codebook is used.
const TAU_1: f64 = 9.69;

/// The offline codebook and its frequencies.
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

/// Scratch buffers, reused between chunks.
#[derive(Default)]
struct Scratch {
    exceptions: Exceptions,
    symbols: Symbols,
    bits: BitWriter,
}

/// The symbols of a chunk.
#[derive(Default)]
struct Symbols {
    symbols: Vec<u16>,
    /// Residuals without a symbol, in order.
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

/// Symbol frequencies of a chunk, for analysis tools.
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
        bits,
    } = &mut *scratch;
    // 1. Quantize and predict.
    let plan = dualquant::forward(values, task, context, exceptions, symbols);
    out.push(CENTRED_MARK);
    head::write_to(&plan, out);
    // 2. Exact values.
    exceptions.write_block_to::<T>(out);
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

/// Chooses the codebooks of units.
struct Chooser {
    rule: Rule,
    sort: Sort,
    escape_bits: u32,
    /// The codebook of the previous unit, unless it is the offline one.
    before: Option<WideBook>,
    /// The standard deviation of its frequencies.
    deviation: f64,
}

impl Chooser {
    /// The codebook for a unit of these frequencies, and its index.
    fn choose(&mut self, counts: &Counts) -> (u8, &WideBook) {
        let deviation = deviation(counts);
        let change = (deviation - self.deviation).abs();
        self.deviation = deviation;
        let number = match self.rule {
            Rule::Offline => OFFLINE_BOOK,
            Rule::Chi if change > TAU_1 => OFFLINE_BOOK,
            Rule::Chi if change <= TAU_0 && self.before.is_some() => PREVIOUS_BOOK,
            // After a unit with the offline codebook, build a new one.
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

    /// A codebook for these frequencies that always has an escape.
    fn own(&self, counts: &Counts) -> WideBook {
        let mut counts = *counts;
        counts[usize::from(ESCAPE)] = counts[usize::from(ESCAPE)].max(1);
        WideBook::of(&counts, self.sort)
    }

    /// The index of the codebook with the smallest output.
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

    /// Bits of a unit with a codebook.
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

/// Decodes the output of [`encode`], without the first byte.
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
        return Err(Error::corrupt(
            "the size of update units is not a multiple of 256",
        ));
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
        false => Err(Error::corrupt("trailing bytes after a chunk")),
    }
}

/// Reads update units.
struct Units<'a> {
    bytes: &'a [u8],
    reader: BitReader<'a>,
    /// Residuals per update unit, and how many of the current one are left.
    unit: usize,
    left: usize,
    /// The decoding tables of the last new codebook and of the offline one.
    own: Option<WideTable>,
    offline: Option<WideTable>,
    is_own: bool,
}

impl Units<'_> {
    /// Starts the next update unit.
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
            None => return Err(Error::truncated("the index of a codebook is cut off")),
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
