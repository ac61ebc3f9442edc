//! Symbols to bytes. [`super::decode`] mirrors the steps.

use super::bits::BitWriter;
use super::distribution::Distribution;
use super::{ALPHABET, ESCAPE, LANES, LOWEST, kernels};
use crate::simd::Level;

/// Memory of an encoder, kept between chunks.
#[derive(Default)]
pub struct Encoder {
    /// Two tables of counts by place; room for every place there could be.
    counts: [Vec<u32>; 2],
    pub(super) tables: Tables,
    pub(super) words: Vec<u16>,
    pub(super) rare: Vec<u8>,
    bits: BitWriter,
}

/// Places that a 16-bit number can tell apart.
const PLACES: usize = 1 << 16;

/// What coding a symbol needs, by [`place`].
#[derive(Default)]
pub(super) struct Tables {
    /// From the lowest bit: frequency (16 bits), sum of the frequencies before (16), 2³² divided by the
    /// frequency, rounded down (32).
    pub(super) spans: Vec<u64>,
}

/// The place of a symbol of a context in tables: what an encoder is given.
#[inline(always)]
pub fn place(context: u8, symbol: u8) -> u16 {
    u16::from(context) * ALPHABET as u16 + u16::from(symbol)
}

impl Encoder {
    /// Appends the coded symbols to `out`.
    ///
    /// The number of [`place`]s is a multiple of [`LANES`]. Contexts are below `context_count`, or equal
    /// to it in idle lanes, whose symbol must be 0.
    pub fn encode(
        &mut self,
        level: Level,
        context_count: usize,
        places: &[u16],
        out: &mut Vec<u8>,
    ) {
        assert!(places.len().is_multiple_of(LANES) && context_count < 256);
        // 1. Count, choose a distribution per context, write it.
        self.count(context_count, places);
        self.write_tables(context_count, out);
        // 2. Code from the last segment to the first.
        self.words.resize(places.len() + LANES, 0);
        self.rare.clear();
        let mut states = [LOWEST; LANES];
        let start = kernels::encode(level.or_available(), self, places, &mut states);
        // 3. Rare symbols, states, words.
        self.rare.reverse();
        out.extend_from_slice(&(self.rare.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.rare);
        out.extend_from_slice(bytemuck::cast_slice(&states));
        out.extend_from_slice(bytemuck::cast_slice(&self.words[start..]));
    }

    /// About the size in bits of the symbols in [`Encoder::encode`], without tables.
    pub fn estimate(&mut self, context_count: usize, places: &[u16]) -> u64 {
        self.count(context_count, places);
        let counts = by_context(&self.counts[0], context_count).iter();
        let used = counts.filter(|c| c.iter().any(|&n| n > 0));
        used.map(Distribution::estimate).sum()
    }

    fn count(&mut self, context_count: usize, places: &[u16]) {
        let used = (context_count + 1) * ALPHABET;
        let [even, odd] = &mut self.counts;
        for counts in [&mut *even, &mut *odd] {
            counts.resize(PLACES, 0);
            counts[..used].fill(0);
        }
        // Two tables in turn: repeated symbols would wait for each other's increments.
        if let (Some(even), Some(odd)) = (
            even.first_chunk_mut::<PLACES>(),
            odd.first_chunk_mut::<PLACES>(),
        ) {
            for pair in places.as_chunks::<2>().0 {
                even[usize::from(pair[0])] += 1;
                odd[usize::from(pair[1])] += 1;
            }
        }
        for (a, b) in even[..used].iter_mut().zip(&odd[..used]) {
            *a += b;
        }
    }

    fn write_tables(&mut self, context_count: usize, out: &mut Vec<u8>) {
        let spans = &mut self.tables.spans;
        spans.clear();
        let mut push = |distribution: &Distribution| {
            let mut start = 0;
            for frequency in distribution.frequencies() {
                let frequency = u64::from(frequency);
                // One less than 2³² for frequency 1: the coder corrects a quotient too small by 1.
                let reciprocal = (1u64 << 32).checked_div(frequency).unwrap_or(0);
                let reciprocal = reciprocal.min(u64::from(u32::MAX));
                spans.push(frequency | start << 16 | reciprocal << 32);
                start += frequency;
            }
        };
        self.bits.clear();
        let bitmap = out.len();
        out.resize(bitmap + context_count.div_ceil(8), 0);
        let counts = by_context(&self.counts[0], context_count);
        for (context, counts) in counts.iter().enumerate() {
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

fn by_context(counts: &[u32], context_count: usize) -> &[[u32; ALPHABET]] {
    &counts.as_chunks().0[..context_count]
}

impl Tables {
    /// Frequency and start of a symbol; those of the escape, and a new rare symbol, if it has none.
    #[inline(always)]
    pub(super) fn locate(&self, place: u16, rare: &mut Vec<u8>) -> (u32, u32) {
        let mut place = usize::from(place);
        if self.spans[place] & 0xffff == 0 {
            rare.push((place % ALPHABET) as u8);
            place |= usize::from(ESCAPE);
        }
        let span = self.spans[place] as u32;
        (span & 0xffff, span >> 16)
    }
}
