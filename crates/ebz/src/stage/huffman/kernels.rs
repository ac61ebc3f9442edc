//! The inner loops, compiled for x86-64 with BMI2: shifts by a variable amount take one
//! instruction there, and the loops consist of little else.

use super::decode::{LOOKUPS, Stream, safe_rounds};
use super::encode::{Codes, join, longest_stream, split};
use super::table::{BITS_AT, ENTRIES, count_of};
use super::{STREAMS, Symbol, Table};

pub(super) fn encode_stream<S: Symbol>(
    symbols: &[S],
    codes: &Codes<'_>,
    stream: &mut [u8],
) -> usize {
    /// The same steps as the portable loop without bounds checks: twice as fast.
    #[target_feature(enable = "bmi1,bmi2")]
    fn with_bmi2<S: Symbol>(symbols: &[S], codes: &Codes<'_>, stream: &mut [u8]) -> usize {
        assert!(stream.len() >= longest_stream(symbols.len()));
        assert!(codes.single.len() == S::ALPHABET);
        let single = codes.single.as_ptr();
        // SAFETY: a symbol's index is below the size of its alphabet.
        let code = |symbol: &S| split(unsafe { *single.add(symbol.index()) });
        let mut held = 0u64;
        let mut bits = 0u32;
        let mut at = stream.as_mut_ptr();
        let mut put = |(word, length): (u64, u32)| {
            held |= word << (bits & 7);
            bits += length;
            // SAFETY: the symbols so far take at most twelve bits each, and the stream has room
            // for that and eight bytes more.
            unsafe {
                at.cast::<u64>().write_unaligned(held);
                at = at.add((bits >> 3) as usize);
            }
            held >>= bits & 0x38;
            bits &= 7;
        };
        let octets = symbols.chunks_exact(8);
        let tail = octets.remainder();
        for octet in octets {
            let pairs = match &codes.pairs {
                Some(pairs) => S::pairs(octet).map(|indices| (pairs, indices)),
                None => None,
            };
            let (first, second) = if let Some((pairs, [a, b, c, d])) = pairs {
                let pair = |i: usize| split(pairs[i % pairs.len()]);
                (join(pair(a), pair(b)), join(pair(c), pair(d)))
            } else {
                let code = |i: usize| code(&octet[i]);
                (
                    join(join(code(0), code(1)), join(code(2), code(3))),
                    join(join(code(4), code(5)), join(code(6), code(7))),
                )
            };
            if first.1 + second.1 <= 56 {
                put(join(first, second));
            } else {
                put(first);
                put(second);
            }
        }
        tail.iter().for_each(|symbol| put(code(symbol)));
        // SAFETY: both point into `stream`.
        let whole = unsafe { at.offset_from_unsigned(stream.as_ptr()) };
        whole + usize::from(bits > 0)
    }
    // SAFETY: called for `Level::Avx2` and above, which include these features.
    unsafe { with_bmi2(symbols, codes, stream) }
}

pub(super) fn decode_bulk<S: Symbol>(streams: &mut [Stream<'_, S>; STREAMS], table: &Table<S>) {
    /// The same steps as the portable loop, without bounds checks and with the whole state in
    /// local variables: twice as fast.
    #[target_feature(enable = "bmi1,bmi2")]
    fn with_bmi2<S: Symbol>(streams: &mut [Stream<'_, S>; STREAMS], table: &Table<S>) {
        let entries = table.entries().as_ptr();
        while let rounds @ 1.. = safe_rounds(streams) {
            let source = streams.each_ref().map(|s| s.source.as_ptr());
            let start = streams.each_mut().map(|s| s.out.as_mut_ptr());
            let mut bit = streams.each_ref().map(|s| s.bit);
            let mut done = streams.each_ref().map(|s| s.done);
            for _ in 0..rounds {
                let mut held = [0u64; STREAMS];
                let mut taken = [0u64; STREAMS];
                for i in 0..STREAMS {
                    // SAFETY: `safe_rounds` counts rounds whose eight-byte reads stay in the
                    // source even if every lookup takes the longest code.
                    let word = unsafe { source[i].add(bit[i] >> 3).cast::<u64>().read_unaligned() };
                    held[i] = word >> (bit[i] & 7);
                }
                for _ in 0..LOOKUPS {
                    for i in 0..STREAMS {
                        // SAFETY: the index is below the number of entries.
                        let entry = unsafe { *entries.add(held[i] as usize % ENTRIES) };
                        // SAFETY: `safe_rounds` counts rounds whose eight-byte writes stay in the
                        // output even if every entry is full.
                        unsafe { start[i].add(done[i]).cast::<u64>().write_unaligned(entry) };
                        let head = entry >> BITS_AT;
                        held[i] >>= head & 63;
                        taken[i] += head;
                        done[i] += count_of(entry);
                    }
                }
                for (bit, taken) in bit.iter_mut().zip(taken) {
                    *bit += taken as usize & 0xff;
                }
            }
            for ((stream, bit), done) in streams.iter_mut().zip(bit).zip(done) {
                (stream.bit, stream.done) = (bit, done);
            }
        }
    }
    // SAFETY: called for `Level::Avx2` and above, which include these features.
    unsafe { with_bmi2(streams, table) }
}
