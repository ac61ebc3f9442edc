//! The encoding of planes, in which the codecs of the family differ.

use super::planes::Planes;
use crate::bits::{BitReader, BitWriter};

/// Bit streams per segment. Block `b` is in stream `b % STREAMS`, so that a decoder can process
/// several in parallel instead of waiting for the length of each word.
pub const STREAMS: usize = 4;

/// Encoding of the planes of a block of `N` values. Plane bits are the low `N` bits.
pub trait PlaneCode: Copy + 'static {
    /// The variants of the code, default first; the first byte of a chunk has the index of one.
    const ALL: &'static [Self];

    /// Maximum number of planes; a block that needs more is stored exactly.
    fn max_planes<const N: usize>() -> u32 {
        64
    }

    /// Appends planes, most significant first.
    fn write<const N: usize>(self, planes: &[u64], writer: &mut BitWriter);

    /// Reads `counts[s]` planes of one block from each stream. Damaged streams may give any `N` bits.
    fn read<const N: usize>(
        self,
        readers: &mut [BitReader<'_>; STREAMS],
        counts: [usize; STREAMS],
        planes: &mut [Planes; STREAMS],
    );
}
