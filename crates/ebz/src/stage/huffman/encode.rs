//! Symbols to bit streams.

use super::book::LENGTH_AT;
use super::{Book, MAX_LENGTH, STREAMS, segments, streams_for};
use crate::bits::varint;
use crate::simd::Level;

/// Appends the coded symbols to `out`: the length of each stream in bytes, then the streams.
///
/// Every symbol must have a code in `book`.
pub fn encode(symbols: &[u8], book: &Book, simd: Level, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
    let streams = streams_for(symbols.len());
    let longest = longest_stream(symbols.len().div_ceil(streams));
    if scratch.len() < longest * streams {
        scratch.resize(longest * streams, 0);
    }
    let codes = Codes::of(book, symbols.len(), simd);
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

fn encode_stream(symbols: &[u8], codes: &Codes<'_>, simd: Level, stream: &mut [u8]) -> usize {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => super::avx512::encode_stream(symbols, codes.book, stream),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => super::bmi2::encode_stream(symbols, codes, stream),
        _ => encode_stream_portable(symbols, codes, stream),
    }
}

/// Writes one stream and returns its length in bytes.
fn encode_stream_portable(symbols: &[u8], codes: &Codes<'_>, stream: &mut [u8]) -> usize {
    let mut writer = Writer::default();
    let (octets, tail) = symbols.as_chunks::<8>();
    for octet in octets {
        let (first, second) = codes.quads(octet);
        // Eight codes mostly fit a word with the up to seven bits held, and four always do.
        if first.1 + second.1 <= 56 {
            writer.put(join(first, second), stream);
        } else {
            writer.put(first, stream);
            writer.put(second, stream);
        }
    }
    for symbol in tail {
        writer.put(codes.code(*symbol), stream);
    }
    writer.at + usize::from(writer.bits > 0)
}

/// Symbols below this are encoded in pairs by one lookup.
const PAIRED: usize = 64;

/// Codes by symbol, and by pairs of symbols below [`PAIRED`] where that pays.
pub(super) struct Codes<'a> {
    book: &'a Book,
    pairs: Option<Box<[u32; PAIRED * PAIRED]>>,
}

impl<'a> Codes<'a> {
    fn of(book: &'a Book, symbols: usize, simd: Level) -> Self {
        // How often a symbol is too large for a pair, as the book sees it.
        let rarely_large = || {
            let large = book.lengths().iter().skip(PAIRED).filter(|l| **l > 0);
            let share: u32 = large.map(|&l| 1 << (MAX_LENGTH - u32::from(l))).sum();
            share < 1 << (MAX_LENGTH - 6)
        };
        // Vectors of symbols need none.
        let worthwhile = simd < Level::Avx512 && symbols >= 1 << 14 && rarely_large();
        let single = book.codes();
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
        Self { book, pairs }
    }

    /// The code of a symbol.
    #[inline(always)]
    pub(super) fn code(&self, symbol: u8) -> (u64, u32) {
        split(self.book.codes()[usize::from(symbol)])
    }

    /// The codes of the first and the last four of eight symbols.
    #[inline(always)]
    pub(super) fn quads(&self, octet: &[u8; 8]) -> ((u64, u32), (u64, u32)) {
        let word = u64::from_le_bytes(*octet);
        match &self.pairs {
            Some(pairs) if word & 0xc0c0_c0c0_c0c0_c0c0 == 0 => {
                // A pair is a + 64 b.
                let joined = word & 0x003f_003f_003f_003f | word >> 2 & 0x0fc0_0fc0_0fc0_0fc0;
                let pair = |at: u32| split(pairs[(joined >> at) as usize % (PAIRED * PAIRED)]);
                (join(pair(0), pair(16)), join(pair(32), pair(48)))
            }
            _ => {
                let code = |i: usize| self.code(octet[i]);
                (
                    join(join(code(0), code(1)), join(code(2), code(3))),
                    join(join(code(4), code(5)), join(code(6), code(7))),
                )
            }
        }
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
