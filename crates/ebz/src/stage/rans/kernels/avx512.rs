//! AVX-512 kernels: 16 lanes per vector.

use super::portable;
use crate::error::Result;
use crate::stage::rans::state::{DecoderState, EncoderState, OFFSET, SYMBOL};
use crate::stage::rans::{ALPHABET, Decoder, ESCAPE, LANES, PLACES, PRECISION, TOTAL};
use std::arch::x86_64::*;

/// Lanes per vector.
const WIDTH: usize = 16;

#[target_feature(enable = "avx512f")]
fn load(states: &[u32; LANES], group: usize) -> __m512i {
    let part: &[u32; WIDTH] = &states.as_chunks().0[group];
    // SAFETY: the reference is to 64 readable bytes.
    unsafe { _mm512_loadu_si512(part.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn store(states: &mut [u32; LANES], group: usize, value: __m512i) {
    let part: &mut [u32; WIDTH] = &mut states.as_chunks_mut().0[group];
    // SAFETY: the reference is to 64 writable bytes.
    unsafe { _mm512_storeu_si512(part.as_mut_ptr().cast(), value) }
}

/// The spans of every second lane. Gather instructions take longer.
#[inline]
#[target_feature(enable = "avx512f")]
fn every_second(spans: &[u64; PLACES], places: &[u16; WIDTH], from: usize) -> __m512i {
    let span = |lane: usize| spans[usize::from(places[lane])].cast_signed();
    _mm512_setr_epi64(
        span(from),
        span(from + 2),
        span(from + 4),
        span(from + 6),
        span(from + 8),
        span(from + 10),
        span(from + 12),
        span(from + 14),
    )
}

/// The spans of the even and of the odd lanes, and the low halves of all.
#[inline]
#[target_feature(enable = "avx512f")]
fn look_up(spans: &[u64; PLACES], places: &[u16; WIDTH]) -> [__m512i; 3] {
    let even = every_second(spans, places, 0);
    let odd = every_second(spans, places, 1);
    let low = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64::<32>(odd));
    [even, odd, low]
}

/// See [`super::encode`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
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
    let low_half = _mm512_set1_epi32(0xffff);
    let one = _mm512_set1_epi32(1);
    assert!(words.len() >= places.len() + WIDTH);
    let mut first = words.len();
    let spans = tables.spans();
    let mut x: [__m512i; LANES / WIDTH] = std::array::from_fn(|group| load(states, group));
    for places in places.as_chunks::<LANES>().0.iter().rev() {
        for group in (0..LANES / WIDTH).rev() {
            let places: &[u16; WIDTH] = &places.as_chunks().0[group];
            let [mut even, mut odd, mut span] = look_up(spans, places);
            let mut escaped = _mm512_testn_epi32_mask(span, low_half);
            if escaped != 0 {
                // Rare symbols become escapes.
                let mut places = *places;
                while escaped != 0 {
                    let lane = 15 - escaped.leading_zeros();
                    let place = &mut places[lane as usize];
                    rare.push((*place % ALPHABET as u16) as u8);
                    *place |= u16::from(ESCAPE);
                    escaped &= !(1 << lane);
                }
                [even, odd, span] = look_up(spans, &places);
            }
            let frequency = _mm512_and_si512(span, low_half);
            // Full states emit their low halves.
            let top = _mm512_srli_epi32::<{ 32 - PRECISION }>(x[group]);
            let full = _mm512_cmpge_epu32_mask(top, frequency);
            let count = full.count_ones() as usize;
            let given = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(full, x[group]));
            first -= count;
            // SAFETY: at most one word per symbol was written from the end, so by the assertion `first`
            // is within `words`, and only `count` words are stored.
            unsafe {
                let to = words.as_mut_ptr().add(first).cast();
                _mm256_mask_storeu_epi16(to, ((1u32 << count) - 1) as u16, given);
            }
            let state = _mm512_mask_srli_epi32::<16>(x[group], full, x[group]);
            // state / frequency with the reciprocal; the quotient may be too small by one.
            let even = _mm512_mul_epu32(state, _mm512_srli_epi64::<32>(even));
            let odd =
                _mm512_mul_epu32(_mm512_srli_epi64::<32>(state), _mm512_srli_epi64::<32>(odd));
            let quotient = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64::<32>(even), odd);
            let remainder = _mm512_sub_epi32(state, _mm512_mullo_epi32(quotient, frequency));
            let short = _mm512_cmpge_epu32_mask(remainder, frequency);
            let quotient = _mm512_mask_add_epi32(quotient, short, quotient, one);
            let remainder = _mm512_mask_sub_epi32(remainder, short, remainder, frequency);
            x[group] = _mm512_add_epi32(
                _mm512_add_epi32(_mm512_slli_epi32::<PRECISION>(quotient), remainder),
                _mm512_srli_epi32::<16>(span),
            );
        }
    }
    for (group, &x) in x.iter().enumerate() {
        store(states, group, x);
    }
    first
}

/// Decodes the symbols of sixteen lanes.
///
/// # Safety
/// `slots` must be those of a decoder, with at least one table, and 32 bytes must be readable at `words`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
unsafe fn next_sixteen(
    x: &mut __m512i,
    slots: &[u32],
    contexts: __m128i,
    words: *const u8,
    position: &mut usize,
) -> __m128i {
    let slot_mask = _mm512_set1_epi32(TOTAL as i32 - 1);
    let low_bits = _mm512_set1_epi32(0x7fff);
    let largest_context = _mm512_set1_epi32((slots.len() / TOTAL as usize) as i32 - 1);
    let context = _mm512_min_epu32(_mm512_cvtepu8_epi32(contexts), largest_context);
    let slot = _mm512_and_si512(*x, slot_mask);
    let index = _mm512_or_si512(_mm512_slli_epi32::<PRECISION>(context), slot);
    // SAFETY: context < slots.len() / TOTAL and slot < TOTAL, so index < slots.len().
    let entry = unsafe { _mm512_i32gather_epi32::<4>(index, slots.as_ptr().cast()) };
    let offset = _mm512_and_si512(_mm512_srli_epi32::<OFFSET>(entry), slot_mask);
    // Frequency times state in two 16-bit parts, which takes half the time of a 32-bit product.
    let below = _mm512_and_si512(_mm512_srli_epi32::<PRECISION>(*x), low_bits);
    let above = _mm512_srli_epi32::<{ PRECISION + 15 }>(*x);
    let above = _mm512_slli_epi32::<15>(_mm512_madd_epi16(entry, above));
    let below = _mm512_add_epi32(_mm512_madd_epi16(entry, below), offset);
    let state = _mm512_add_epi32(above, below);
    // Small states read a word each.
    let small = _mm512_testn_epi32_mask(state, _mm512_set1_epi32(0xffff_0000u32 as i32));
    // SAFETY: guaranteed by the caller.
    let next = unsafe { _mm256_loadu_si256(words.cast()) };
    let next = _mm512_maskz_expand_epi32(small, _mm512_cvtepu16_epi32(next));
    let grown = _mm512_or_si512(_mm512_slli_epi32::<16>(state), next);
    *x = _mm512_mask_mov_epi32(state, small, grown);
    *position += 2 * small.count_ones() as usize;
    _mm512_cvtepi32_epi8(_mm512_srli_epi32::<SYMBOL>(entry))
}

/// Decodes segments with the states of all lanes in registers.
pub(crate) struct WideDecoder<'a> {
    decoder: &'a mut Decoder,
    words: &'a [u8],
    position: usize,
    x: [__m512i; LANES / WIDTH],
}

impl<'a> WideDecoder<'a> {
    /// Continues the stream of a decoder, until [`Self::end`].
    #[target_feature(enable = "avx512f")]
    pub(crate) fn new(decoder: &'a mut Decoder, words: &'a [u8]) -> Self {
        let state = &decoder.state;
        assert!(state.slots.len() >= TOTAL as usize && state.slots.len() < 1 << 20);
        Self {
            position: state.position,
            x: std::array::from_fn(|group| load(&state.states, group)),
            decoder,
            words,
        }
    }

    /// Decodes a segment, see [`Decoder::decode`].
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
    pub(crate) fn next(&mut self, contexts: __m256i) -> Result<__m256i> {
        // A segment reads at most 64 bytes.
        if self.words.len() < self.position + 2 * LANES {
            return self.last(contexts);
        }
        let slots = &self.decoder.state.slots[..];
        let groups = [
            _mm256_castsi256_si128(contexts),
            _mm256_extracti128_si256::<1>(contexts),
        ];
        let mut symbols = [_mm_setzero_si128(); LANES / WIDTH];
        for ((symbols, contexts), x) in symbols.iter_mut().zip(groups).zip(&mut self.x) {
            // SAFETY: slots were checked; the previous group read at most 2 * WIDTH bytes, so by the test
            // above 32 bytes are left at `position`.
            *symbols = unsafe {
                let words = self.words.as_ptr().add(self.position);
                next_sixteen(x, slots, contexts, words, &mut self.position)
            };
        }
        let symbols = _mm256_set_m128i(symbols[1], symbols[0]);
        match _mm256_cmpeq_epi8_mask(symbols, _mm256_set1_epi8(ESCAPE as i8)) {
            0 => Ok(symbols),
            _ => self.replace_escapes(symbols),
        }
    }

    #[cold]
    #[target_feature(enable = "avx2")]
    fn replace_escapes(&mut self, symbols: __m256i) -> Result<__m256i> {
        let mut symbols = to_bytes(symbols);
        self.decoder.replace_escapes(&mut symbols)?;
        Ok(from_bytes(&symbols))
    }

    /// Decodes a segment near the end of the words.
    #[cold]
    #[target_feature(enable = "avx512f")]
    fn last(&mut self, contexts: __m256i) -> Result<__m256i> {
        let mut symbols = [0; LANES];
        self.save();
        let words = self.words;
        self.decoder
            .decode(words, &to_bytes(contexts), &mut symbols)?;
        let state = &self.decoder.state;
        self.position = state.position;
        self.x = std::array::from_fn(|group| load(&state.states, group));
        Ok(from_bytes(&symbols))
    }

    #[target_feature(enable = "avx512f")]
    fn save(&mut self) {
        for (group, &x) in self.x.iter().enumerate() {
            store(&mut self.decoder.state.states, group, x);
        }
        self.decoder.state.position = self.position;
    }

    /// Hands the stream back to its decoder.
    #[target_feature(enable = "avx512f")]
    pub(crate) fn end(mut self) {
        self.save();
    }
}

#[target_feature(enable = "avx2")]
fn to_bytes(vector: __m256i) -> [u8; LANES] {
    let mut bytes = [0; LANES];
    // SAFETY: the reference is to 32 writable bytes.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) };
    bytes
}

#[target_feature(enable = "avx2")]
fn from_bytes(bytes: &[u8; LANES]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// See [`super::decode`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(super) fn decode(
    decoder: &mut DecoderState,
    words: &[u8],
    contexts: &[u8],
    symbols: &mut [u8],
) -> Result<bool> {
    assert!(decoder.slots.len() >= TOTAL as usize && decoder.slots.len() < 1 << 20);
    let mut x: [__m512i; LANES / WIDTH] = std::array::from_fn(|group| load(&decoder.states, group));
    let mut position = decoder.position;
    let mut escapes = 0;
    let count = symbols.len() / LANES;
    let mut done = 0;
    let segments = symbols.as_chunks_mut::<LANES>().0.iter_mut();
    for (symbols, contexts) in segments.zip(contexts.as_chunks::<LANES>().0) {
        // A segment reads at most 64 bytes; near the end the portable loop takes over.
        if words.len() < position + 2 * LANES {
            break;
        }
        for (group, x) in x.iter_mut().enumerate() {
            let contexts = &contexts.as_chunks::<WIDTH>().0[group];
            let to: &mut [u8; WIDTH] = &mut symbols.as_chunks_mut().0[group];
            // SAFETY: the references are to 16 bytes; slots were checked; the previous group read at most
            // 2 * WIDTH bytes, so by the test above 32 bytes are left at `position`.
            unsafe {
                let contexts = _mm_loadu_si128(contexts.as_ptr().cast());
                let from = words.as_ptr().add(position);
                let bytes = next_sixteen(x, &decoder.slots, contexts, from, &mut position);
                escapes |= _mm_cmpeq_epi8_mask(bytes, _mm_set1_epi8(ESCAPE as i8));
                _mm_storeu_si128(to.as_mut_ptr().cast(), bytes);
            }
        }
        done += 1;
    }
    for (group, &x) in x.iter().enumerate() {
        store(&mut decoder.states, group, x);
    }
    decoder.position = position;
    let mut escaped = escapes != 0;
    if done < count {
        let at = done * LANES;
        escaped |= portable::decode(decoder, words, &contexts[at..], &mut symbols[at..])?;
    }
    Ok(escaped)
}
