//! Symbols to four bit streams.

use super::{Book, STREAMS, Symbol, segments};
use crate::simd::Level;
use crate::stage::varint;

/// Appends the coded symbols to `out`: the length of each stream in bytes, then the streams.
///
/// Every symbol must have a code in `book`.
pub fn encode<S: Symbol>(
    symbols: &[S],
    book: &Book<S>,
    simd: Level,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    // Longest possible stream, and the eight bytes that a put writes at once.
    let longest = symbols.len().div_ceil(STREAMS) * 12 / 8 + 16;
    if scratch.len() < longest * STREAMS {
        scratch.resize(longest * STREAMS, 0);
    }
    let codes = book.codes();
    let mut rest = symbols;
    let mut sizes = [0; STREAMS];
    for ((size, stream), count) in sizes
        .iter_mut()
        .zip(scratch.chunks_exact_mut(longest))
        .zip(segments(symbols.len()))
    {
        let (segment, tail) = rest.split_at(count);
        rest = tail;
        *size = encode_stream(segment, &codes, simd, stream);
        varint::write(*size as u64, out);
    }
    for (size, stream) in sizes.into_iter().zip(scratch.chunks_exact(longest)) {
        out.extend_from_slice(&stream[..size]);
    }
}

fn encode_stream<S: Symbol>(symbols: &[S], codes: &[u32], simd: Level, stream: &mut [u8]) -> usize {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => super::kernels::encode_stream(symbols, codes, stream),
        _ => encode_stream_with(symbols, codes, stream),
    }
}

/// Writes one stream and returns its length in bytes.
#[inline(always)]
pub(super) fn encode_stream_with<S: Symbol>(
    symbols: &[S],
    codes: &[u32],
    stream: &mut [u8],
) -> usize {
    let codes = &codes[..S::ALPHABET];
    let mut held = 0u64;
    let mut bits = 0u32;
    let mut at = 0;
    let mut put = |word: u64, length: u32| {
        held |= word << bits;
        bits += length;
        stream[at..at + 8].copy_from_slice(&held.to_le_bytes());
        at += (bits >> 3) as usize;
        held >>= bits & !7;
        bits &= 7;
    };
    // Four codes of up to 12 bits and the up to 7 bits held make less than a word.
    let quads = symbols.chunks_exact(4);
    let tail = quads.remainder();
    for quad in quads {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| codes[quad[i].index()]);
        let (ab, ab_bits) = join(a, b);
        let (cd, cd_bits) = join(c, d);
        put(ab | cd << ab_bits, ab_bits + cd_bits);
    }
    for symbol in tail {
        let code = codes[symbol.index()];
        put(u64::from(code & 0xffff), code >> 16);
    }
    at + usize::from(bits > 0)
}

/// Two codes one behind the other, and their length.
#[inline(always)]
fn join(a: u32, b: u32) -> (u64, u32) {
    let word = u64::from(a & 0xffff) | u64::from(b & 0xffff) << (a >> 16);
    (word, (a >> 16) + (b >> 16))
}
