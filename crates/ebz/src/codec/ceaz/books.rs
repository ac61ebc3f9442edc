//! Choice of codebooks: an offline codebook, given by its index, or a new one stored in the chunk.

use super::codebooks::Kind;
use super::estimate::{FRACTION_BITS, entropy};
use super::offline::CODEBOOKS;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::huffman::{self, Book, Histogram, Sort, Table};
use std::borrow::Cow;
use std::marker::PhantomData;

/// How codebooks are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// By the exact encoded size, codebook included.
    Cost,
    /// By the paper's χ, which compares update units (see `centred`).
    Chi,
    /// Always the best offline codebook.
    Offline,
}

/// Groups with fewer symbols in total share one codebook without a cost comparison, which would
/// take longer than encoding them.
const MIN_SYMBOLS_FOR_SEVERAL_CODEBOOKS: usize = 2048;
/// Fewer symbols than this always use an offline codebook.
const MIN_SYMBOLS_FOR_OWN_CODEBOOK: u64 = 320;

/// Reuse an existing codebook when it costs at most 1/128 more bits than a new one: building and parsing
/// one takes time.
const REUSE_SLACK_DIVISOR: u64 = 128;

/// Codebook index that stands for a new codebook, which follows.
pub(super) const NEW_BOOK: u8 = 255;
/// Codebook index that stands for the codebook of the previous group.
pub(super) const PREVIOUS_BOOK: u8 = 254;

/// Encodes symbols with codebooks chosen by a rule.
pub(super) struct Encoder<'a> {
    pub rule: Rule,
    pub sort: Sort,
    pub simd: Level,
    /// Scratch buffer for streams.
    pub streams: &'a mut Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// Appends for each nonempty group: the index of its codebook, the codebook if it is new, and
    /// the encoded symbols.
    pub fn encode<K: Kind, const N: usize>(&mut self, groups: [&[u8]; N], out: &mut Vec<u8>) {
        let few = groups.iter().map(|g| g.len()).sum::<usize>() < MIN_SYMBOLS_FOR_SEVERAL_CODEBOOKS;
        let groups: Vec<_> = groups.into_iter().filter(|g| !g.is_empty()).collect();
        if few {
            if !groups.is_empty() {
                self.encode_run::<K>(&Histogram::of_all(&groups), &groups, out);
            }
            return;
        }
        let mut rest = &groups[..];
        let mut next = rest.first().map(|symbols| K::histogram(symbols, self.simd));
        while let Some(mut histogram) = next.take() {
            // 1. Merge groups as long as sharing a codebook is smaller.
            let mut shared = 1;
            while let Some(symbols) = rest.get(shared) {
                let other = K::histogram(symbols, self.simd);
                if !self.share(&histogram, &other) {
                    next = Some(other);
                    break;
                }
                histogram.add(&other);
                shared += 1;
            }
            let (run, others) = rest.split_at(shared);
            self.encode_run::<K>(&histogram, run, out);
            rest = others;
        }
    }

    /// Appends groups that share a codebook.
    fn encode_run<K: Kind>(&mut self, histogram: &Histogram, run: &[&[u8]], out: &mut Vec<u8>) {
        // 2. Their codebook. 3. Their symbols.
        let (mut number, book) = self.choose::<K>(histogram);
        for symbols in run {
            out.push(number);
            if number == NEW_BOOK {
                book.write_to(out);
            }
            number = PREVIOUS_BOOK;
            huffman::encode(symbols, &book, self.simd, self.streams, out);
        }
    }

    /// Whether two groups are smaller with one codebook than with two.
    fn share(&self, a: &Histogram, b: &Histogram) -> bool {
        if self.rule != Rule::Cost {
            return false;
        }
        let mut both = a.clone();
        both.add(b);
        let cost = |h: &Histogram| cost_with_book(h.occurring());
        cost(&both) <= cost(a) + cost(b)
    }

    /// The codebook for symbols of these frequencies, and its index.
    fn choose<K: Kind>(&self, histogram: &Histogram) -> (u8, Cow<'a, Book>) {
        let counts = histogram.occurring();
        let numbered = (0u8..).zip(K::of(&CODEBOOKS));
        let costs = numbered.filter_map(|(n, entry)| Some((entry.book.cost(counts)?, n, entry)));
        // Offline codebooks have a code for every symbol.
        let best = costs.min_by_key(|&(cost, number, _)| (cost, number));
        let own = || Book::of(histogram, K::sort(self.sort));
        let Some((cost, number, entry)) = best else {
            return (NEW_BOOK, Cow::Owned(own()));
        };
        let kept = (number, Cow::Borrowed(&entry.book));
        // A new codebook is not worth its time, or cannot be smaller.
        if self.rule != Rule::Cost
            || histogram.total() < MIN_SYMBOLS_FOR_OWN_CODEBOOK
            || cost <= cost_with_book(counts)
        {
            return kept;
        }
        let own = own();
        let mut stored = Vec::new();
        own.write_to(&mut stored);
        let own_cost = own.cost(counts).unwrap_or(u64::MAX);
        if reuses(cost, own_cost.saturating_add(8 * stored.len() as u64)) {
            return kept;
        }
        (NEW_BOOK, Cow::Owned(own))
    }
}

/// Decodes symbols with the codebooks given in the stream.
pub(super) struct Decoder<'a, K> {
    /// The table of the last new codebook.
    table: &'a mut Table,
    kind: PhantomData<K>,
    /// The index of the last codebook.
    number: Option<u8>,
    pub simd: Level,
}

impl<'a, K: Kind> Decoder<'a, K> {
    /// A decoder; `table` is reused for the tables of new codebooks.
    pub fn new(table: &'a mut Table, simd: Level) -> Self {
        Self {
            table,
            kind: PhantomData,
            number: None,
            simd,
        }
    }

    /// Decodes the symbols of a group.
    pub fn decode(&mut self, bytes: &mut &[u8], symbols: &mut [u8]) -> Result<()> {
        if symbols.is_empty() {
            return Ok(());
        }
        match bytes.split_off_first() {
            Some(&PREVIOUS_BOOK) => {}
            Some(&number) => {
                if number == NEW_BOOK {
                    self.table.rebuild(&Book::read_from(bytes)?, symbols.len());
                }
                self.number = Some(number);
            }
            None => return Err(Error::truncated("the index of a codebook is cut off")),
        }
        let unknown = || Error::corrupt("unknown codebook");
        let table = match self.number.ok_or_else(unknown)? {
            NEW_BOOK => &*self.table,
            number => {
                let entry = K::of(&CODEBOOKS).get(usize::from(number));
                entry.ok_or_else(unknown)?.table()
            }
        };
        huffman::decode(bytes, table, self.simd, symbols)
    }
}

/// Whether to reuse a codebook of this cost instead of building a new one.
fn reuses(cost: u64, new: u64) -> bool {
    cost <= new.saturating_add(new / REUSE_SLACK_DIVISOR)
}

/// Estimated bits of symbols of these frequencies including a new codebook, which takes about two
/// bits per symbol that occurs.
fn cost_with_book(counts: &[u32]) -> u64 {
    let occurring = counts.iter().filter(|c| **c > 0).count() as u64;
    (entropy(counts) >> FRACTION_BITS) + 2 * occurring + 64
}
