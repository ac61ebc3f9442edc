//! Canonical Huffman coding of small integers, with code lengths of at most [`MAX_LENGTH`] bits.
//!
//! Forward: symbols → [`Histogram`] → [`Book`] → [`encode`]: five bit streams side by side.
//! Inverse: [`Book`] → [`Table`] → [`decode`]: the five streams are read in turns, so that the
//! latency of one table lookup hides behind the other four, and a lookup yields several symbols.
//!
//! Two kinds of symbols exist: bytes, and 16-bit numbers below 1,024. Codes are written least
//! significant bit first, so that the next bits of a stream index the table directly.

mod book;
mod decode;
mod encode;
mod histogram;
#[cfg(target_arch = "x86_64")]
mod kernels;
mod lengths;
mod table;

pub use book::Book;
pub use decode::decode;
pub use encode::encode;
pub use histogram::Histogram;
pub use lengths::Sort;
pub use table::Table;

/// Longest code, in bits: the decoding table has 2¹² entries of 8 bytes and stays in the
/// first-level cache.
pub const MAX_LENGTH: u32 = 12;

/// Bit streams per coded sequence, but for short ones.
pub const STREAMS: usize = 5;

/// Sequences of fewer symbols are one stream.
const SHORT: usize = 512;

/// Symbols below this are encoded in pairs by one lookup.
const PAIRED: usize = 64;

/// A kind of symbol.
pub trait Symbol: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// Number of different symbols.
    const ALPHABET: usize;
    /// Symbols that a table entry holds: those that fit 48 bits.
    const PER_ENTRY: usize;
    /// Symbols in the eight bytes that one lookup writes.
    const PER_WORD: usize;

    /// The symbol as an index below [`Self::ALPHABET`].
    fn index(self) -> usize;
    /// Whether [`Self::pairs`] ever finds any.
    const HAS_PAIRS: bool;
    /// Eight symbols as four pairs a + 64 b, if all of them are below [`PAIRED`].
    fn pairs(octet: &[Self]) -> Option<[usize; 4]>;
    /// Writes the symbols of a table entry, and what follows them in it, to `out[..PER_WORD]`.
    fn store(entry: u64, out: &mut [Self]);
}

impl Symbol for u8 {
    const ALPHABET: usize = 256;
    const PER_ENTRY: usize = 6;
    const PER_WORD: usize = 8;

    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
    // Bytes are occupancy masks here, whose values scatter over the whole range.
    const HAS_PAIRS: bool = false;
    #[inline(always)]
    fn pairs(_: &[Self]) -> Option<[usize; 4]> {
        None
    }
    #[inline(always)]
    fn store(entry: u64, out: &mut [Self]) {
        out[..8].copy_from_slice(&entry.to_le_bytes());
    }
}

impl Symbol for u16 {
    const ALPHABET: usize = 1024;
    const PER_ENTRY: usize = 3;
    const PER_WORD: usize = 4;

    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self & 1023)
    }
    const HAS_PAIRS: bool = true;
    #[inline(always)]
    fn pairs(octet: &[Self]) -> Option<[usize; 4]> {
        let quad = |at: usize| -> u64 {
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(&octet[at..at + 4]))
        };
        let pair = |quad: u64| ((quad | quad >> 10) & 0xfff) as usize;
        let (low, high) = (quad(0), quad(4));
        ((low | high) & 0xffc0_ffc0_ffc0_ffc0 == 0)
            .then(|| [pair(low), pair(low >> 32), pair(high), pair(high >> 32)])
    }
    #[inline(always)]
    fn store(entry: u64, out: &mut [Self]) {
        out[..4].copy_from_slice(&bytemuck::cast::<u64, [Self; 4]>(entry));
    }
}

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
