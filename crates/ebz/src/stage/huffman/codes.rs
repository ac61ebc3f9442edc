//! Code lookup for the encoder.

use super::book::LENGTH_AT;
use super::{Book, MAX_LENGTH};
use crate::simd::Level;

/// Maximum size of a stream of this many symbols, plus the word that is written at its end.
pub(super) fn max_stream_bytes(symbols: usize) -> usize {
    symbols * MAX_LENGTH as usize / 8 + 16
}

/// Symbols below this limit are encoded in pairs with one lookup.
const PAIRED_SYMBOLS: usize = 64;

/// Codes of symbols, and of pairs of symbols below [`PAIRED_SYMBOLS`] if that is worthwhile.
pub(super) struct Codes<'a> {
    pub(super) book: &'a Book,
    pairs: Option<Box<[u32; PAIRED_SYMBOLS * PAIRED_SYMBOLS]>>,
}

impl<'a> Codes<'a> {
    pub(super) fn of(book: &'a Book, symbols: usize, simd: Level) -> Self {
        // The probability of symbols too large for pairs, according to their code lengths.
        let rarely_large = || {
            let large = book
                .lengths()
                .iter()
                .skip(PAIRED_SYMBOLS)
                .filter(|l| **l > 0);
            let share: u32 = large.map(|&l| 1 << (MAX_LENGTH - u32::from(l))).sum();
            share < 1 << (MAX_LENGTH - 6)
        };
        // The AVX-512 encoder does not use pairs.
        let worthwhile = !matches!(simd, Level::Avx512(_)) && symbols >= 1 << 14 && rarely_large();
        let single = book.codes();
        let pairs = worthwhile.then(|| {
            let mut pairs = Box::new([0; PAIRED_SYMBOLS * PAIRED_SYMBOLS]);
            for (row, &b) in pairs.chunks_exact_mut(PAIRED_SYMBOLS).zip(single) {
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
                // The index of a pair is a + 64 b.
                let joined = word & 0x003f_003f_003f_003f | word >> 2 & 0x0fc0_0fc0_0fc0_0fc0;
                let pair = |at: u32| {
                    split(pairs[(joined >> at) as usize % (PAIRED_SYMBOLS * PAIRED_SYMBOLS)])
                };
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

/// Splits an entry of the book into code and length.
#[inline(always)]
pub(super) fn split(code: u32) -> (u64, u32) {
    (u64::from(code & ((1 << LENGTH_AT) - 1)), code >> LENGTH_AT)
}

/// Concatenates two codes.
#[inline(always)]
pub(super) fn join((a, a_bits): (u64, u32), (b, b_bits): (u64, u32)) -> (u64, u32) {
    (a | b << (a_bits & 63), a_bits + b_bits)
}
