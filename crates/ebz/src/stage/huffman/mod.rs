//! Canonical Huffman coding of bytes, with code lengths of at most [`MAX_LENGTH`] bits.
//!
//! Forward: symbols → [`Histogram`] → [`Book`] → [`encode`]: five bit streams.
//! Inverse: [`Book`] → [`Table`] → [`decode`]: the five streams are decoded in parallel, to hide the
//! latency of table lookups, and a lookup yields several symbols.
//!
//! Codes are written least significant bit first, so that the next bits of a stream index the
//! table directly.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bmi2;
mod book;
mod codes;
mod decode;
mod encode;
mod histogram;
mod lengths;
mod stream;
mod table;
mod wide;

pub use book::Book;
pub use decode::decode;
pub use encode::encode;
pub use histogram::Histogram;
pub use lengths::Sort;
pub use table::Table;
pub use wide::{WIDE_ALPHABET, WideBook, WideTable};

/// Number of different symbols.
pub const ALPHABET: usize = 256;

/// Maximum code length in bits: a decoding table of 2¹² entries of 8 bytes fits the L1 cache.
pub const MAX_LENGTH: u32 = 12;

/// Bit streams per encoded sequence, except for short ones.
pub const STREAMS: usize = 5;

/// Minimum number of symbols for several streams.
const MIN_SYMBOLS_FOR_STREAMS: usize = 512;

/// Number of streams for `count` symbols.
fn streams_for(count: usize) -> usize {
    if count < MIN_SYMBOLS_FOR_STREAMS {
        1
    } else {
        STREAMS
    }
}

/// Number of symbols in each stream, for `count` symbols.
fn segments(count: usize) -> [usize; STREAMS] {
    let full = count.div_ceil(streams_for(count));
    std::array::from_fn(|i| count.saturating_sub(i * full).min(full))
}

#[cfg(test)]
mod tests;
