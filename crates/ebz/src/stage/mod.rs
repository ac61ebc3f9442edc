//! The stages that codecs combine, as pairs of `forward`/`inverse` or `encode`/`decode`.
//!
//! ```text
//! values ─► dualquant (quantize ─► lags) ─► residual units ─► planes ─► bytes
//!               │                                ├► flags ─► bytes
//!               │                                └► occupancy ─► huffman ─► bytes
//!               └► exceptions: values that cannot be quantized, stored exactly
//! values ─► halving (coarse values ─► interpolation) ─► residual units, exceptions
//! values ─► block_transform (blocks ─► lifting ─► bit planes) ─► the plane code of a codec
//! ```

pub(crate) mod block_transform;
pub(crate) mod dualquant;
pub(crate) mod exceptions;
pub(crate) mod fields;
pub(crate) mod flags;
pub(crate) mod fused;
pub(crate) mod halving;
pub(crate) mod huffman;
pub(crate) mod lags;
pub mod measure;
pub(crate) mod nonzero;
pub(crate) mod occupancy;
pub(crate) mod ordered;
pub(crate) mod planes;
pub(crate) mod proof;
pub(crate) mod quantize;
pub mod rans;
pub(crate) mod relative;

/// Values per unit, the block that stages process at a time.
pub(crate) const UNIT: usize = 256;

/// A unit aligned to a cache line, so that no vector load crosses one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub [T; UNIT]);

impl<T: Copy + Default> Default for Aligned<T> {
    fn default() -> Self {
        Self([T::default(); UNIT])
    }
}
