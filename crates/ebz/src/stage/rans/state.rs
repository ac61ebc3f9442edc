//! What the coding loops work on: tables, lanes and words.

use super::{ALPHABET, ESCAPE, LANES, PRECISION};

/// Where the offset begins in a slot, and where the symbol.
pub(super) const OFFSET: u32 = 16;
pub(super) const SYMBOL: u32 = OFFSET + PRECISION;
const _: () = assert!(ALPHABET == 1 << (32 - SYMBOL));

/// What the loops of an encoder work on.
#[derive(Default)]
pub(super) struct EncoderState {
    pub(super) tables: Tables,
    pub(super) words: Vec<u16>,
    /// Symbols without a frequency, the last one first.
    pub(super) rare: Vec<u8>,
}

/// What coding a symbol needs, by [`super::place`].
#[derive(Default)]
pub(super) struct Tables {
    /// From the lowest bit: frequency (16 bits), sum of the frequencies before (16), 2³² divided by the
    /// frequency, rounded down (32).
    pub(super) spans: Vec<u64>,
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

/// What the loops of a decoder work on.
#[derive(Default)]
pub(super) struct DecoderState {
    /// From the lowest bit: frequency (16 bits), offset in its span (10), symbol (6), at
    /// `context * TOTAL + slot`.
    pub(super) slots: Vec<u32>,
    pub(super) states: [u32; LANES],
    /// Bytes of the words read so far.
    pub(super) position: usize,
}
