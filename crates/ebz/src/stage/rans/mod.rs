//! Range ANS coding of small integers with contexts, in 32 lanes.
//!
//! Input: symbols 0 … 62 (see `symbol.rs`) in segments of [`LANES`], and for each the index of a
//! context that the decoder knows before it decodes the segment. Output: frequency tables, final
//! states, 16-bit words, and the symbols too rare for a frequency.
//!
//! ```text
//! counts ─► tables ─► states, words, rare symbols     (encode, last segment first)
//!           tables ◄─ states, words, rare symbols     (decode, first segment first)
//! ```
//!
//! Each lane has its own 32-bit state, probabilities have 10 bits, and the lanes share one stream of
//! words, so that a vector instruction processes 8 or 16 lanes (Duda 2013; Giesen 2014, "Interleaved
//! entropy coders"). A lane whose context equals the number of contexts is idle: its symbol must be
//! 0 and costs nothing.

mod decode;
mod distribution;
mod encode;
mod kernels;
mod state;
pub(crate) mod symbol;

pub use decode::Decoder;
pub use encode::{Encoder, place};
#[cfg(target_arch = "x86_64")]
pub(crate) use kernels::WideDecoder;

/// Values per segment.
pub const LANES: usize = 32;
/// Number of symbols, the escape included.
pub const ALPHABET: usize = 64;
/// Number of 16-bit places of symbols in contexts.
const PLACES: usize = 1 << 16;
/// Marks a symbol without a frequency.
const ESCAPE: u8 = ALPHABET as u8 - 1;
/// Bits of a probability.
const PRECISION: u32 = 10;
/// Sum of the frequencies of a context.
const TOTAL: u32 = 1 << PRECISION;
/// Contexts per group; a group of unused contexts takes one bit.
const CONTEXT_GROUP: usize = 16;
/// Lower limit of states between symbols; also the initial state.
const LOWEST: u32 = 1 << 16;

#[cfg(test)]
mod tests;
