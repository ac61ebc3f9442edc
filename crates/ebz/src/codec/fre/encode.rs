//! Encoding of a chunk.

use super::grid::{MantissaGrid, Pattern};
use super::kernels::dispatch::Kernels;
use super::kernels::words::{BLOCK_VALUES, MAX_PUT_BITS, Words};
use super::lanes::{self, Layout};
use super::order::{MAGNITUDES, Measured, Order, Paper};
use super::word::{self, Kind, MAX_WORD_BITS};
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

impl<'a> BitSink<'a> {
    fn new(out: &'a mut [u8]) -> Self {
        Self {
            out,
            at: 0,
            pending: 0,
            count: 0,
        }
    }

    /// Whether the words of a block fit.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.out.len() - self.at >= MAX_BLOCK_BYTES
    }

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

    /// Appends the words of at most a block of values, one by one; returns the last rounded value. `None` if they
    /// might not fit.
    #[inline(always)]
    fn put_values<P: Pattern>(
        &mut self,
        values: &[P],
        mut previous: P,
        grid: &MantissaGrid<P>,
        order: impl Order,
    ) -> Option<P> {
        if !self.has_room() {
            return None;
        }
        for &value in values {
            let x = grid.round(value);
            self.put_word(word::encode(x, previous, grid, order));
            previous = x;
        }
        Some(previous)
    }

    /// Length in bytes; the last byte is padded with zeros.
    fn finish(self) -> usize {
        self.at + usize::from(self.count > 0)
    }
}

/// Appends the encoded chunk, or as many bytes as the raw values if it does not shrink. With `measured`, an order of
/// exponent codes is measured, and stored if the chunk is smaller with it.
pub(super) fn encode<P: Pattern>(
    values: &[P],
    grid: &MantissaGrid<P>,
    one_lane: bool,
    measured: bool,
    context: &mut Context,
    out: &mut Vec<u8>,
) where
    Level: Kernels<P>,
{
    let start = out.len();
    if !append(values, grid, one_lane, None, context, out) {
        out.extend_from_slice(bytemuck::cast_slice(values));
    }
    if measured && let Some(order) = Measured::of(&count(values, grid, one_lane)) {
        let end = out.len();
        let fits = append(values, grid, one_lane, Some(order), context, out);
        if fits && out.len() - end < end - start {
            out.drain(start..end);
        } else {
            out.truncate(end);
        }
    }
}

/// How often each magnitude of exponent differences has a word.
fn count<P: Pattern>(values: &[P], grid: &MantissaGrid<P>, one_lane: bool) -> [usize; MAGNITUDES] {
    let mut counts = [0; MAGNITUDES];
    for lane in lanes::split(values, one_lane) {
        let mut previous = P::default();
        for &value in lane {
            let x = grid.round(value);
            if let Kind::Near(d) = word::kind(x, previous, grid) {
                counts[d.unsigned_abs() as usize] += 1;
            }
            previous = x;
        }
    }
    counts
}

/// Appends the encoded chunk; false if it does not shrink.
fn append<P: Pattern>(
    values: &[P],
    grid: &MantissaGrid<P>,
    one_lane: bool,
    order: Option<Measured>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> bool
where
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
            || match order {
                None => encode_lane(level, fused, lane, grid, &mut scratch.0[at..]),
                Some(order) => encode_lane_in(order, lane, grid, &mut scratch.0[at..]),
            },
        );
        let Some(size) = size else {
            context.put_back(scratch);
            return false;
        };
        at += size;
        sizes.push((size as u32).to_le_bytes());
    }
    Layout::write_head(grid.kept, one_lane, order, &sizes, out);
    out.extend_from_slice(&scratch.0[..at]);
    context.put_back(scratch);
    true
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
    let mut sink = BitSink::new(out);
    let mut words = Words::default();
    let (blocks, rest) = values.as_chunks::<BLOCK_VALUES>();
    for block in blocks {
        memory::prefetch(block, PREFETCH_BYTES);
        if !sink.has_room() {
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
                        sink.put_word(word::encode(x, previous, grid, Paper));
                    }
                }
            }
        }
        words.next_block();
    }
    sink.put_values(rest, words.last(), grid, Paper)?;
    Some(sink.finish())
}

/// The same in another order, with every word as it is defined.
#[inline(always)]
fn encode_lane_in<P: Pattern>(
    order: Measured,
    values: &[P],
    grid: &MantissaGrid<P>,
    out: &mut [u8],
) -> Option<usize> {
    let mut sink = BitSink::new(out);
    let mut previous = P::default();
    for block in values.chunks(BLOCK_VALUES) {
        previous = sink.put_values(block, previous, grid, order)?;
    }
    Some(sink.finish())
}
