//! The encoding of planes, in which the codecs of the family differ.

use super::planes::Planes;
use crate::bits::{BitReader, BitWriter};

/// Bit streams per segment. Block `b` is in stream `b % STREAMS`, so that a decoder can process
/// several in parallel instead of waiting for the length of each word.
pub const STREAMS: usize = 4;

/// How the planes of a block of `N` values are written. Plane bits are in the low `N` bits.
pub trait PlaneCode: Copy + 'static {
    /// The codes there are, of which a chunk's first byte names one; the first is the usual one.
    const ALL: &'static [Self];

    /// The most planes that can be written; a block that needs more is stored exactly.
    fn max_planes<const N: usize>() -> u32 {
        64
    }

    /// Appends planes, most significant first.
    fn write<const N: usize>(self, planes: &[u64], writer: &mut BitWriter);

    /// Reads `counts[s]` planes of one block from each stream. A stream of no writer may give any
    /// bits below `N`.
    fn read<const N: usize>(
        self,
        readers: &mut [BitReader<'_>; STREAMS],
        counts: [usize; STREAMS],
        planes: &mut [Planes; STREAMS],
    );
}
