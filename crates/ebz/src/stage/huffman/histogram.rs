//! Symbol frequencies.

use super::ALPHABET;
use crate::simd::Level;

/// Symbol frequencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u32>,
}

/// Minimum number of symbols for sampling; shorter inputs are counted completely.
const MIN_SYMBOLS_FOR_SAMPLING: usize = 1 << 14;
/// Symbols sampled from every [`BLOCK`].
const SAMPLED_PER_BLOCK: usize = 512;
const BLOCK: usize = 8 * SAMPLED_PER_BLOCK;
/// Below this limit, [`Histogram::estimate`] tracks only the largest symbol, and gives a code to all
/// smaller ones.
const SMALL_SYMBOLS: usize = 32;

impl Histogram {
    /// A histogram from counts; `None` unless there is one for every symbol.
    pub fn from_counts(counts: Vec<u32>) -> Option<Self> {
        (counts.len() == ALPHABET).then_some(Self { counts })
    }

    /// Counts `symbols`.
    pub fn of(symbols: &[u8]) -> Self {
        Self::of_all(&[symbols])
    }

    /// Counts the symbols of all groups.
    pub fn of_all(groups: &[&[u8]]) -> Self {
        let mut counter = Counter::default();
        for symbols in groups {
            counter.add(symbols);
        }
        counter.finish()
    }

    /// Estimates the frequencies of mostly small symbols from a sample. Every symbol that occurs has
    /// a nonzero frequency.
    pub fn estimate(symbols: &[u8], simd: Level) -> Self {
        if symbols.len() < MIN_SYMBOLS_FOR_SAMPLING {
            return Self::of(symbols);
        }
        let mut counter = Counter::default();
        let mut seen = [0; ALPHABET];
        let (blocks, rest) = symbols.as_chunks::<BLOCK>();
        for block in blocks {
            let (counted, others) = block.split_at(SAMPLED_PER_BLOCK);
            counter.add(counted);
            simd.run(
                #[inline(always)]
                || {
                    others
                        .as_chunks()
                        .0
                        .iter()
                        .for_each(|part| mark(part, &mut seen))
                },
            );
        }
        let largest = seen[..SMALL_SYMBOLS].iter().rposition(|&s| s > 0);
        seen[..largest.map_or(0, |largest| largest + 1)].fill(1);
        let mut histogram = counter.finish();
        for (count, seen) in histogram.counts.iter_mut().zip(seen) {
            *count = (*count * (BLOCK / SAMPLED_PER_BLOCK) as u32).max(seen);
        }
        histogram.add(&Self::of(rest));
        histogram
    }

    /// Adds the frequencies of other symbols.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// The frequency of each symbol.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The same up to the last symbol that occurs.
    pub fn occurring(&self) -> &[u32] {
        let last = self.counts.iter().rposition(|&c| c > 0);
        &self.counts[..last.map_or(0, |last| last + 1)]
    }

    /// Number of symbols counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&c| u64::from(c)).sum()
    }
}

/// Marks the symbols that occur; only the largest one if all are small.
#[inline(always)]
fn mark(symbols: &[u8; 64], seen: &mut [u32; ALPHABET]) {
    let largest = symbols.iter().fold(0, |max, &s| max.max(s));
    if usize::from(largest) < SMALL_SYMBOLS {
        seen[usize::from(largest)] = 1;
    } else {
        symbols.iter().for_each(|s| seen[usize::from(*s)] = 1);
    }
}

/// Counts in several tables: adjacent symbols are often equal, and incrementing the same counter again
/// must wait for the previous store.
struct Counter([[u32; ALPHABET]; 4]);

impl Default for Counter {
    fn default() -> Self {
        Self([[0; ALPHABET]; 4])
    }
}

impl Counter {
    fn add(&mut self, symbols: &[u8]) {
        let [a, b, c, d] = &mut self.0;
        let (octets, rest) = symbols.as_chunks::<8>();
        for octet in octets {
            let word = u64::from_le_bytes(*octet);
            let symbol = |i: u32| usize::from((word >> (8 * i)) as u8);
            a[symbol(0)] += 1;
            b[symbol(1)] += 1;
            c[symbol(2)] += 1;
            d[symbol(3)] += 1;
            a[symbol(4)] += 1;
            b[symbol(5)] += 1;
            c[symbol(6)] += 1;
            d[symbol(7)] += 1;
        }
        for symbol in rest {
            a[usize::from(*symbol)] += 1;
        }
    }

    fn finish(self) -> Histogram {
        let [a, b, c, d] = &self.0;
        Histogram {
            counts: (0..ALPHABET).map(|i| a[i] + b[i] + c[i] + d[i]).collect(),
        }
    }
}
