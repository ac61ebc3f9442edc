//! How often each symbol occurs.

use super::Symbol;
use std::marker::PhantomData;

/// Frequencies of the symbols of kind `S`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram<S> {
    counts: Vec<u32>,
    kind: PhantomData<S>,
}

impl<S: Symbol> Histogram<S> {
    /// A histogram from counts; `None` unless there is one for every symbol.
    pub fn from_counts(counts: Vec<u32>) -> Option<Self> {
        (counts.len() == S::ALPHABET).then_some(Self {
            counts,
            kind: PhantomData,
        })
    }

    /// Counts `symbols`.
    pub fn of(symbols: &[S]) -> Self {
        // Several tables, because adjacent symbols are often equal and a counter that was just
        // written is slow to read. For few symbols one table is faster than four to add up.
        let tables = if symbols.len() < S::ALPHABET { 1 } else { 4 };
        let mut counts = vec![0u32; tables * S::ALPHABET];
        let mut quads = &symbols[..0];
        if tables == 4 {
            let (a, rest) = counts.split_at_mut(S::ALPHABET);
            let (b, rest) = rest.split_at_mut(S::ALPHABET);
            let (c, d) = rest.split_at_mut(S::ALPHABET);
            quads = &symbols[..symbols.len() & !3];
            for quad in quads.chunks_exact(4) {
                a[quad[0].index()] += 1;
                b[quad[1].index()] += 1;
                c[quad[2].index()] += 1;
                d[quad[3].index()] += 1;
            }
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                *a += *b + *c + *d;
            }
            counts.truncate(S::ALPHABET);
        }
        for symbol in &symbols[quads.len()..] {
            counts[symbol.index()] += 1;
        }
        Self {
            counts,
            kind: PhantomData,
        }
    }

    /// Adds the frequencies of other symbols.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// How often each symbol occurs.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The same without the symbols behind the last one that occurs.
    pub fn occurring(&self) -> &[u32] {
        let last = self.counts.iter().rposition(|&c| c > 0);
        &self.counts[..last.map_or(0, |last| last + 1)]
    }

    /// Number of symbols counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&c| u64::from(c)).sum()
    }
}
