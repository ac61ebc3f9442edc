//! Encoder. [`super::decode`] mirrors its steps.

use super::distribution::Distribution;
use super::state::{ByPlace, EncoderState};
use super::{ALPHABET, CONTEXT_GROUP, LANES, LOWEST, TOTAL, kernels};
use crate::bits::BitWriter;
use crate::bits::varint;
use crate::simd::Level;

/// An encoder; its buffers are reused between chunks.
#[derive(Default)]
pub struct Encoder {
    /// Counts, indexed by place.
    totals: Vec<u32>,
    /// The same in four parts.
    counts: [ByPlace<u16>; 4],
    state: EncoderState,
    /// Tables and final states.
    bits: BitWriter,
}

/// The table index of a symbol in a context: the input of an encoder.
#[inline(always)]
pub fn place(context: u8, symbol: u8) -> u16 {
    u16::from(context) * ALPHABET as u16 + u16::from(symbol)
}

impl Encoder {
    /// Appends the encoded symbols to `out`; nothing if there are none.
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
        if places.is_empty() {
            return;
        }
        // 1. Count, choose a distribution per context, write it.
        self.count(context_count, places);
        self.bits.clear();
        self.write_tables(context_count);
        // 2. Encode from the last segment to the first.
        let state = &mut self.state;
        state.words.resize(places.len() + LANES, 0);
        state.rare.clear();
        let mut states = [LOWEST; LANES];
        let start = kernels::encode(level, state, places, &mut states);
        // 3. States, rare symbols, words.
        for state in states {
            // Relative to LOWEST, so that nearly unused lanes take few bits.
            let above = state - LOWEST;
            let length = 32 - above.leading_zeros();
            self.bits.put(length, 6);
            let below = length.saturating_sub(1);
            self.bits.put(above & ((1 << below) - 1), below);
        }
        varint::write_block(self.bits.finish(), out);
        state.rare.reverse();
        varint::write_block(&state.rare, out);
        out.extend_from_slice(bytemuck::cast_slice(&state.words[start..]));
    }

    /// Estimates the output size of [`Encoder::encode`] in bits, without tables.
    pub fn estimate(&mut self, context_count: usize, places: &[u16]) -> u64 {
        self.count(context_count, places);
        let counts = by_context(&self.totals, context_count).iter();
        let used = counts.filter(|c| c.iter().any(|&n| n > 0));
        used.map(Distribution::estimate).sum()
    }

    fn count(&mut self, context_count: usize, places: &[u16]) {
        let used = (context_count + 1) * ALPHABET;
        self.totals.clear();
        self.totals.resize(used, 0);
        // Four tables in turn: increments of the same counter wait for each other.
        let [a, b, c, d] = self.counts.each_mut().map(|counts| &mut *counts.0);
        // Short counters: more of them fit in the cache.
        for places in places.chunks(4 * usize::from(u16::MAX)) {
            for table in [&mut *a, b, c, d] {
                table[..used].fill(0);
            }
            for four in places.as_chunks::<4>().0 {
                a[usize::from(four[0])] += 1;
                b[usize::from(four[1])] += 1;
                c[usize::from(four[2])] += 1;
                d[usize::from(four[3])] += 1;
            }
            for table in [&*a, b, c, d] {
                for (total, &count) in self.totals.iter_mut().zip(&table[..used]) {
                    *total += u32::from(count);
                }
            }
        }
    }

    /// Writes whether each group of contexts is used, then which contexts, and their distributions.
    fn write_tables(&mut self, context_count: usize) {
        let tables = &mut self.state.tables;
        let used = |counts: &[u32; ALPHABET]| counts.iter().any(|&c| c > 0);
        let counts = by_context(&self.totals, context_count);
        for (group, counts) in counts.chunks(CONTEXT_GROUP).enumerate() {
            let any = counts.iter().any(used);
            self.bits.put(u32::from(any), 1);
            for (context, counts) in counts.iter().enumerate().filter(|_| any) {
                let used = used(counts);
                self.bits.put(u32::from(used), 1);
                if used {
                    let (id, distribution) = Distribution::choose(counts);
                    self.bits.put(u32::from(id), 8);
                    distribution.write_to(id, &mut self.bits);
                    tables.set(group * CONTEXT_GROUP + context, &spans_of(&distribution));
                }
            }
        }
        tables.set(context_count, &spans_of(&Distribution::CERTAIN));
    }
}

/// 2³² divided by each frequency, minus 1 for frequency 1: kernels correct quotients too small by 1.
const RECIPROCALS: [u32; TOTAL as usize + 1] = {
    let mut table = [0; TOTAL as usize + 1];
    table[1] = u32::MAX;
    let mut frequency = 2;
    while frequency < table.len() {
        table[frequency] = ((1 << 32) / frequency as u64) as u32;
        frequency += 1;
    }
    table
};

/// See [`super::state::Tables`].
fn spans_of(distribution: &Distribution) -> [u64; ALPHABET] {
    let mut start = 0;
    distribution.frequencies().map(|frequency| {
        let reciprocal = u64::from(RECIPROCALS[usize::from(frequency)]);
        let frequency = u64::from(frequency);
        let span = frequency | start << 16 | reciprocal << 32;
        start += frequency;
        span
    })
}

fn by_context(counts: &[u32], context_count: usize) -> &[[u32; ALPHABET]] {
    &counts.as_chunks().0[..context_count]
}
