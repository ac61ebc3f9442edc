//! The coding loops, one file per instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::{Decoder, Encoder, LANES};
use crate::error::Result;
use crate::simd::{Isa, Level};

/// Codes all segments, the last one first; returns the index of the first word.
pub(super) fn encode(
    isa: Isa,
    encoder: &mut Encoder,
    symbols: &[u8],
    contexts: &[u8],
    states: &mut [u32; LANES],
) -> usize {
    match isa.level() {
        // SAFETY: an `Isa` holds a level only after the machine was seen to have it.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::encode(encoder, symbols, contexts, states) },
        _ => portable::encode(encoder, symbols, contexts, states),
    }
}

/// Decodes one symbol per context; says whether any of them is the escape.
pub(super) fn decode(
    isa: Isa,
    decoder: &mut Decoder,
    words: &[u8],
    contexts: &[u8],
    symbols: &mut [u8],
) -> Result<bool> {
    match isa.level() {
        // SAFETY: an `Isa` holds a level only after the machine was seen to have it.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::decode(decoder, words, contexts, symbols) },
        _ => portable::decode(decoder, words, contexts, symbols),
    }
}
