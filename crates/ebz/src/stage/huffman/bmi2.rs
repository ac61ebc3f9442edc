//! The inner loops for x86-64 with BMI2, where variable shifts, which dominate the loops, are single
//! instructions.

use super::Table;
use super::codes::{Codes, join, max_stream_bytes};
use super::stream::{LOOKUPS, Stream, safe_rounds};
use super::table::{ENTRIES, SYMBOLS_AT, count_of};
use crate::simd::Avx2;

pub(super) fn encode_stream(
    _: Avx2,
    symbols: &[u8],
    codes: &Codes<'_>,
    stream: &mut [u8],
) -> usize {
    /// The same steps as the portable loop, without bounds checks of the stream: twice as fast.
    #[target_feature(enable = "bmi1,bmi2")]
    fn with_bmi2(symbols: &[u8], codes: &Codes<'_>, stream: &mut [u8]) -> usize {
        let mut writer = Writer::new(stream, symbols.len());
        let (octets, tail) = symbols.as_chunks::<8>();
        for octet in octets {
            let (first, second) = codes.quads(octet);
            // SAFETY: the writer has room for all symbols, and each is written once.
            unsafe {
                if first.1 + second.1 <= 56 {
                    writer.put(join(first, second));
                } else {
                    writer.put(first);
                    writer.put(second);
                }
            }
        }
        for symbol in tail {
            // SAFETY: as above.
            unsafe { writer.put(codes.code(*symbol)) };
        }
        writer.finish()
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_bmi2(symbols, codes, stream) }
}

/// Writer state of a stream: whole bytes written, and up to seven pending bits.
pub(super) struct Writer {
    pub pending: u64,
    pub bits: u32,
    start: *const u8,
    pub at: *mut u8,
}

impl Writer {
    /// Starts a stream; panics unless it has room for this many symbols.
    #[inline(always)]
    pub fn new(stream: &mut [u8], symbols: usize) -> Self {
        assert!(stream.len() >= max_stream_bytes(symbols));
        Self {
            pending: 0,
            bits: 0,
            start: stream.as_ptr(),
            at: stream.as_mut_ptr(),
        }
    }

    /// Writes up to 56 bits.
    ///
    /// # Safety
    ///
    /// The stream must outlive the writer, and all words together must not exceed twelve bits for
    /// each of the symbols passed to [`Self::new`].
    #[inline(always)]
    pub unsafe fn put(&mut self, (word, length): (u64, u32)) {
        self.pending |= word << (self.bits & 7);
        self.bits += length;
        // SAFETY: a stream has eight bytes more than its symbols need.
        unsafe {
            self.at.cast::<u64>().write_unaligned(self.pending.to_le());
            self.at = self.at.add((self.bits >> 3) as usize);
        }
        self.pending >>= self.bits & 0x38;
        self.bits &= 7;
    }

    /// The length of the stream in bytes.
    #[inline(always)]
    pub fn finish(self) -> usize {
        let whole = self.at.addr() - self.start.addr();
        whole + usize::from(self.bits > 0)
    }
}

/// Sentinel in the highest bit of a word read from a stream: its position tells how many bits were
/// consumed.
const MARK: u64 = 1 << 63;

/// Decodes all streams in parallel while whole words can be read and written in each of them.
pub(super) fn decode_bulk<const STREAMS: usize>(
    _: Avx2,
    streams: &mut [Stream<'_>; STREAMS],
    table: &Table,
) {
    /// The same steps as the portable loop, without bounds checks and with the whole state in
    /// local variables: twice as fast.
    #[target_feature(enable = "bmi1,bmi2,lzcnt")]
    fn with_bmi2<const STREAMS: usize>(streams: &mut [Stream<'_>; STREAMS], table: &Table) {
        let entries = table.entries().as_ptr();
        while let rounds @ 1.. = safe_rounds(streams) {
            // SAFETY: the next bit of a stream is within its source.
            let mut from = streams
                .each_ref()
                .map(|s| unsafe { s.source.as_ptr().add(s.bit >> 3) });
            // SAFETY: the next symbol of a stream is within its output.
            let mut to = streams
                .each_mut()
                .map(|s| unsafe { s.out.as_mut_ptr().add(s.done) });
            let mut bit = streams.each_ref().map(|s| s.bit & 7);
            for _ in 0..rounds {
                let mut held = [0u64; STREAMS];
                for i in 0..STREAMS {
                    // SAFETY: `safe_rounds` counts rounds whose eight-byte reads stay within the
                    // source even if every lookup consumes the longest code.
                    let word = unsafe { from[i].cast::<u64>().read_unaligned() };
                    held[i] = (u64::from_le(word) | MARK) >> bit[i];
                }
                for _ in 0..LOOKUPS {
                    for i in 0..STREAMS {
                        // SAFETY: the index is below the number of entries.
                        let entry = unsafe { *entries.add(held[i] as usize % ENTRIES) };
                        held[i] >>= entry & 63;
                        // SAFETY: `safe_rounds` counts rounds whose eight-byte writes stay within the
                        // output even if every entry is full.
                        unsafe {
                            let symbols = (entry >> SYMBOLS_AT).to_le();
                            to[i].cast::<u64>().write_unaligned(symbols);
                            to[i] = to[i].add(count_of(entry));
                        }
                    }
                }
                for i in 0..STREAMS {
                    let consumed = held[i].leading_zeros() as usize;
                    // SAFETY: as for the reads.
                    from[i] = unsafe { from[i].add(consumed >> 3) };
                    bit[i] = consumed & 7;
                }
            }
            for (i, stream) in streams.iter_mut().enumerate() {
                stream.bit = 8 * (from[i].addr() - stream.source.as_ptr().addr()) + bit[i];
                stream.done = to[i].addr() - stream.out.as_ptr().addr();
            }
        }
    }
    // SAFETY: the token exists only where the machine has these features.
    unsafe { with_bmi2(streams, table) }
}
