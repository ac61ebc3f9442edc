//! Coding of rows of residuals.
//!
//! Input: 16-bit residuals in segments of 32 lanes, and their contexts. Output: three streams.
//!
//! * gaps: segments with only zeros around them are mostly zero, and are counted rather than coded;
//! * low bits: those of residuals with large neighbours, raw;
//! * symbols with their extra bits: the rest, through [`crate::stage::rans`].

mod decode;
mod encode;
mod segment;

pub(super) use decode::{Decoder, Memory, ResidualRow};
pub(super) use encode::Encoder;
