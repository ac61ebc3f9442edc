//! Context-coded range ANS of small integers, 32 lanes at a time.
//!
//! In: symbols 0 … 62 (see `symbol.rs`) in segments of [`LANES`], and for each the number of a
//! context that the decoder knows before it decodes the segment. Out: frequency tables, final
//! states, 16-bit words, and the symbols too rare for a frequency.
//!
//! ```text
//! counts ─► tables ─► states, words, rare symbols     (encode, last segment first)
//!           tables ◄─ states, words, rare symbols     (decode, first segment first)
//! ```
//!
//! Each lane has a 32-bit state of its own, probabilities have 10 bits, and the lanes share one
//! stream of words, so that one vector instruction serves 8 lanes (Duda 2013; Giesen 2014,
//! "Interleaved entropy coders"). A lane whose context is [`Encoder::encode`]'s number of contexts
//! is idle: it must hold symbol 0 and costs nothing.

mod decode;
mod distribution;
mod encode;
mod kernels;
mod state;
pub(crate) mod symbol;

pub use decode::Decoder;
pub use encode::{Encoder, place};

/// Values per segment.
pub const LANES: usize = 32;
/// Number of symbols, the escape included.
pub const ALPHABET: usize = 64;
/// Stands for a symbol without a frequency of its own.
const ESCAPE: u8 = ALPHABET as u8 - 1;
/// Bits of a probability.
const PRECISION: u32 = 10;
/// Sum of the frequencies of a context.
const TOTAL: u32 = 1 << PRECISION;
/// Contexts whose tables are announced by one bit if none of them is used.
const CONTEXT_GROUP: usize = 16;
/// States are at least this between symbols; it is also the state before the first symbol.
const LOWEST: u32 = 1 << 16;

#[cfg(test)]
mod tests;
