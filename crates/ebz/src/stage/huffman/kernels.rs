//! The inner loops, compiled for x86-64 with BMI2: shifts by a variable amount take one
//! instruction there, and the loops consist of little else.

use super::decode::{Stream, decode_bulk_with};
use super::encode::encode_stream_with;
use super::{STREAMS, Symbol, Table};

pub(super) fn encode_stream<S: Symbol>(symbols: &[S], codes: &[u32], stream: &mut [u8]) -> usize {
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx2")]
    fn with_bmi2<S: Symbol>(symbols: &[S], codes: &[u32], stream: &mut [u8]) -> usize {
        encode_stream_with(symbols, codes, stream)
    }
    // SAFETY: called for `Level::Avx2` only, which includes these features.
    unsafe { with_bmi2(symbols, codes, stream) }
}

pub(super) fn decode_bulk<S: Symbol>(streams: &mut [Stream<'_, S>; STREAMS], table: &Table<S>) {
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx2")]
    fn with_bmi2<S: Symbol>(streams: &mut [Stream<'_, S>; STREAMS], table: &Table<S>) {
        decode_bulk_with(streams, table);
    }
    // SAFETY: called for `Level::Avx2` only, which includes these features.
    unsafe { with_bmi2(streams, table) }
}
