//! Encoder: symbols to bit streams.

use super::codes::{Codes, join, max_stream_bytes};
use super::{Book, STREAMS, segments, streams_for};
use crate::bits::varint;
use crate::simd::Level;

/// Appends the encoded symbols to `out`: the length of each stream in bytes, then the streams.
///
/// Every symbol must have a code in `book`.
pub fn encode(symbols: &[u8], book: &Book, simd: Level, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
    let streams = streams_for(symbols.len());
    let longest = max_stream_bytes(symbols.len().div_ceil(streams));
    if scratch.len() < longest * streams {
        scratch.resize(longest * streams, 0);
    }
    let codes = Codes::of(book, symbols.len(), simd);
    let mut rest = symbols;
    let mut sizes = [0; STREAMS];
    for ((size, stream), count) in sizes
        .iter_mut()
        .zip(scratch.chunks_exact_mut(longest))
        .zip(segments(symbols.len()))
        .take(streams)
    {
        let (segment, tail) = rest.split_at(count);
        rest = tail;
        *size = encode_stream(segment, &codes, simd, stream);
        varint::write(*size as u64, out);
    }
    for (size, stream) in sizes.into_iter().zip(scratch.chunks_exact(longest)) {
        out.extend_from_slice(&stream[..size]);
    }
}

fn encode_stream(symbols: &[u8], codes: &Codes<'_>, simd: Level, stream: &mut [u8]) -> usize {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => super::avx512::encode_stream(avx512, symbols, codes.book, stream),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => super::bmi2::encode_stream(avx2, symbols, codes, stream),
        _ => encode_stream_portable(symbols, codes, stream),
    }
}

/// Writes one stream and returns its length in bytes.
fn encode_stream_portable(symbols: &[u8], codes: &Codes<'_>, stream: &mut [u8]) -> usize {
    let mut writer = Writer::default();
    let (octets, tail) = symbols.as_chunks::<8>();
    for octet in octets {
        let (first, second) = codes.quads(octet);
        // With up to seven pending bits, eight codes usually fit a word, and four always do.
        if first.1 + second.1 <= 56 {
            writer.put(join(first, second), stream);
        } else {
            writer.put(first, stream);
            writer.put(second, stream);
        }
    }
    for symbol in tail {
        writer.put(codes.code(*symbol), stream);
    }
    writer.at + usize::from(writer.bits > 0)
}

/// Writer state of a stream: whole bytes written, and up to seven pending bits.
#[derive(Default)]
struct Writer {
    pending: u64,
    bits: u32,
    at: usize,
}

impl Writer {
    /// Writes up to 56 bits.
    #[inline(always)]
    fn put(&mut self, (word, length): (u64, u32), stream: &mut [u8]) {
        self.pending |= word << (self.bits & 7);
        self.bits += length;
        stream[self.at..self.at + 8].copy_from_slice(&self.pending.to_le_bytes());
        self.at += (self.bits >> 3) as usize;
        self.pending >>= self.bits & 0x38;
        self.bits &= 7;
    }
}
