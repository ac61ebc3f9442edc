//! Encoder of residuals. [`super::decode`] mirrors the steps.

use super::segment::{lanes, lanes_above, split};
use crate::bits::BitWriter;
use crate::bits::varint;
use crate::codec::interp::context::{Activity, CONTEXTS, Contexts, low_bit_thresholds};
use crate::codec::interp::kernel::{Kernel, launch_wide};
use crate::codec::interp::pack::{each, store, zip};
use crate::simd::Level as Isa;
use crate::stage::rans::symbol::{self, DIRECT};
use crate::stage::rans::{self, LANES, place};

/// Encodes residuals.
#[derive(Default)]
pub(in crate::codec::interp) struct Encoder {
    /// Symbols and contexts, up to `end`.
    pub(super) places: Vec<u16>,
    pub(super) end: usize,
    pub(super) gap: u32,
    pub(super) gaps: BitWriter,
    pub(super) low: BitWriter,
    pub(super) extra: BitWriter,
    rans: rans::Encoder,
}

impl Encoder {
    /// Removes everything but keeps the memory.
    pub(in crate::codec::interp) fn clear(&mut self) {
        self.end = 0;
        self.gap = 0;
        for bits in [&mut self.gaps, &mut self.low, &mut self.extra] {
            bits.clear();
        }
    }

    /// Makes room for this many symbols.
    #[inline(always)]
    pub(super) fn reserve(&mut self, symbols: usize) {
        let end = self.end + symbols;
        if self.places.len() < end {
            self.places.resize(end + SPARE_SYMBOLS, 0);
        }
    }

    /// Appends a row (whole segments, zeros in idle lanes).
    pub(in crate::codec::interp) fn push(&mut self, isa: Isa, contexts: &Contexts, row: &[i16]) {
        let encoder = self;
        launch_wide(
            isa,
            Push {
                isa,
                encoder,
                contexts,
                row,
            },
        );
    }

    /// Appends all streams to `out`.
    pub(in crate::codec::interp) fn finish(&mut self, isa: Isa, out: &mut Vec<u8>) {
        self.gaps.put_gamma(self.gap + 1);
        for bits in [&mut self.gaps, &mut self.low, &mut self.extra] {
            varint::write_block(bits.finish(), out);
        }
        self.rans
            .encode(isa, CONTEXTS, &self.places[..self.end], out);
    }

    /// Estimated size in bits so far, without entropy coding.
    pub(in crate::codec::interp) fn estimate(&mut self) -> u64 {
        let bits = [&self.gaps, &self.low, &self.extra];
        let plain: usize = bits.into_iter().map(BitWriter::whole_bytes).sum();
        8 * plain as u64 + self.rans.estimate(CONTEXTS, &self.places[..self.end])
    }
}

/// Symbols to allocate beyond those of a row.
const SPARE_SYMBOLS: usize = 1 << 16;

struct Push<'a> {
    isa: Isa,
    encoder: &'a mut Encoder,
    contexts: &'a Contexts,
    row: &'a [i16],
}

impl Kernel for Push<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            isa,
            encoder,
            contexts,
            row,
        } = self;
        let thresholds = low_bit_thresholds(contexts.kind);
        let indices = contexts.indices.as_chunks::<LANES>().0;
        let sums = contexts.sums.as_chunks::<LANES>().0;
        encoder.reserve(row.len());
        let mut end = encoder.end;
        for (i, residuals) in row.as_chunks::<LANES>().0.iter().enumerate() {
            // 1. Quiet zero segments are only counted.
            if contexts.activity[i] == Activity::Quiet {
                if lanes_above(isa, residuals, 0) == 0 {
                    encoder.gap += 1;
                    continue;
                }
                encoder.gaps.put_gamma(encoder.gap + 1);
                encoder.gap = 0;
            }
            let mut residuals = *residuals;
            // 2. Low bits of large residuals.
            if contexts.activity[i] == Activity::Large {
                split(isa, &mut residuals, &sums[i], thresholds, &mut encoder.low);
            }
            // 3. Symbols, and extra bits of the rare large ones.
            let mut symbols = each(residuals, symbol::narrow);
            for lane in lanes(lanes_above(isa, &residuals, DIRECT)) {
                symbols[lane] = symbol::put_wide(residuals[lane], &mut encoder.extra);
            }
            store(&mut encoder.places, end, zip(indices[i], symbols, place));
            end += LANES;
        }
        encoder.end = end;
    }
}
