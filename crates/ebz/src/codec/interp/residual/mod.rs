//! Rows of residuals to and from streams of bytes.
//!
//! In: 16-bit residuals in segments of 32 lanes, and their contexts. Out: three streams.
//!
//! * gaps: segments without anything around them are mostly zero and are counted rather than coded;
//! * low bits: of residuals whose neighbours are large, as they are;
//! * symbols with their extra bits: the rest, through [`crate::stage::rans`].

mod decode;
mod encode;
mod segment;

pub(super) use decode::{Decoder, Memory};
pub(super) use encode::Encoder;
