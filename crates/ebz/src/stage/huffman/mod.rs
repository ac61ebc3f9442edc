//! Canonical Huffman coding of bytes, with code lengths of at most [`MAX_LENGTH`] bits.
//!
//! Forward: symbols → [`Histogram`] → [`Book`] → [`encode`]: five bit streams side by side.
//! Inverse: [`Book`] → [`Table`] → [`decode`]: the five streams are read in turns, so that the
//! latency of one table lookup hides behind the other four, and a lookup yields several symbols.
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

/// Longest code, in bits: the decoding table has 2¹² entries of 8 bytes and stays in the
/// first-level cache.
pub const MAX_LENGTH: u32 = 12;

/// Bit streams per coded sequence, but for short ones.
pub const STREAMS: usize = 5;

/// Sequences of fewer symbols are one stream.
const SHORT: usize = 512;

/// How many streams `count` symbols make.
fn streams_for(count: usize) -> usize {
    if count < SHORT { 1 } else { STREAMS }
}

/// The lengths of the segments of `count` symbols, one for each stream.
fn segments(count: usize) -> [usize; STREAMS] {
    let full = count.div_ceil(streams_for(count));
    std::array::from_fn(|i| count.saturating_sub(i * full).min(full))
}

#[cfg(test)]
mod tests;
