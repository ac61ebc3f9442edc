//! Codebooks: the code length of each symbol, which determines the codes.

use super::lengths::{Sort, lengths};
use super::{ALPHABET, Histogram, MAX_LENGTH};
use crate::bits::{BitReader, BitWriter};
use crate::error::{Error, Result};

/// Bit position of the length in a code word; the code below it has room for two codes.
pub(super) const LENGTH_AT: u32 = 24;

/// A complete prefix code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book {
    lengths: Vec<u8>,
    codes: [u32; ALPHABET],
}

/// Encoding of the next length, with prefixes of 1, 2, 3 and 3 bits.
///
/// | word | meaning |
/// |---|---|
/// | `0` | the same length again |
/// | `10` s | one longer (s = 0) or one shorter (s = 1) |
/// | `110` n(4) | length n |
/// | `111` k(4) r(k) | the same length 2ᵏ + r times |
const SAME: (u32, u32) = (0b0, 1);
const STEP: (u32, u32) = (0b01, 2);
const LENGTH: (u32, u32) = (0b011, 3);
const RUN: (u32, u32) = (0b111, 3);

impl Book {
    /// The book for these frequencies.
    pub fn of(histogram: &Histogram, sort: Sort) -> Self {
        let mut lengths = lengths(histogram.occurring(), sort, MAX_LENGTH);
        lengths.resize(ALPHABET, 0);
        Self::of_lengths(lengths)
    }

    fn of_lengths(lengths: Vec<u8>) -> Self {
        Self {
            codes: codes(&lengths),
            lengths,
        }
    }

    /// The code length of each symbol, 0 for symbols without a code.
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Total bits of symbols with these frequencies; `None` if one of them has no code.
    pub fn cost(&self, counts: &[u32]) -> Option<u64> {
        let mut cost = 0;
        let mut missing = false;
        for (&count, &length) in counts.iter().zip(&self.lengths) {
            missing |= count > 0 && length == 0;
            cost += u64::from(count) * u64::from(length);
        }
        (!missing).then_some(cost)
    }

    /// The code of each symbol, first bit lowest, with its length from bit [`LENGTH_AT`].
    pub(super) fn codes(&self) -> &[u32; ALPHABET] {
        &self.codes
    }

    /// Appends the lengths.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        write_lengths(&self.lengths, out);
    }

    /// Reads a book from the front of `bytes`, and advances `bytes`.
    pub fn read_from(bytes: &mut &[u8]) -> Result<Self> {
        let lengths = read_lengths(bytes, ALPHABET, MAX_LENGTH)?;
        Ok(Self::of_lengths(lengths))
    }
}

/// Appends code lengths.
pub(super) fn write_lengths(lengths: &[u8], out: &mut Vec<u8>) {
    let mut writer = BitWriter::default();
    let mut put = |(word, count): (u32, u32)| writer.put(word, count);
    let mut previous = 0;
    let mut rest = lengths;
    while let Some((&length, tail)) = rest.split_first() {
        let run = rest.iter().take_while(|&&l| l == previous).count();
        if run > 7 {
            put(RUN);
            let width = run.ilog2();
            put((width, 4));
            put((run as u32 ^ 1 << width, width));
            rest = &rest[run..];
            continue;
        }
        if length == previous {
            put(SAME);
        } else if length.abs_diff(previous) == 1 {
            put(STEP);
            put((u32::from(length < previous), 1));
        } else {
            put(LENGTH);
            put((length.into(), 4));
        }
        previous = length;
        rest = tail;
    }
    out.extend_from_slice(writer.finish());
}

/// Reads code lengths from the front of `bytes`, and advances `bytes`. They must form a complete code
/// of at most `longest` ≤ 15 bits.
pub(super) fn read_lengths(bytes: &mut &[u8], symbols: usize, longest: u32) -> Result<Vec<u8>> {
    let mut bits = BitReader::new(bytes);
    let mut lengths: Vec<u8> = Vec::with_capacity(symbols);
    let mut previous = 0u8;
    while lengths.len() < symbols {
        let mut run = 1;
        if bits.get(1) != 0 {
            if bits.get(1) == 0 {
                let down = bits.get(1) == 1;
                let next = if down {
                    previous.checked_sub(1)
                } else {
                    Some(previous + 1)
                };
                previous = next.ok_or_else(|| Error::corrupt("negative code length"))?;
            } else if bits.get(1) == 0 {
                previous = bits.get(4) as u8;
            } else {
                let width = bits.get(4);
                run = 1 << width | bits.get(width) as usize;
            }
            if u32::from(previous) > longest {
                return Err(Error::corrupt(format!("code length above {longest}")));
            }
        }
        if run > symbols - lengths.len() {
            return Err(Error::corrupt("more code lengths than symbols"));
        }
        lengths.resize(lengths.len() + run, previous);
    }
    *bytes = bits.rest()?;
    let shares = lengths.iter().filter(|&&l| l > 0);
    let sum: u32 = shares.map(|&l| 1 << (longest - u32::from(l))).sum();
    if sum != 1 << longest {
        return Err(Error::corrupt("code lengths do not form a complete code"));
    }
    Ok(lengths)
}

/// Canonical codes: shorter before longer, then by symbol.
fn codes(lengths: &[u8]) -> [u32; ALPHABET] {
    let mut codes = [0; ALPHABET];
    canonical(lengths, &mut codes);
    codes
}

/// Computes the canonical codes for lengths of at most 15 bits.
pub(super) fn canonical(lengths: &[u8], codes: &mut [u32]) {
    const LENGTHS: usize = 16;
    // Usually only the first symbols occur.
    let used = lengths.iter().rposition(|&l| l > 0).map_or(0, |i| i + 1);
    let mut per_length = [0u32; LENGTHS];
    for &length in &lengths[..used] {
        per_length[usize::from(length)] += 1;
    }
    per_length[0] = 0;
    let mut next = [0u32; LENGTHS];
    for length in 1..next.len() {
        next[length] = (next[length - 1] + per_length[length - 1]) << 1;
    }
    for (code, &length) in codes.iter_mut().zip(&lengths[..used]) {
        if length > 0 {
            let slot = &mut next[usize::from(length)];
            let word = slot.reverse_bits() >> (u32::BITS - u32::from(length));
            *slot += 1;
            *code = word | u32::from(length) << LENGTH_AT;
        }
    }
}
