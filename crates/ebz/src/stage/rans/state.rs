//! State of the kernels: tables, lanes and words.

use super::{ALPHABET, ESCAPE, LANES, PLACES, PRECISION};
use bytemuck::Zeroable;

/// Bit positions of the offset and of the symbol in a slot.
pub(super) const OFFSET: u32 = 16;
pub(super) const SYMBOL: u32 = OFFSET + PRECISION;
const _: () = assert!(ALPHABET == 1 << (32 - SYMBOL));

/// State of the encoder kernels.
#[derive(Default)]
pub(super) struct EncoderState {
    pub(super) tables: Tables,
    pub(super) words: Vec<u16>,
    /// Symbols without a frequency, last one first.
    pub(super) rare: Vec<u8>,
}

/// A number for each [`super::place`]. Memory that no context needs is never touched.
pub(super) struct ByPlace<T>(pub(super) Box<[T; PLACES]>);

impl<T: Zeroable> Default for ByPlace<T> {
    fn default() -> Self {
        Self(bytemuck::zeroed_box())
    }
}

/// Encoder tables.
#[derive(Default)]
pub(super) struct Tables {
    /// From the lowest bit: frequency (16 bits), sum of the preceding frequencies (16), 2³² divided by
    /// the frequency, rounded down (32).
    spans: ByPlace<u64>,
}

impl Tables {
    /// Sets the spans of a context.
    pub(super) fn set(&mut self, context: usize, spans: &[u64; ALPHABET]) {
        self.spans.0.as_chunks_mut().0[context] = *spans;
    }

    /// The spans of all places.
    #[inline(always)]
    pub(super) fn spans(&self) -> &[u64; PLACES] {
        &self.spans.0
    }

    /// Frequency and start of a symbol. A symbol without a frequency is appended to `rare` and replaced
    /// by the escape.
    #[inline(always)]
    pub(super) fn locate(&self, place: u16, rare: &mut Vec<u8>) -> (u32, u32) {
        let spans = self.spans();
        let mut place = usize::from(place);
        if spans[place] & 0xffff == 0 {
            rare.push((place % ALPHABET) as u8);
            place |= usize::from(ESCAPE);
        }
        let span = spans[place] as u32;
        (span & 0xffff, span >> 16)
    }
}

/// State of the decoder kernels.
#[derive(Default)]
pub(super) struct DecoderState {
    /// From the lowest bit: frequency (16 bits), offset in its span (10), symbol (6), at
    /// `context * TOTAL + slot`.
    pub(super) slots: Vec<u32>,
    pub(super) states: [u32; LANES],
    /// Bytes of `words` consumed so far.
    pub(super) position: usize,
}
