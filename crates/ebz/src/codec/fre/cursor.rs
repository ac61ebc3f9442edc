//! Decodes the words of a lane one by one.

use super::grid::Pattern;
use super::order::Order;
use super::word::{self, MAX_WORD_BITS};

/// Decoder state of a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor<P> {
    /// Position of the next bit, relative to the start of all lanes.
    pub at: usize,
    /// The previous value.
    pub previous: P,
}

impl<P: Pattern> Cursor<P> {
    /// The next value. Bits beyond the end of `streams` are zero.
    #[inline(always)]
    pub fn next(&mut self, streams: &[u8], kept: u32, order: impl Order) -> P {
        let rest = streams.get(self.at / 8..).unwrap_or_default();
        let window = match rest.first_chunk() {
            Some(bytes) => u128::from_be_bytes(*bytes),
            None => {
                let mut bytes = [0; 16];
                bytes[..rest.len()].copy_from_slice(rest);
                u128::from_be_bytes(bytes)
            }
        };
        let (pattern, length) = word::decode(window << (self.at % 8), self.previous, kept, order);
        self.at += length as usize;
        self.previous = pattern;
        pattern
    }

    /// The next values.
    pub fn read(&mut self, streams: &[u8], kept: u32, order: impl Order, out: &mut [P]) {
        for value in out {
            *value = self.next(streams, kept, order);
        }
    }
}

/// A window fits any word after up to 7 other bits.
const _: () = assert!(MAX_WORD_BITS + 7 <= 128);
