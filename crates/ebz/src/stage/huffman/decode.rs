//! Decoder: bit streams to symbols.

use super::stream::{LOOKUPS, Stream, safe_rounds};
use super::table::{ENTRIES, bits_of, count_of, symbols_of};
use super::{STREAMS, Table, segments, streams_for};
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::simd::Level;
use std::cmp::Reverse;

/// Decodes `symbols` from the front of `bytes`, and advances `bytes`.
pub fn decode(bytes: &mut &[u8], table: &Table, simd: Level, symbols: &mut [u8]) -> Result<()> {
    if table.is_empty() {
        // Entries without symbols would loop forever.
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
    // All streams in parallel until one of them ends, then the others.
    bulk::<5>(&mut streams, table, simd);
    bulk::<4>(&mut streams, table, simd);
    bulk::<3>(&mut streams, table, simd);
    bulk::<2>(&mut streams, table, simd);
    bulk::<1>(&mut streams, table, simd);
    streams.into_iter().try_for_each(|s| s.finish(table))
}

/// Decodes the `N` streams with the most symbols left in parallel, while whole words can be read and
/// written in each of them.
fn bulk<const N: usize>(streams: &mut [Stream<'_>; STREAMS], table: &Table, simd: Level) {
    streams.sort_by_key(|stream| Reverse(stream.safe_rounds()));
    let Some(streams) = streams.first_chunk_mut::<N>() else {
        return;
    };
    match simd.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(avx2) => super::bmi2::decode_bulk(avx2, streams, table),
        _ => decode_bulk(streams, table),
    }
}

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
