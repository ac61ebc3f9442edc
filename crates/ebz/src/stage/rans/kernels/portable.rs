//! Portable kernels, lane by lane.

use crate::error::{Error, Result};
use crate::stage::rans::state::{DecoderState, EncoderState, OFFSET, SYMBOL};
use crate::stage::rans::{ESCAPE, LANES, LOWEST, PRECISION, TOTAL};

/// See [`super::encode`].
pub(super) fn encode(
    encoder: &mut EncoderState,
    places: &[u16],
    states: &mut [u32; LANES],
) -> usize {
    let EncoderState {
        tables,
        words,
        rare,
    } = encoder;
    let mut first = words.len();
    for (at, &place) in places.iter().enumerate().rev() {
        let state = &mut states[at % LANES];
        let (frequency, start) = tables.locate(place, rare);
        if *state >> (32 - PRECISION) >= frequency {
            first -= 1;
            words[first] = *state as u16;
            *state >>= 16;
        }
        *state = ((*state / frequency) << PRECISION) + *state % frequency + start;
    }
    first
}

/// See [`super::decode`].
pub(super) fn decode(
    decoder: &mut DecoderState,
    words: &[u8],
    contexts: &[u8],
    symbols: &mut [u8],
) -> Result<bool> {
    let mut escaped = false;
    for (at, (symbol, &context)) in symbols.iter_mut().zip(contexts).enumerate() {
        let state = &mut decoder.states[at % LANES];
        let slot = usize::from(context) * TOTAL as usize + (*state % TOTAL) as usize;
        let entry = decoder.slots[slot];
        *symbol = (entry >> SYMBOL) as u8;
        escaped |= *symbol == ESCAPE;
        *state = (entry & 0xffff) * (*state >> PRECISION) + (entry >> OFFSET) % TOTAL;
        if *state < LOWEST {
            let word = words
                .get(decoder.position..decoder.position + 2)
                .ok_or_else(|| Error::truncated("a rANS stream is cut off"))?;
            *state = *state << 16 | u32::from(u16::from_le_bytes([word[0], word[1]]));
            decoder.position += 2;
        }
    }
    Ok(escaped)
}
