//! Reads the words of a lane one by one.

use super::grid::Pattern;
use super::word::{self, LONGEST};

/// A lane while it is decoded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor<P> {
    /// Its next bit, from the start of all lanes.
    pub at: usize,
    /// The last value.
    pub previous: P,
}

impl<P: Pattern> Cursor<P> {
    /// The next value. Behind the end of `streams` all bits are zero.
    #[inline(always)]
    pub fn next(&mut self, streams: &[u8], kept: u32) -> P {
        let rest = streams.get(self.at / 8..).unwrap_or_default();
        let window = match rest.first_chunk() {
            Some(bytes) => u128::from_be_bytes(*bytes),
            None => {
                let mut bytes = [0; 16];
                bytes[..rest.len()].copy_from_slice(rest);
                u128::from_be_bytes(bytes)
            }
        };
        let (pattern, length) = word::decode(window << (self.at % 8), self.previous, kept);
        self.at += length as usize;
        self.previous = pattern;
        pattern
    }
}

/// A window holds any word behind up to 7 other bits.
const _: () = assert!(LONGEST + 7 <= 128);
