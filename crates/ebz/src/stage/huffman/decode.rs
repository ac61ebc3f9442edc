//! Bit streams to symbols.

use super::table::{ENTRIES, PER_ENTRY, bits_of, count_of, symbols_of};
use super::{MAX_LENGTH, STREAMS, Table, segments, streams_for};
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::simd::Level;
use std::cmp::Reverse;

/// Fills `symbols` from the front of `bytes` and moves them past what was read.
pub fn decode(bytes: &mut &[u8], table: &Table, simd: Level, symbols: &mut [u8]) -> Result<()> {
    if table.is_empty() {
        // Its entries decode to nothing, for ever.
        return Err(Error::corrupt("Huffman streams without a codebook"));
    }
    let mut streams: [Stream<'_>; STREAMS] = Default::default();
    let mut sizes = [0; STREAMS];
    for size in &mut sizes[..streams_for(symbols.len())] {
        *size = varint::read_length(bytes)?;
    }
    let counts = segments(symbols.len());
    let mut rest = symbols;
    for ((stream, size), count) in streams.iter_mut().zip(sizes).zip(counts) {
        let (source, tail) = bytes
            .split_at_checked(size)
            .ok_or_else(|| Error::truncated("a Huffman stream is cut off"))?;
        *bytes = tail;
        let (out, tail) = rest.split_at_mut(count);
        rest = tail;
        *stream = Stream {
            source,
            bit: 0,
            out,
            done: 0,
        };
    }
    // All streams in turns until one of them ends, then the others.
    bulk::<5>(&mut streams, table, simd);
    bulk::<4>(&mut streams, table, simd);
    bulk::<3>(&mut streams, table, simd);
    bulk::<2>(&mut streams, table, simd);
    bulk::<1>(&mut streams, table, simd);
    streams.into_iter().try_for_each(|s| s.finish(table))
}

/// Decodes the `N` streams that are farthest from their ends in turns, as far as whole words can be
/// read and written in each of them.
fn bulk<const N: usize>(streams: &mut [Stream<'_>; STREAMS], table: &Table, simd: Level) {
    streams.sort_by_key(|stream| Reverse(stream.safe_rounds()));
    let Some(streams) = streams.first_chunk_mut::<N>() else {
        return;
    };
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => super::bmi2::decode_bulk(streams, table),
        _ => decode_bulk(streams, table),
    }
}

/// A bit stream on its way to symbols.
#[derive(Default)]
pub(super) struct Stream<'a> {
    pub(super) source: &'a [u8],
    /// Next bit of `source`.
    pub(super) bit: usize,
    pub(super) out: &'a mut [u8],
    /// Symbols written.
    pub(super) done: usize,
}

/// Lookups between two reads of a stream: eight bytes give at least 56 bits beside a mark.
pub(super) const LOOKUPS: usize = 4;

fn decode_bulk<const N: usize>(streams: &mut [Stream<'_>; N], table: &Table) {
    let entries = table.entries();
    while let rounds @ 1.. = safe_rounds(streams) {
        for _ in 0..rounds {
            let mut held = [0; N];
            for (held, stream) in held.iter_mut().zip(&*streams) {
                *held = stream.word();
            }
            for _ in 0..LOOKUPS {
                for (held, stream) in held.iter_mut().zip(&mut *streams) {
                    let entry = entries[*held as usize % ENTRIES];
                    stream.out[stream.done..][..8].copy_from_slice(&symbols_of(entry));
                    *held >>= bits_of(entry) & 63;
                    stream.bit += bits_of(entry) as usize;
                    stream.done += count_of(entry);
                }
            }
        }
    }
}

/// Rounds of [`LOOKUPS`] that read and write within bounds in every stream.
pub(super) fn safe_rounds(streams: &[Stream<'_>]) -> usize {
    streams.iter().map(Stream::safe_rounds).min().unwrap_or(0)
}

impl Stream<'_> {
    /// Rounds of [`LOOKUPS`] that read and write within bounds.
    fn safe_rounds(&self) -> usize {
        let bits_left = (self.source.len() * 8).saturating_sub(self.bit);
        let reads = bits_left.saturating_sub(64) / (LOOKUPS * MAX_LENGTH as usize);
        let room = self.out.len() - self.done;
        let writes = room.saturating_sub(8) / (LOOKUPS * PER_ENTRY);
        reads.min(writes)
    }

    /// The next bits of the source: at least 57.
    #[inline(always)]
    fn word(&self) -> u64 {
        let at = self.bit >> 3;
        let mut word = [0; 8];
        word.copy_from_slice(&self.source[at..at + 8]);
        u64::from_le_bytes(word) >> (self.bit & 7)
    }

    /// Decodes what is left one lookup at a time, and checks that the source had all its bits.
    fn finish(mut self, table: &Table) -> Result<()> {
        let entries = table.entries();
        while self.done < self.out.len() {
            let left = self.source.get(self.bit >> 3..).unwrap_or_default();
            let mut word = [0; 8];
            let have = left.len().min(8);
            word[..have].copy_from_slice(&left[..have]);
            let held = u64::from_le_bytes(word) >> (self.bit & 7);
            let entry = entries[held as usize % ENTRIES];
            let room = self.out.len() - self.done;
            let count = count_of(entry);
            if count <= room {
                self.bit += bits_of(entry) as usize;
            }
            let count = count.min(room);
            self.out[self.done..self.done + count].copy_from_slice(&symbols_of(entry)[..count]);
            self.done += count;
            if self.bit > self.source.len() * 8 {
                return Err(Error::truncated("a Huffman stream ends too early"));
            }
        }
        Ok(())
    }
}
