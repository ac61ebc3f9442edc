//! Patterns to bytes.

use super::grid::{Grid, Pattern};
use super::kernels::words::{BLOCK, FITS, Words};
use super::lanes::{self, Layout};
use super::word::{self, LONGEST};
use crate::codec::Context;
use crate::simd::memory;

/// Memory that is kept from chunk to chunk, longer than what is in use.
#[derive(Default)]
struct Scratch(Vec<u8>);

/// Prefetch distance in bytes.
const PREFETCH_BYTES: usize = 4096;

/// Most bytes that a block of words may take, with room for a store of 8 bytes at the end.
const BLOCK_BYTES: usize = BLOCK * LONGEST / 8 + 16;

/// A stream of bits under way, the most significant of each byte first.
struct BitSink<'a> {
    out: &'a mut [u8],
    /// Whole bytes so far.
    at: usize,
    /// Up to 7 bits behind them, left-aligned.
    held: u64,
    count: u32,
}

impl BitSink<'_> {
    /// Appends up to [`FITS`] bits.
    #[inline(always)]
    fn put(&mut self, bits: u64, length: u32) {
        let total = self.count + length;
        self.held |= bits << (64 - total);
        if let Some(place) = self.out[self.at..].first_chunk_mut() {
            *place = self.held.to_be_bytes();
        }
        self.at += (total / 8) as usize;
        self.held <<= total & !7;
        self.count = total % 8;
    }

    /// Appends a word of any length.
    fn put_word(&mut self, (bits, length): word::Bits) {
        let mut rest = length;
        while rest > 0 {
            let part = rest.min(FITS);
            rest -= part;
            self.put((bits >> rest) as u64 & ((1 << part) - 1), part);
        }
    }

    /// Bytes with the last bits, filled up with zeros.
    fn finish(self) -> usize {
        self.at + usize::from(self.count > 0)
    }
}

/// Appends the coded chunk, or bytes as many as the raw values if it does not shrink.
pub(super) fn encode<P: Pattern>(
    values: &[P],
    grid: &Grid<P>,
    one_lane: bool,
    context: &mut Context,
    out: &mut Vec<u8>,
) {
    let level = context.simd();
    let mut scratch = context.take::<Scratch>();
    let most = size_of_val(values) + BLOCK_BYTES;
    if scratch.0.len() < most {
        scratch.0.resize(most, 0);
    }
    let mut at = 0;
    let mut sizes = Vec::new();
    for lane in lanes::split(values, one_lane) {
        let size = level.run(
            #[inline(always)]
            || encode_lane(lane, grid, &mut scratch.0[at..]),
        );
        let Some(size) = size else {
            out.extend_from_slice(bytemuck::cast_slice(values));
            context.put_back(scratch);
            return;
        };
        at += size;
        sizes.push((size as u32).to_le_bytes());
    }
    Layout::write_head(grid.kept, one_lane, &sizes, out);
    out.extend_from_slice(&scratch.0[..at]);
    context.put_back(scratch);
}

/// Codes one lane to the start of `out`; `None` if it might not fit.
#[inline(always)]
fn encode_lane<P: Pattern>(values: &[P], grid: &Grid<P>, out: &mut [u8]) -> Option<usize> {
    let mut sink = BitSink {
        out,
        at: 0,
        held: 0,
        count: 0,
    };
    let mut words = Words::default();
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    for block in blocks {
        memory::prefetch(block, PREFETCH_BYTES);
        if sink.out.len() - sink.at < BLOCK_BYTES {
            return None;
        }
        // 1. Round. 2. Words, and groups of them.
        words.of(block, grid);
        // 3. Append the largest groups that fit.
        for group in 0..BLOCK / 4 {
            let (bits, length) = words.four(group);
            if length <= FITS {
                sink.put(bits, length);
                continue;
            }
            for pair in [2 * group, 2 * group + 1] {
                let (bits, length) = words.two(pair);
                if length <= FITS {
                    sink.put(bits, length);
                } else {
                    for i in [2 * pair, 2 * pair + 1] {
                        let (x, previous) = words.rounded(i);
                        sink.put_word(word::encode(x, previous, grid));
                    }
                }
            }
        }
        words.next_block();
    }
    if sink.out.len() - sink.at < BLOCK_BYTES {
        return None;
    }
    let mut previous = words.last();
    for &value in rest {
        let x = grid.round(value);
        sink.put_word(word::encode(x, previous, grid));
        previous = x;
    }
    Some(sink.finish())
}
