//! The encoder with AVX-512: looks up the codes of 64 symbols in registers and joins them to pairs,
//! quads and octets before writing.

use super::bmi2::Writer;
use super::codes::split;
use super::{ALPHABET, Book};
use crate::simd::Avx512;
use std::arch::x86_64::*;

/// Symbols per iteration.
const BLOCK: usize = 64;

pub(super) fn encode_stream(_: Avx512, symbols: &[u8], book: &Book, stream: &mut [u8]) -> usize {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2")]
    fn with_avx512(symbols: &[u8], book: &Book, stream: &mut [u8]) -> usize {
        let mut writer = Writer::new(stream, symbols.len());
        let byte = |at: u32| Bytes::of(|symbol| (book.codes()[symbol] >> at) as u8);
        // Bits 0 to 7 and 8 to 11 of a code, and its length.
        let (low, high, length) = (byte(0), byte(8), byte(super::book::LENGTH_AT));
        let (blocks, tail) = symbols.as_chunks::<BLOCK>();
        for block in blocks {
            // SAFETY: there are 64 bytes.
            let symbols = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let small = _mm512_test_epi8_mask(symbols, _mm512_set1_epi8(0xc0u8.cast_signed())) == 0;
            let [low, high, length] = match small {
                true => [&low, &high, &length].map(|bytes| bytes.at_small(symbols)),
                false => [&low, &high, &length].map(|bytes| bytes.at(symbols)),
            };
            // Symbols 0 to 7 of each 16, and 8 to 15.
            let zero = _mm512_setzero_si512();
            let a = quads(
                _mm512_unpacklo_epi8(low, high),
                _mm512_unpacklo_epi8(length, zero),
            );
            let b = quads(
                _mm512_unpackhi_epi8(low, high),
                _mm512_unpackhi_epi8(length, zero),
            );
            // The first and the last four of each eight, in order.
            let first = (
                _mm512_unpacklo_epi64(a.0, b.0),
                _mm512_unpacklo_epi64(a.1, b.1),
            );
            let last = (
                _mm512_unpackhi_epi64(a.0, b.0),
                _mm512_unpackhi_epi64(a.1, b.1),
            );
            let lengths = _mm512_add_epi64(first.1, last.1);
            let fit = _mm512_cmpgt_epu64_mask(lengths, _mm512_set1_epi64(56)) == 0;
            // SAFETY: these are the codes of the block, and each is written once.
            unsafe {
                if fit {
                    let shifted = _mm512_sllv_epi64(last.0, first.1);
                    put_octets(&mut writer, _mm512_or_si512(first.0, shifted), lengths);
                } else {
                    let words = words_of(first.0).into_iter().zip(words_of(last.0));
                    let lengths = words_of(first.1).into_iter().zip(words_of(last.1));
                    for (word, length) in words.zip(lengths) {
                        writer.put((word.0, length.0 as u32));
                        writer.put((word.1, length.1 as u32));
                    }
                }
            }
        }
        for symbol in tail {
            // SAFETY: as above.
            unsafe { writer.put(split(book.codes()[usize::from(*symbol)])) };
        }
        writer.finish()
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_avx512(symbols, book, stream) }
}

/// A table of one byte per symbol, in registers.
struct Bytes([__m512i; ALPHABET / BLOCK]);

impl Bytes {
    #[inline(always)]
    fn of(byte: impl Fn(usize) -> u8) -> Self {
        let bytes: [u8; ALPHABET] = std::array::from_fn(byte);
        // SAFETY: both are 256 bytes, and any bits are valid.
        Self(unsafe { std::mem::transmute::<[u8; ALPHABET], [__m512i; ALPHABET / BLOCK]>(bytes) })
    }

    /// The bytes of symbols below 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn at_small(&self, symbols: __m512i) -> __m512i {
        _mm512_permutexvar_epi8(symbols, self.0[0])
    }

    /// The bytes of any symbols.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn at(&self, symbols: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let lower = _mm512_permutex2var_epi8(a, symbols, b);
        let upper = _mm512_permutex2var_epi8(c, symbols, d);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(symbols), lower, upper)
    }
}

/// Joins codes in 16-bit lanes to codes of four symbols in 64-bit lanes, with their lengths.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn quads(codes: __m512i, lengths: __m512i) -> (__m512i, __m512i) {
    // 1. Pairs, in 32-bit lanes.
    let low = _mm512_set1_epi32(0xffff);
    let second = _mm512_srli_epi32::<16>(codes);
    let shifted = _mm512_sllv_epi32(second, _mm512_and_si512(lengths, low));
    let pairs = _mm512_or_si512(_mm512_and_si512(codes, low), shifted);
    let lengths = _mm512_madd_epi16(lengths, _mm512_set1_epi16(1));
    // 2. Pairs of pairs.
    let low = _mm512_set1_epi64(0xffff_ffff);
    let first_length = _mm512_and_si512(lengths, low);
    let second = _mm512_srli_epi64::<32>(pairs);
    let shifted = _mm512_sllv_epi64(second, first_length);
    let quads = _mm512_or_si512(_mm512_and_si512(pairs, low), shifted);
    let second_length = _mm512_srli_epi64::<32>(lengths);
    (quads, _mm512_add_epi64(first_length, second_length))
}

/// Writes eight words, the codes of eight symbols each, of 8 to 56 bits.
///
/// # Safety
///
/// As for [`Writer::put`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn put_octets(writer: &mut Writer, codes: __m512i, lengths: __m512i) {
    // 1. Start of each word: prefix sums of the lengths.
    let zero = _mm512_setzero_si512();
    let mut ends = _mm512_add_epi64(lengths, _mm512_alignr_epi64::<7>(lengths, zero));
    ends = _mm512_add_epi64(ends, _mm512_alignr_epi64::<6>(ends, zero));
    ends = _mm512_add_epi64(ends, _mm512_alignr_epi64::<4>(ends, zero));
    ends = _mm512_add_epi64(ends, _mm512_set1_epi64(writer.bits.into()));
    let starts = _mm512_sub_epi64(ends, lengths);
    // 2. Shift each word to its start, and prepend the bits of its predecessor in the same byte.
    //    These come from one predecessor only, because words have at least eight bits.
    let bit = _mm512_and_si512(starts, _mm512_set1_epi64(7));
    let placed = _mm512_sllv_epi64(codes, bit);
    let whole = _mm512_and_si512(_mm512_add_epi64(bit, lengths), _mm512_set1_epi64(0x38));
    let left = _mm512_srlv_epi64(placed, whole);
    let held = _mm512_set1_epi64(writer.pending.cast_signed());
    let words = _mm512_or_si512(placed, _mm512_alignr_epi64::<7>(left, held));
    // 3. Each word overwrites the end of its predecessor: a scatter stores in order.
    let offsets = _mm512_srli_epi64::<3>(starts);
    // SAFETY: a stream has eight bytes more than its symbols need.
    unsafe { _mm512_i64scatter_epi64::<1>(writer.at.cast(), offsets, words) };
    let end = words_of(ends)[7];
    // SAFETY: the same.
    writer.at = unsafe { writer.at.add((end >> 3) as usize) };
    writer.bits = end as u32 & 7;
    writer.pending = words_of(left)[7];
}

#[inline(always)]
fn words_of(vector: __m512i) -> [u64; 8] {
    // SAFETY: both are 64 bytes, and any bits are valid.
    unsafe { std::mem::transmute::<__m512i, [u64; 8]>(vector) }
}
