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

use std::ops::Range;

/// Values per unit, the block that stages process at a time.
pub(crate) const UNIT: usize = 256;

/// The runs of marked positions of a unit.
#[inline(always)]
pub(crate) fn runs(marks: &[bool; UNIT]) -> impl Iterator<Item = Range<usize>> {
    const BITS: usize = u64::BITS as usize;
    let mut words = [0u64; UNIT / BITS];
    for (word, marks) in words.iter_mut().zip(marks.as_chunks::<BITS>().0) {
        for (i, &mark) in marks.iter().enumerate() {
            *word |= u64::from(mark) << i;
        }
    }
    // The first position from `from` that is marked or not.
    let next = move |from: usize, marked: bool| {
        let flip = if marked { 0 } else { u64::MAX };
        let mut mask = u64::MAX << (from % BITS);
        for (i, word) in words.iter().enumerate().skip(from / BITS) {
            let found = (word ^ flip) & mask;
            if found != 0 {
                return i * BITS + found.trailing_zeros() as usize;
            }
            mask = u64::MAX;
        }
        UNIT
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next(at, true);
        at = next(start, false);
        (start < UNIT).then_some(start..at)
    })
}

/// A unit aligned to a cache line, so that no vector load crosses one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub [T; UNIT]);

impl<T: Copy + Default> Default for Aligned<T> {
    fn default() -> Self {
        Self([T::default(); UNIT])
    }
}
