//! Decoder. [`super::encode`] mirrors its steps.

use super::distribution::Distribution;
use super::state::{DecoderState, OFFSET, SYMBOL};
use super::{CONTEXT_GROUP, ESCAPE, LANES, LOWEST, TOTAL, kernels};
use crate::bits::BitReader;
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::simd::Level;

/// A decoder of one stream; its buffers are reused between chunks.
#[derive(Default)]
pub struct Decoder {
    level: Option<Level>,
    pub(super) state: DecoderState,
    /// Current distribution of each context: most tables are the same as in the previous chunk.
    filled: Vec<Option<Distribution>>,
    rare: Vec<u8>,
    rare_position: usize,
}

impl Decoder {
    /// Reads tables and states from the front of `bytes`; returns the words after them.
    pub fn begin<'a>(
        &mut self,
        level: Level,
        context_count: usize,
        bytes: &'a [u8],
    ) -> Result<&'a [u8]> {
        self.level = Some(level);
        self.state.position = 0;
        self.state.states = [LOWEST; LANES];
        self.rare.clear();
        self.rare_position = 0;
        let slots = &mut self.state.slots;
        slots.resize((context_count + 1) * TOTAL as usize, 0);
        self.filled.resize(context_count + 1, None);
        let slots = slots.chunks_exact_mut(TOTAL as usize);
        let mut tables = slots.zip(&mut self.filled);
        if bytes.is_empty() {
            // Nothing was encoded, and nothing will be decoded.
            tables.for_each(|table| fill(table, Distribution::CERTAIN));
            return Ok(bytes);
        }
        let mut rest = bytes;
        let mut bits = BitReader::new(varint::read_block(&mut rest)?);
        // 1. The distribution of each context.
        let mut any = false;
        for (context, table) in tables.by_ref().take(context_count).enumerate() {
            if context % CONTEXT_GROUP == 0 {
                any = bits.get(1) == 1;
            }
            let distribution = if any && bits.get(1) == 1 {
                let id = bits.get(8) as u8;
                Distribution::read_from(id, &mut bits)?
            } else {
                Distribution::CERTAIN
            };
            fill(table, distribution);
        }
        tables.for_each(|table| fill(table, Distribution::CERTAIN));
        // 3. States, rare symbols; the words are the rest.
        for state in &mut self.state.states {
            let length = bits.get(6);
            let below = length.saturating_sub(1);
            if length > 32 {
                return Err(Error::corrupt("a rANS state exceeds 32 bits"));
            }
            let above = bits.get(below) | u32::from(length > 0) << below;
            *state = LOWEST
                .checked_add(above)
                .ok_or_else(|| Error::corrupt("a rANS state exceeds 32 bits"))?;
        }
        bits.finish()?;
        self.rare.extend_from_slice(varint::read_block(&mut rest)?);
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
            &mut self.state,
            words,
            contexts,
            symbols,
        )?;
        match escaped {
            true => self.replace_escapes(symbols),
            false => Ok(()),
        }
    }

    /// Replaces escapes by rare symbols.
    pub(super) fn replace_escapes(&mut self, symbols: &mut [u8]) -> Result<()> {
        for symbol in symbols.iter_mut().filter(|s| **s == ESCAPE) {
            *symbol = *self
                .rare
                .get(self.rare_position)
                .ok_or_else(|| Error::truncated("the list of rare symbols is cut off"))?;
            self.rare_position += 1;
        }
        Ok(())
    }

    /// Checks that the stream was consumed completely.
    pub fn finish(&self, words: &[u8]) -> Result<()> {
        let done = self.state.states == [LOWEST; LANES]
            && self.state.position == words.len()
            && self.rare_position == self.rare.len();
        if done {
            Ok(())
        } else {
            Err(Error::corrupt("a rANS stream does not match its symbols"))
        }
    }
}

/// Fills the slots of a context, unless they are up to date.
fn fill((slots, filled): (&mut [u32], &mut Option<Distribution>), distribution: Distribution) {
    if *filled == Some(distribution) {
        return;
    }
    *filled = Some(distribution);
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
