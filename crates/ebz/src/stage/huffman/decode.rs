//! Bit streams to symbols.

use super::table::{ENTRIES, bits_of, count_of};
use super::{MAX_LENGTH, STREAMS, Symbol, Table, segments, streams_for};
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::varint;

/// Fills `symbols` from the front of `bytes` and moves them past what was read.
pub fn decode<S: Symbol>(
    bytes: &mut &[u8],
    table: &Table<S>,
    simd: Level,
    symbols: &mut [S],
) -> Result<()> {
    let mut streams: [Stream<'_, S>; STREAMS] = Default::default();
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
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => super::kernels::decode_bulk(&mut streams, table),
        _ => decode_bulk(&mut streams, table),
    }
    streams.into_iter().try_for_each(|s| s.finish(table))
}

/// A bit stream on its way to symbols.
#[derive(Default)]
pub(super) struct Stream<'a, S> {
    pub(super) source: &'a [u8],
    /// Next bit of `source`.
    pub(super) bit: usize,
    pub(super) out: &'a mut [S],
    /// Symbols written.
    pub(super) done: usize,
}

/// Lookups between two reads of a stream: eight bytes give at least 57 bits.
pub(super) const LOOKUPS: usize = 4;

/// Decodes all streams in turns, as far as whole words can be read and written in each of them.
fn decode_bulk<S: Symbol>(streams: &mut [Stream<'_, S>; STREAMS], table: &Table<S>) {
    let entries = table.entries();
    while let rounds @ 1.. = safe_rounds(streams) {
        for _ in 0..rounds {
            let mut held = [0; STREAMS];
            for (held, stream) in held.iter_mut().zip(&*streams) {
                *held = stream.word();
            }
            for _ in 0..LOOKUPS {
                for (held, stream) in held.iter_mut().zip(&mut *streams) {
                    let entry = entries[*held as usize % ENTRIES];
                    S::store(entry, &mut stream.out[stream.done..]);
                    *held >>= bits_of(entry) & 63;
                    stream.bit += bits_of(entry) as usize;
                    stream.done += count_of(entry);
                }
            }
        }
    }
}

/// Rounds of [`LOOKUPS`] that read and write within bounds in every stream.
pub(super) fn safe_rounds<S: Symbol>(streams: &[Stream<'_, S>; STREAMS]) -> usize {
    let rounds = |stream: &Stream<'_, S>| {
        let bits_left = (stream.source.len() * 8).saturating_sub(stream.bit);
        let reads = bits_left.saturating_sub(64) / (LOOKUPS * MAX_LENGTH as usize);
        let room = stream.out.len() - stream.done;
        let writes = room.saturating_sub(S::PER_WORD) / (LOOKUPS * S::PER_ENTRY);
        reads.min(writes)
    };
    streams.iter().map(rounds).min().unwrap_or(0)
}

impl<S: Symbol> Stream<'_, S> {
    /// The next bits of the source: at least 57.
    #[inline(always)]
    fn word(&self) -> u64 {
        let at = self.bit >> 3;
        let mut word = [0; 8];
        word.copy_from_slice(&self.source[at..at + 8]);
        u64::from_le_bytes(word) >> (self.bit & 7)
    }

    /// Decodes what is left one lookup at a time, and checks that the source had all its bits.
    fn finish(mut self, table: &Table<S>) -> Result<()> {
        let entries = table.entries();
        while self.done < self.out.len() {
            let left = self.source.get(self.bit >> 3..).unwrap_or_default();
            let mut word = [0; 8];
            let have = left.len().min(8);
            word[..have].copy_from_slice(&left[..have]);
            let held = u64::from_le_bytes(word) >> (self.bit & 7);
            let entry = entries[held as usize % ENTRIES];
            let mut symbols = [S::default(); 8];
            S::store(entry, &mut symbols);
            let room = self.out.len() - self.done;
            let count = count_of(entry);
            if count <= room {
                self.bit += bits_of(entry) as usize;
            }
            let count = count.min(room);
            self.out[self.done..self.done + count].copy_from_slice(&symbols[..count]);
            self.done += count;
            if self.bit > self.source.len() * 8 {
                return Err(Error::truncated("a Huffman stream ends too early"));
            }
        }
        Ok(())
    }
}
