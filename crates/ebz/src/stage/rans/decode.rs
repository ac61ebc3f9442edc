//! Bytes to symbols. [`super::encode`] mirrors the steps.

use super::bits::BitReader;
use super::distribution::Distribution;
use super::{ALPHABET, ESCAPE, LANES, LOWEST, PRECISION, TOTAL, kernels};
use crate::error::{Error, Result};
use crate::simd::Level;

/// Where the offset begins in a slot, and where the symbol.
pub(super) const OFFSET: u32 = 16;
pub(super) const SYMBOL: u32 = OFFSET + PRECISION;
const _: () = assert!(ALPHABET == 1 << (32 - SYMBOL));

/// A decoder of one stream; its memory is kept between chunks.
#[derive(Default)]
pub struct Decoder {
    /// An available level.
    level: Option<Level>,
    /// From the lowest bit: frequency (16 bits), offset in its span (10), symbol (6), at
    /// `context * TOTAL + slot`.
    pub(super) slots: Vec<u32>,
    pub(super) states: [u32; LANES],
    /// Bytes of the words read so far.
    pub(super) position: usize,
    rare: Vec<u8>,
    rare_position: usize,
}

impl Decoder {
    /// Reads tables and states from the front of `bytes`; returns the words behind them.
    pub fn begin<'a>(
        &mut self,
        level: Level,
        context_count: usize,
        bytes: &'a [u8],
    ) -> Result<&'a [u8]> {
        self.level = Some(level.or_available());
        let mut rest = bytes;
        let mut take = |count: usize| {
            let (head, tail) = rest
                .split_at_checked(count)
                .ok_or_else(|| Error::truncated("entropy coder header"))?;
            rest = tail;
            Ok::<_, Error>(head)
        };
        // 1. The distribution of each context.
        let bitmap = take(context_count.div_ceil(8))?;
        let used = |context: usize| bitmap[context / 8] >> (context % 8) & 1 == 1;
        let ids = take((0..context_count).filter(|&c| used(c)).count())?;
        let length = take(2)?;
        let bits = take(usize::from(u16::from_le_bytes([length[0], length[1]])))?;
        let mut bits = BitReader::new(bits);
        self.slots.resize((context_count + 1) * TOTAL as usize, 0);
        let mut ids = ids.iter();
        for (context, slots) in self.slots.chunks_exact_mut(TOTAL as usize).enumerate() {
            let distribution = if context == context_count || !used(context) {
                Distribution::CERTAIN
            } else {
                let id = ids.next().copied().unwrap_or(0);
                Distribution::read_from(id, &mut bits)?
            };
            fill(slots, &distribution);
        }
        bits.finish()?;
        // 3. Rare symbols, states; the words are the rest.
        let length = take(4)?;
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
        self.rare.clear();
        self.rare.extend_from_slice(take(length as usize)?);
        self.rare_position = 0;
        bytemuck::bytes_of_mut(&mut self.states).copy_from_slice(take(4 * LANES)?);
        self.position = 0;
        Ok(rest)
    }

    /// Decodes the next segments: one symbol per context.
    ///
    /// Contexts are below the number given to [`Decoder::begin`], or equal to it in idle lanes.
    pub fn decode(&mut self, words: &[u8], contexts: &[u8], symbols: &mut [u8]) -> Result<()> {
        assert!(symbols.len() == contexts.len() && symbols.len().is_multiple_of(LANES));
        // 2. From the first segment to the last.
        let escaped = kernels::decode(
            self.level.unwrap_or(Level::Portable),
            self,
            words,
            contexts,
            symbols,
        )?;
        if escaped {
            for symbol in symbols.iter_mut().filter(|s| **s == ESCAPE) {
                *symbol = *self
                    .rare
                    .get(self.rare_position)
                    .ok_or_else(|| Error::truncated("rare symbols"))?;
                self.rare_position += 1;
            }
        }
        Ok(())
    }

    /// Checks that the stream ended exactly where the symbols did.
    pub fn finish(&self, words: &[u8]) -> Result<()> {
        let done = self.states == [LOWEST; LANES]
            && self.position == words.len()
            && self.rare_position == self.rare.len();
        if done {
            Ok(())
        } else {
            Err(Error::corrupt(
                "the entropy coder did not end where it began",
            ))
        }
    }
}

fn fill(slots: &mut [u32], distribution: &Distribution) {
    let mut rest = slots;
    for (symbol, frequency) in distribution.frequencies().into_iter().enumerate() {
        let frequency = u32::from(frequency);
        let (span, tail) = rest.split_at_mut(frequency as usize);
        let constant = frequency | (symbol as u32) << SYMBOL;
        for (slot, offset) in span.iter_mut().zip(0u32..) {
            *slot = constant | offset << OFFSET;
        }
        rest = tail;
    }
}
