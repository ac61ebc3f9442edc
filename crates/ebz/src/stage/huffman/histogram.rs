//! How often each symbol occurs.

use super::{PAIRED, Symbol};
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
        let mut counts = vec![0u32; S::ALPHABET];
        let mut rest = symbols;
        if S::HAS_PAIRS && symbols.len() >= MANY {
            rest = count_pairs(symbols, &mut counts);
        } else if symbols.len() >= 4 * S::ALPHABET {
            rest = count_in_turns(symbols, &mut counts);
        }
        for symbol in rest {
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

/// For more symbols than this it pays to count pairs.
const MANY: usize = 1 << 15;

/// Counts in several tables, because adjacent symbols are often equal and a counter that was just
/// written is slow to read. Returns the symbols left over.
fn count_in_turns<'a, S: Symbol>(symbols: &'a [S], counts: &mut [u32]) -> &'a [S] {
    let mut others = vec![0u32; 3 * S::ALPHABET];
    let (b, rest) = others.split_at_mut(S::ALPHABET);
    let (c, d) = rest.split_at_mut(S::ALPHABET);
    let (quads, rest) = symbols.as_chunks::<4>();
    for quad in quads {
        counts[quad[0].index()] += 1;
        b[quad[1].index()] += 1;
        c[quad[2].index()] += 1;
        d[quad[3].index()] += 1;
    }
    for (((a, b), c), d) in counts.iter_mut().zip(b).zip(c).zip(d) {
        *a += *b + *c + *d;
    }
    rest
}

/// Counts pairs of symbols below [`PAIRED`], and adds up what that says about symbols. Returns the
/// symbols left over.
fn count_pairs<'a, S: Symbol>(symbols: &'a [S], counts: &mut [u32]) -> &'a [S] {
    let mut tables = vec![[[0u32; PAIRED]; PAIRED]; 2];
    let (octets, rest) = symbols.as_chunks::<8>();
    if let [even, odd] = &mut tables[..] {
        let (even, odd) = (even.as_flattened_mut(), odd.as_flattened_mut());
        for octet in octets {
            match S::pairs(octet) {
                Some(pairs) => {
                    let [a, b, c, d] = pairs.map(|pair| pair % (PAIRED * PAIRED));
                    even[a] += 1;
                    odd[b] += 1;
                    even[c] += 1;
                    odd[d] += 1;
                }
                None => octet.iter().for_each(|s| counts[s.index()] += 1),
            }
        }
    }
    // A pair is a + 64 b.
    for (b, row) in tables.iter().flat_map(|table| table.iter().enumerate()) {
        counts[b] += row.iter().sum::<u32>();
        for (count, pairs) in counts.iter_mut().zip(row) {
            *count += pairs;
        }
    }
    rest
}
