//! The stages that codecs are made of, as pairs of `forward`/`inverse` or `encode`/`decode`.
//!
//! ```text
//! values ─► dualquant (quantize ─► lags) ─► residual units ─► planes ─► bytes
//!               │                                └► occupancy ─► huffman ─► bytes
//!               └► exceptions: what cannot be quantized, exactly
//! ```

pub(crate) mod bits;
pub(crate) mod dualquant;
pub(crate) mod exceptions;
pub(crate) mod huffman;
pub(crate) mod lags;
pub(crate) mod occupancy;
pub(crate) mod ordered;
pub(crate) mod planes;
pub(crate) mod quantize;
pub(crate) mod varint;
pub(crate) mod word;

/// Values per unit: the stages work on this many at a time.
pub(crate) const UNIT: usize = 256;
