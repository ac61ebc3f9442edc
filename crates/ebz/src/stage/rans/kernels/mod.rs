//! Kernels, one file per instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::WideDecoder;

use super::LANES;
use super::state::{DecoderState, EncoderState};
use crate::error::Result;
use crate::simd::Level;

/// Encodes all segments, last one first; returns the index of the first word.
pub(super) fn encode(
    level: Level,
    encoder: &mut EncoderState,
    places: &[u16],
    states: &mut [u32; LANES],
) -> usize {
    match level {
        // SAFETY: a level proves its instruction set.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(_) => unsafe { avx512::encode(encoder, places, states) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(_) => unsafe { avx2::encode(encoder, places, states) },
        _ => portable::encode(encoder, places, states),
    }
}

/// Decodes one symbol per context; returns whether any of them is the escape.
pub(super) fn decode(
    level: Level,
    decoder: &mut DecoderState,
    words: &[u8],
    contexts: &[u8],
    symbols: &mut [u8],
) -> Result<bool> {
    match level {
        // SAFETY: a level proves its instruction set.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(_) => unsafe { avx512::decode(decoder, words, contexts, symbols) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(_) => unsafe { avx2::decode(decoder, words, contexts, symbols) },
        _ => portable::decode(decoder, words, contexts, symbols),
    }
}
