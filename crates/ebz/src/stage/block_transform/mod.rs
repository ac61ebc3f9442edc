//! The front that the zfp family shares: blocks of 4 values per axis become bit planes, and back.
//!
//! ```text
//! values ─► gather ─► block floating point ─► lifting ─► negabinary, truncated ─► planes ─► code
//! values ◄─ scatter ◄─ block floating point ◄─ lifting ◄─ negabinary ◄───────────── planes ◄─ code
//! ```
//!
//! How planes are written is all that the codecs of the family differ in: they give a
//! [`PlaneCode`]. Eight blocks are worked on at once, one per vector lane, by code that is written
//! once over the [`Vectors`](vectors::Vectors) of each instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bits;
mod decode;
mod dispatch;
mod encode;
mod exceptions;
mod grid;
mod lift;
mod planes;
mod real;
mod search;
mod truncate;
mod vectors;

pub use bits::{BitReader, BitWriter, low_mask};
pub use decode::decode;
pub use encode::encode;
pub use planes::Planes;

/// Bit streams per chunk. Block `b` is in stream `b % STREAMS`, so that a decoder can follow
/// several at once instead of waiting for the length of each word.
pub const STREAMS: usize = 4;

/// How the planes of a block of `N` values are written. Plane bits are in the low `N` bits.
pub trait PlaneCode: Copy {
    /// An upper limit of the bits that [`PlaneCode::write`] appends for so many planes.
    fn most_bits<const N: usize>(planes: usize) -> usize;

    /// Appends planes, most significant first.
    fn write<const N: usize>(planes: &[u64], writer: &mut BitWriter);

    /// Reads `counts[s]` planes of one block from each stream. A stream of no writer may give any
    /// bits below `N`.
    fn read<const N: usize>(
        readers: &mut [BitReader<'_>; STREAMS],
        counts: [usize; STREAMS],
        planes: &mut [Planes; STREAMS],
    );
}

/// Flag of a chunk's first byte: a list of exceptions follows the streams.
const EXCEPTIONS: u8 = 4;

/// Bits of the header field that counts planes; all planes are written as 0.
const fn count_bits<T: real::Real>() -> u32 {
    <T::Int as real::Int>::BITS.trailing_zeros()
}
