//! Symbols to bit streams.

use super::book::LENGTH_AT;
use super::{Book, MAX_LENGTH, PAIRED, STREAMS, Symbol, segments, streams_for};
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
    let streams = streams_for(symbols.len());
    let longest = longest_stream(symbols.len().div_ceil(streams));
    if scratch.len() < longest * streams {
        scratch.resize(longest * streams, 0);
    }
    let codes = Codes::of(book, symbols.len());
    let mut rest = symbols;
    let mut sizes = [0; STREAMS];
    for ((size, stream), count) in sizes
        .iter_mut()
        .zip(scratch.chunks_exact_mut(longest))
        .zip(segments(symbols.len()))
        .take(streams)
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

/// Room for the longest stream of this many symbols, and for the word that is written at its end.
pub(super) fn longest_stream(symbols: usize) -> usize {
    symbols * MAX_LENGTH as usize / 8 + 16
}

fn encode_stream<S: Symbol>(
    symbols: &[S],
    codes: &Codes<'_>,
    simd: Level,
    stream: &mut [u8],
) -> usize {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => super::kernels::encode_stream(symbols, codes, stream),
        _ => encode_stream_portable(symbols, codes, stream),
    }
}

/// Writes one stream and returns its length in bytes.
fn encode_stream_portable<S: Symbol>(symbols: &[S], codes: &Codes<'_>, stream: &mut [u8]) -> usize {
    let mut writer = Writer::default();
    let octets = symbols.chunks_exact(8);
    let tail = octets.remainder();
    for octet in octets {
        let code = |i: usize| split(codes.single[octet[i].index()]);
        let pairs = codes.pairs.as_ref().zip(S::pairs(octet));
        let (first, second) = if let Some((pairs, [a, b, c, d])) = pairs {
            let pair = |i: usize| split(pairs[i]);
            (join(pair(a), pair(b)), join(pair(c), pair(d)))
        } else {
            (
                join(join(code(0), code(1)), join(code(2), code(3))),
                join(join(code(4), code(5)), join(code(6), code(7))),
            )
        };
        // Eight codes mostly fit a word with the up to seven bits held, and four always do.
        if first.1 + second.1 <= 56 {
            writer.put(join(first, second), stream);
        } else {
            writer.put(first, stream);
            writer.put(second, stream);
        }
    }
    for symbol in tail {
        writer.put(split(codes.single[symbol.index()]), stream);
    }
    writer.at + usize::from(writer.bits > 0)
}

/// Codes by symbol, and by pairs of symbols below [`PAIRED`] where that pays.
pub(super) struct Codes<'a> {
    pub(super) single: &'a [u32],
    pub(super) pairs: Option<Box<[u32; PAIRED * PAIRED]>>,
}

impl<'a> Codes<'a> {
    fn of<S: Symbol>(book: &'a Book<S>, symbols: usize) -> Self {
        let single = book.codes();
        // How often a symbol is too large for a pair, as the book sees it.
        let rarely_large = || {
            let large = book.lengths().iter().skip(PAIRED).filter(|l| **l > 0);
            let share: u32 = large.map(|&l| 1 << (MAX_LENGTH - u32::from(l))).sum();
            share < 1 << (MAX_LENGTH - 6)
        };
        let worthwhile = S::HAS_PAIRS && symbols >= 1 << 14 && rarely_large();
        let pairs = worthwhile.then(|| {
            let mut pairs = Box::new([0; PAIRED * PAIRED]);
            for (row, &b) in pairs.chunks_exact_mut(PAIRED).zip(single) {
                for (pair, &a) in row.iter_mut().zip(single) {
                    let (word, bits) = join(split(a), split(b));
                    *pair = word as u32 | bits << LENGTH_AT;
                }
            }
            pairs
        });
        Self { single, pairs }
    }
}

/// A code and its length.
#[inline(always)]
pub(super) fn split(code: u32) -> (u64, u32) {
    (u64::from(code & ((1 << LENGTH_AT) - 1)), code >> LENGTH_AT)
}

/// Two codes one behind the other, and their length.
#[inline(always)]
pub(super) fn join((a, a_bits): (u64, u32), (b, b_bits): (u64, u32)) -> (u64, u32) {
    (a | b << (a_bits & 63), a_bits + b_bits)
}

/// Where a stream stands: whole bytes written, and up to seven bits held.
#[derive(Default)]
struct Writer {
    held: u64,
    bits: u32,
    at: usize,
}

impl Writer {
    /// Writes up to 56 bits.
    #[inline(always)]
    fn put(&mut self, (word, length): (u64, u32), stream: &mut [u8]) {
        self.held |= word << (self.bits & 7);
        self.bits += length;
        stream[self.at..self.at + 8].copy_from_slice(&self.held.to_le_bytes());
        self.at += (self.bits >> 3) as usize;
        self.held >>= self.bits & 0x38;
        self.bits &= 7;
    }
}
