//! Encoding of a chunk.

use super::grid::{MantissaGrid, Pattern};
use super::kernels::dispatch::Kernels;
use super::kernels::words::{BLOCK_VALUES, MAX_PUT_BITS, Words};
use super::lanes::{self, Layout};
use super::word::{self, MAX_WORD_BITS};
use crate::codec::Context;
use crate::simd::{Level, memory};

/// Output buffer, reused between chunks.
#[derive(Default)]
struct Scratch(Vec<u8>);

/// Prefetch distance in bytes.
const PREFETCH_BYTES: usize = 4096;

/// Maximum size of the words of a block, plus an 8-byte store at the end.
const MAX_BLOCK_BYTES: usize = BLOCK_VALUES * MAX_WORD_BITS / 8 + 16;

/// A bit stream being written, most significant bit first.
struct BitSink<'a> {
    out: &'a mut [u8],
    /// Whole bytes so far.
    at: usize,
    /// Up to 7 pending bits, left-aligned.
    pending: u64,
    count: u32,
}

impl BitSink<'_> {
    /// Appends up to [`MAX_PUT_BITS`] bits.
    #[inline(always)]
    fn put(&mut self, bits: u64, length: u32) {
        let total = self.count + length;
        self.pending |= bits << (64 - total);
        if let Some(place) = self.out[self.at..].first_chunk_mut() {
            *place = self.pending.to_be_bytes();
        }
        self.at += (total / 8) as usize;
        self.pending <<= total & !7;
        self.count = total % 8;
    }

    /// Appends a word of any length.
    fn put_word(&mut self, (bits, length): word::Bits) {
        let mut rest = length;
        while rest > 0 {
            let part = rest.min(MAX_PUT_BITS);
            rest -= part;
            self.put((bits >> rest) as u64 & ((1 << part) - 1), part);
        }
    }

    /// Length in bytes; the last byte is padded with zeros.
    fn finish(self) -> usize {
        self.at + usize::from(self.count > 0)
    }
}

/// Appends the encoded chunk, or as many bytes as the raw values if it does not shrink.
pub(super) fn encode<P: Pattern>(
    values: &[P],
    grid: &MantissaGrid<P>,
    one_lane: bool,
    context: &mut Context,
    out: &mut Vec<u8>,
) where
    Level: Kernels<P>,
{
    let (level, fused) = (context.simd(), context.fused);
    let mut scratch = context.take::<Scratch>();
    let max_bytes = size_of_val(values) + MAX_BLOCK_BYTES;
    if scratch.0.len() < max_bytes {
        scratch.0.resize(max_bytes, 0);
    }
    let mut at = 0;
    let mut sizes = Vec::new();
    for lane in lanes::split(values, one_lane) {
        let size = level.run(
            #[inline(always)]
            || encode_lane(level, fused, lane, grid, &mut scratch.0[at..]),
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

/// Encodes one lane to the start of `out`; `None` if it might not fit.
#[inline(always)]
fn encode_lane<P: Pattern>(
    level: Level,
    fused: bool,
    values: &[P],
    grid: &MantissaGrid<P>,
    out: &mut [u8],
) -> Option<usize>
where
    Level: Kernels<P>,
{
    let mut sink = BitSink {
        out,
        at: 0,
        pending: 0,
        count: 0,
    };
    let mut words = Words::default();
    let (blocks, rest) = values.as_chunks::<BLOCK_VALUES>();
    for block in blocks {
        memory::prefetch(block, PREFETCH_BYTES);
        if sink.out.len() - sink.at < MAX_BLOCK_BYTES {
            return None;
        }
        // 1. Round. 2. Make words, pairs and groups of four.
        level.build(&mut words, block, grid, fused);
        // 3. Append the largest groups that fit a single put.
        for group in 0..BLOCK_VALUES / 4 {
            let (bits, length) = words.four(group);
            if length <= MAX_PUT_BITS {
                sink.put(bits, length);
                continue;
            }
            for pair in [2 * group, 2 * group + 1] {
                let (bits, length) = words.two(pair);
                if length <= MAX_PUT_BITS {
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
    if sink.out.len() - sink.at < MAX_BLOCK_BYTES {
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
