//! Symbols to bytes. [`super::decode`] mirrors the steps.

use super::bits::BitWriter;
use super::distribution::Distribution;
use super::{ALPHABET, ESCAPE, LANES, LOWEST, kernels};
use crate::simd::Level;

/// Memory of an encoder, kept between chunks.
#[derive(Default)]
pub struct Encoder {
    counts: Vec<[u32; ALPHABET]>,
    pub(super) tables: Tables,
    pub(super) words: Vec<u16>,
    pub(super) rare: Vec<u8>,
    bits: BitWriter,
}

/// What coding a symbol needs, at `context * ALPHABET + symbol`.
#[derive(Default)]
pub(super) struct Tables {
    /// Frequency in the low half, sum of the frequencies before in the high half.
    pub(super) spans: Vec<u32>,
    /// 2³² divided by the frequency, rounded down.
    pub(super) reciprocals: Vec<u32>,
}

impl Encoder {
    /// Appends the coded symbols to `out`.
    ///
    /// `symbols` and `contexts` have the same length, a multiple of [`LANES`]. Contexts are below
    /// `context_count`, or equal to it in idle lanes, whose symbol must be 0.
    pub fn encode(
        &mut self,
        level: Level,
        context_count: usize,
        symbols: &[u8],
        contexts: &[u8],
        out: &mut Vec<u8>,
    ) {
        assert!(symbols.len() == contexts.len() && symbols.len().is_multiple_of(LANES));
        assert!(context_count < 256);
        // 1. Count, choose a distribution per context, write it.
        self.count(context_count, symbols, contexts);
        self.write_tables(context_count, out);
        // 2. Code from the last segment to the first.
        self.words.resize(symbols.len() + LANES, 0);
        self.rare.clear();
        let mut states = [LOWEST; LANES];
        let start = kernels::encode(level.or_available(), self, symbols, contexts, &mut states);
        // 3. Rare symbols, states, words.
        self.rare.reverse();
        out.extend_from_slice(&(self.rare.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.rare);
        out.extend_from_slice(bytemuck::cast_slice(&states));
        out.extend_from_slice(bytemuck::cast_slice(&self.words[start..]));
    }

    /// About the size in bits of the symbols in [`Encoder::encode`], without tables.
    pub fn estimate(&mut self, context_count: usize, symbols: &[u8], contexts: &[u8]) -> u64 {
        self.count(context_count, symbols, contexts);
        let used = self.counts.iter().filter(|c| c.iter().any(|&n| n > 0));
        used.map(Distribution::estimate).sum()
    }

    fn count(&mut self, context_count: usize, symbols: &[u8], contexts: &[u8]) {
        self.counts.clear();
        self.counts.resize(2 * (context_count + 1), [0; ALPHABET]);
        let (even, odd) = self.counts.split_at_mut(context_count + 1);
        // Two tables in turn: repeated symbols would wait for each other's increments.
        for (s, c) in symbols.chunks_exact(2).zip(contexts.chunks_exact(2)) {
            even[usize::from(c[0])][usize::from(s[0]) % ALPHABET] += 1;
            odd[usize::from(c[1])][usize::from(s[1]) % ALPHABET] += 1;
        }
        for (a, b) in even.as_flattened_mut().iter_mut().zip(odd.as_flattened()) {
            *a += b;
        }
        self.counts.truncate(context_count);
    }

    fn write_tables(&mut self, context_count: usize, out: &mut Vec<u8>) {
        let Tables { spans, reciprocals } = &mut self.tables;
        spans.clear();
        reciprocals.clear();
        let mut push = |distribution: &Distribution| {
            let mut start = 0;
            for frequency in distribution.frequencies() {
                let frequency = u32::from(frequency);
                spans.push(frequency | start << 16);
                // One less than 2³² for frequency 1: the coder corrects a quotient too small by 1.
                let reciprocal = (1u64 << 32).checked_div(u64::from(frequency)).unwrap_or(0);
                reciprocals.push(u32::try_from(reciprocal).unwrap_or(u32::MAX));
                start += frequency;
            }
        };
        self.bits.clear();
        let bitmap = out.len();
        out.resize(bitmap + context_count.div_ceil(8), 0);
        for (context, counts) in self.counts.iter().enumerate() {
            if counts.iter().all(|&c| c == 0) {
                push(&Distribution::CERTAIN);
                continue;
            }
            out[bitmap + context / 8] |= 1 << (context % 8);
            let (id, distribution) = Distribution::choose(counts);
            out.push(id);
            distribution.write_to(id, &mut self.bits);
            push(&distribution);
        }
        push(&Distribution::CERTAIN);
        let bits = self.bits.finish();
        out.extend_from_slice(&(bits.len() as u16).to_le_bytes());
        out.extend_from_slice(bits);
    }
}

impl Tables {
    /// Index of a symbol; its escape and a new rare symbol if it has no frequency.
    #[inline(always)]
    pub(super) fn locate(&self, context: u8, symbol: u8, rare: &mut Vec<u8>) -> usize {
        let index = usize::from(context) * ALPHABET + usize::from(symbol);
        if self.spans[index] & 0xffff > 0 {
            return index;
        }
        rare.push(symbol);
        index - usize::from(symbol) + usize::from(ESCAPE)
    }
}
