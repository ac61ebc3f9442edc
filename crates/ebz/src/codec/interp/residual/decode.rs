//! Decoder of residuals. [`super::encode`] mirrors the steps.

use super::segment::{lanes, lanes_above, merge};
use crate::bits::BitReader;
use crate::bits::varint;
use crate::codec::interp::context::{Activity, CONTEXTS, Contexts, low_bit_thresholds, magnitude};
use crate::codec::interp::kernel::{Kernel, launch_wide};
use crate::codec::interp::pack::each;
use crate::error::{Error, Result};
use crate::simd::Level as Isa;
use crate::stage::rans::symbol::{self, DIRECT};
use crate::stage::rans::{self, LANES};

/// Scratch buffers of a decoder, reused between chunks.
#[derive(Default)]
pub(in crate::codec::interp) struct Memory {
    pub(super) rans: rans::Decoder,
    indices: Vec<u8>,
    symbols: Vec<u8>,
    /// Indices of the coded segments of the row.
    coded: Vec<usize>,
}

/// Decodes residuals.
pub(in crate::codec::interp) struct Decoder<'a> {
    pub(super) memory: &'a mut Memory,
    pub(super) gap: u32,
    pub(super) gaps: BitReader<'a>,
    pub(super) low: BitReader<'a>,
    pub(super) extra: BitReader<'a>,
    pub(super) words: &'a [u8],
}

/// A row to decode (whole segments).
pub(in crate::codec::interp) struct ResidualRow<'a> {
    pub(in crate::codec::interp) residuals: &'a mut [i16],
    /// Their magnitudes, which later rows depend on.
    pub(in crate::codec::interp) magnitudes: &'a mut [u8],
}

impl<'a> Decoder<'a> {
    /// Parses the output of the encoder.
    pub(in crate::codec::interp) fn new(
        isa: Isa,
        memory: &'a mut Memory,
        mut bytes: &'a [u8],
    ) -> Result<Self> {
        let mut gaps = BitReader::new(varint::read_block(&mut bytes)?);
        let low = BitReader::new(varint::read_block(&mut bytes)?);
        let extra = BitReader::new(varint::read_block(&mut bytes)?);
        let words = memory.rans.begin(isa, CONTEXTS, bytes)?;
        Ok(Self {
            memory,
            gap: gaps.get_gamma()? - 1,
            gaps,
            low,
            extra,
            words,
        })
    }

    /// Decodes the next row.
    pub(in crate::codec::interp) fn pull(
        &mut self,
        isa: Isa,
        contexts: &Contexts,
        row: ResidualRow<'_>,
    ) -> Result<()> {
        // 1. Which segments are coded.
        let memory = &mut *self.memory;
        let mut indices = &contexts.indices;
        memory.coded.clear();
        if contexts.activity.contains(&Activity::Quiet) {
            memory.indices.clear();
            for (i, segment) in contexts.indices.as_chunks::<LANES>().0.iter().enumerate() {
                if contexts.activity[i] == Activity::Quiet {
                    if self.gap > 0 {
                        self.gap -= 1;
                        row.residuals.as_chunks_mut::<LANES>().0[i] = [0; LANES];
                        row.magnitudes.as_chunks_mut::<LANES>().0[i] = [0; LANES];
                        continue;
                    }
                    self.gap = self.gaps.get_gamma()? - 1;
                }
                memory.indices.extend_from_slice(segment);
                memory.coded.push(i);
            }
            indices = &memory.indices;
        } else {
            memory.coded.extend(0..contexts.activity.len());
        }
        if memory.coded.is_empty() {
            return Ok(());
        }
        // 3. Symbols.
        memory.symbols.resize(indices.len(), 0);
        memory
            .rans
            .decode(self.words, indices, &mut memory.symbols)?;
        let valid = launch_wide(
            isa,
            Expand {
                isa,
                contexts,
                coded: &memory.coded,
                symbols: &memory.symbols,
                low: &mut self.low,
                extra: &mut self.extra,
                row,
            },
        );
        if valid {
            Ok(())
        } else {
            Err(Error::corrupt("invalid residual symbol"))
        }
    }

    /// An error if data is left over.
    pub(in crate::codec::interp) fn finish(&self) -> Result<()> {
        if self.gap > 0 {
            return Err(Error::corrupt(
                "unread quiet segments at the end of a chunk",
            ));
        }
        self.gaps.finish()?;
        self.low.finish()?;
        self.extra.finish()?;
        self.memory.rans.finish(self.words)
    }
}

struct Expand<'a, 'b> {
    isa: Isa,
    contexts: &'a Contexts,
    coded: &'a [usize],
    symbols: &'a [u8],
    low: &'a mut BitReader<'b>,
    extra: &'a mut BitReader<'b>,
    row: ResidualRow<'a>,
}

impl Kernel for Expand<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let contexts = self.contexts;
        let thresholds = low_bit_thresholds(contexts.kind);
        let sums = contexts.sums.as_chunks::<LANES>().0;
        let rows = self.row.residuals.as_chunks_mut::<LANES>().0;
        let magnitudes = self.row.magnitudes.as_chunks_mut::<LANES>().0;
        for (&i, symbols) in self.coded.iter().zip(self.symbols.as_chunks::<LANES>().0) {
            let mut residuals = each(*symbols, symbol::widen);
            for lane in lanes(lanes_above(self.isa, &residuals, DIRECT)) {
                match symbol::get_wide(symbols[lane], self.extra) {
                    Some(value) => residuals[lane] = value,
                    None => return false,
                }
            }
            // 2. Low bits of large residuals.
            if contexts.activity[i] == Activity::Large {
                merge(self.isa, &mut residuals, &sums[i], thresholds, self.low);
            }
            rows[i] = residuals;
            magnitudes[i] = each(residuals, magnitude);
        }
        true
    }
}
