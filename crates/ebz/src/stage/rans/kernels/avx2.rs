//! AVX2 kernels: 8 lanes per vector.

use super::portable;
use crate::error::Result;
use crate::stage::rans::state::{DecoderState, EncoderState, OFFSET, SYMBOL};
use crate::stage::rans::{ALPHABET, ESCAPE, LANES, PRECISION, TOTAL};
use std::arch::x86_64::*;

/// Lanes per vector.
const WIDTH: usize = 8;

/// For each set of lanes, the permutation that moves those lanes to the end of the vector, in order.
static COMPRESS: [[u8; WIDTH]; 256] = compress_table();
/// For each set of lanes, the permutation that moves the next words to those lanes.
static EXPAND: [[u8; WIDTH]; 256] = expand_table();

const fn compress_table() -> [[u8; WIDTH]; 256] {
    let mut table = [[0; WIDTH]; 256];
    let mut set = 0;
    while set < 256 {
        let mut to = WIDTH - (set as u8).count_ones() as usize;
        let mut lane = 0;
        while lane < WIDTH {
            if set >> lane & 1 == 1 {
                table[set][to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
}

const fn expand_table() -> [[u8; WIDTH]; 256] {
    let mut table = [[0; WIDTH]; 256];
    let mut set = 0;
    while set < 256 {
        let mut next = 0;
        let mut lane = 0;
        while lane < WIDTH {
            if set >> lane & 1 == 1 {
                table[set][lane] = next;
                next += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
}

/// Widens eight bytes to 32 bits.
#[target_feature(enable = "avx2")]
fn widen(bytes: &[u8; WIDTH]) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*bytes)))
}

#[target_feature(enable = "avx2")]
fn load(states: &[u32; LANES], group: usize) -> __m256i {
    let part: &[u32; WIDTH] = &states.as_chunks().0[group];
    // SAFETY: the reference is to 32 readable bytes.
    unsafe { _mm256_loadu_si256(part.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn store(states: &mut [u32; LANES], group: usize, value: __m256i) {
    let part: &mut [u32; WIDTH] = &mut states.as_chunks_mut().0[group];
    // SAFETY: the reference is to 32 writable bytes.
    unsafe { _mm256_storeu_si256(part.as_mut_ptr().cast(), value) }
}

/// See [`super::encode`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
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
    let spans = tables.spans().as_ptr().cast::<i32>();
    let symbol_mask = _mm256_set1_epi32(ALPHABET as i32 - 1);
    let low_half = _mm256_set1_epi32(0xffff);
    let one = _mm256_set1_epi32(1);
    assert!(words.len() >= places.len() + WIDTH);
    let mut first = words.len();
    let mut x: [__m256i; LANES / WIDTH] = std::array::from_fn(|group| load(states, group));
    for places in places.as_chunks::<LANES>().0.iter().rev() {
        for group in (0..LANES / WIDTH).rev() {
            let places: &[u16; WIDTH] = &places.as_chunks().0[group];
            // SAFETY: the reference is to 16 readable bytes.
            let index = unsafe { _mm_loadu_si128(places.as_ptr().cast()) };
            let mut index = _mm256_cvtepu16_epi32(index);
            // SAFETY: there is a span of 8 bytes for every 16-bit index.
            let mut span = unsafe { _mm256_i32gather_epi32::<8>(spans, index) };
            let mut frequency = _mm256_and_si256(span, low_half);
            let none = _mm256_cmpeq_epi32(frequency, _mm256_setzero_si256());
            if _mm256_movemask_epi8(none) != 0 {
                // Rare symbols become escapes.
                let mut escaped = _mm256_movemask_ps(_mm256_castsi256_ps(none)) as u32;
                while escaped != 0 {
                    let lane = 31 - escaped.leading_zeros();
                    rare.push((places[lane as usize] % ALPHABET as u16) as u8);
                    escaped &= !(1 << lane);
                }
                index = _mm256_or_si256(index, _mm256_and_si256(none, symbol_mask));
                // SAFETY: as above; setting the low six bits keeps the index in its context.
                span = unsafe { _mm256_i32gather_epi32::<8>(spans, index) };
                frequency = _mm256_and_si256(span, low_half);
            }
            // SAFETY: index < size as above; the second half of a span.
            let reciprocal = unsafe { _mm256_i32gather_epi32::<8>(spans.add(1), index) };
            let below = _mm256_sub_epi32(frequency, one);
            // Full states emit their low halves.
            let full = _mm256_cmpgt_epi32(
                _mm256_srli_epi32::<{ 32 - PRECISION as i32 }>(x[group]),
                below,
            );
            let set = _mm256_movemask_ps(_mm256_castsi256_ps(full)) as usize;
            let order = widen(&COMPRESS[set & 0xff]);
            let packed = _mm256_permutevar8x32_epi32(_mm256_and_si256(x[group], low_half), order);
            let packed = _mm_packus_epi32(
                _mm256_castsi256_si128(packed),
                _mm256_extracti128_si256::<1>(packed),
            );
            // SAFETY: at most one word per symbol was written from the end, so by the assertion at least
            // WIDTH words are left before `first`.
            unsafe { _mm_storeu_si128(words.as_mut_ptr().add(first - WIDTH).cast(), packed) };
            first -= set.count_ones() as usize;
            let state = _mm256_blendv_epi8(x[group], _mm256_srli_epi32::<16>(x[group]), full);
            // state / frequency with the reciprocal; the quotient may be too small by one.
            let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(state, reciprocal));
            let odd = _mm256_mul_epu32(
                _mm256_srli_epi64::<32>(state),
                _mm256_srli_epi64::<32>(reciprocal),
            );
            let quotient = _mm256_blend_epi32::<0xaa>(even, odd);
            let remainder = _mm256_sub_epi32(state, _mm256_mullo_epi32(quotient, frequency));
            let short = _mm256_cmpgt_epi32(remainder, below);
            let quotient = _mm256_sub_epi32(quotient, short);
            let remainder = _mm256_sub_epi32(remainder, _mm256_and_si256(short, frequency));
            x[group] = _mm256_add_epi32(
                _mm256_add_epi32(
                    _mm256_slli_epi32::<{ PRECISION as i32 }>(quotient),
                    remainder,
                ),
                _mm256_srli_epi32::<16>(span),
            );
        }
    }
    for (group, &x) in x.iter().enumerate() {
        store(states, group, x);
    }
    first
}

/// See [`super::decode`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode(
    decoder: &mut DecoderState,
    words: &[u8],
    contexts: &[u8],
    symbols: &mut [u8],
) -> Result<bool> {
    let size = decoder.slots.len();
    assert!(size >= TOTAL as usize && size < 1 << 20);
    let largest_context = _mm256_set1_epi32((size / TOTAL as usize) as i32 - 1);
    let slot_mask = _mm256_set1_epi32(TOTAL as i32 - 1);
    let mut x: [__m256i; LANES / WIDTH] = std::array::from_fn(|group| load(&decoder.states, group));
    let mut position = decoder.position;
    let mut escapes = _mm256_setzero_si256();
    let count = symbols.len() / LANES;
    let mut done = 0;
    let segments = symbols.as_chunks_mut::<LANES>().0.iter_mut();
    for (symbols, contexts) in segments.zip(contexts.as_chunks::<LANES>().0) {
        // A segment reads at most 64 bytes; near the end the portable loop takes over.
        if words.len() < position + 2 * LANES {
            break;
        }
        let mut decoded = [_mm256_setzero_si256(); LANES / WIDTH];
        for group in 0..LANES / WIDTH {
            let context = widen(&contexts.as_chunks::<WIDTH>().0[group]);
            let context = _mm256_min_epu32(context, largest_context);
            let slot = _mm256_and_si256(x[group], slot_mask);
            let index = _mm256_or_si256(_mm256_slli_epi32::<{ PRECISION as i32 }>(context), slot);
            // SAFETY: context < size / TOTAL and slot < TOTAL, so index < size.
            let entry =
                unsafe { _mm256_i32gather_epi32::<4>(decoder.slots.as_ptr().cast(), index) };
            decoded[group] = _mm256_srli_epi32::<{ SYMBOL as i32 }>(entry);
            let offset = _mm256_srli_epi32::<{ OFFSET as i32 }>(entry);
            let offset = _mm256_and_si256(offset, slot_mask);
            // Frequency times state in two 16-bit parts, which takes half the time of a 32-bit product.
            let below = _mm256_srli_epi32::<{ PRECISION as i32 }>(x[group]);
            let below = _mm256_and_si256(below, _mm256_set1_epi32(0x7fff));
            let above = _mm256_srli_epi32::<{ PRECISION as i32 + 15 }>(x[group]);
            let above = _mm256_slli_epi32::<15>(_mm256_madd_epi16(entry, above));
            let below = _mm256_add_epi32(_mm256_madd_epi16(entry, below), offset);
            let state = _mm256_add_epi32(above, below);
            // Small states read a word each.
            let small = _mm256_cmpeq_epi32(_mm256_srli_epi32::<16>(state), _mm256_setzero_si256());
            let set = _mm256_movemask_ps(_mm256_castsi256_ps(small)) as usize;
            // SAFETY: the previous groups read at most 2 * WIDTH bytes each, so by the test above 16
            // bytes are left at `position`.
            let next = unsafe { _mm_loadu_si128(words.as_ptr().add(position).cast()) };
            let next = _mm256_permutevar8x32_epi32(
                _mm256_cvtepu16_epi32(next),
                widen(&EXPAND[set & 0xff]),
            );
            let grown = _mm256_or_si256(_mm256_slli_epi32::<16>(state), next);
            x[group] = _mm256_blendv_epi8(state, grown, small);
            position += 2 * set.count_ones() as usize;
        }
        let low = _mm256_packus_epi32(decoded[0], decoded[1]);
        let high = _mm256_packus_epi32(decoded[2], decoded[3]);
        let bytes = _mm256_permutevar8x32_epi32(
            _mm256_packus_epi16(low, high),
            _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7),
        );
        let escape = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(ESCAPE as i8));
        escapes = _mm256_or_si256(escapes, escape);
        // SAFETY: the reference is to 32 writable bytes.
        unsafe { _mm256_storeu_si256(symbols.as_mut_ptr().cast(), bytes) };
        done += 1;
    }
    for (group, &x) in x.iter().enumerate() {
        store(&mut decoder.states, group, x);
    }
    decoder.position = position;
    let mut escaped = _mm256_movemask_epi8(escapes) != 0;
    if done < count {
        let at = done * LANES;
        escaped |= portable::decode(decoder, words, &contexts[at..], &mut symbols[at..])?;
    }
    Ok(escaped)
}
