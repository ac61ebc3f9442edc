//! Vectorized loops.
//!
//! The compiler vectorizes plain loops; gathers, the transposition of decoded tiles, and single precision with
//! AVX-512 use intrinsics.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(super) mod dispatch;
mod portable;
mod tile;
pub(super) mod words;

use super::cursor::Cursor;
use super::grid::Pattern;
use super::lanes::{LANES, Layout};
use super::word::MAX_WORD_BITS;

/// Values per lane in a tile.
const TILE_VALUES: usize = 16;

/// Maximum size of a lane's words in a tile, plus one load.
const TILE_MARGIN_BYTES: usize = TILE_VALUES * MAX_WORD_BITS / 8 + 16;

/// The next values of all lanes, step by step.
#[repr(align(64))]
struct Tile<P>([[P; LANES]; TILE_VALUES]);

/// Lanes being decoded.
pub(super) struct Tiles<'a, P> {
    pub streams: &'a [u8],
    /// Mantissa bits kept.
    pub kept: u32,
    /// Where the lanes begin in `out`.
    pub starts: &'a [usize; LANES],
    /// Number of values of the shortest lane.
    shortest: usize,
    pub out: &'a mut [P],
    /// Whether the values bypass the caches.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "stores around the caches are for x86-64")
    )]
    pub streaming: bool,
    /// Position of each lane's next bit, and its previous value.
    pub bits: [P; LANES],
    pub previous: [P; LANES],
    /// Values decoded per lane.
    pub done: usize,
}

impl<'a, P: Pattern> Tiles<'a, P> {
    /// All lanes of a chunk; `None` if it has fewer, or if they are too long for kernels.
    pub fn new(
        layout: &Layout<'a>,
        cursors: &[Cursor<P>],
        starts: &'a [usize],
        streaming: bool,
        out: &'a mut [P],
    ) -> Option<Self> {
        let cursors = <&[Cursor<P>; LANES]>::try_from(cursors).ok()?;
        let lengths = starts.windows(2).map(|lane| lane[1] - lane[0]);
        // Bit offsets must fit 32-bit patterns, and byte offsets signed 32-bit gathers.
        (layout.streams.len() < 1 << 28).then_some(Self {
            streams: layout.streams,
            kept: layout.kept,
            starts: starts.first_chunk()?,
            shortest: lengths.min().unwrap_or(0),
            out,
            streaming,
            bits: cursors.map(|cursor| P::truncate(cursor.at as u64)),
            previous: cursors.map(|cursor| cursor.previous),
            done: 0,
        })
    }

    /// Updates the cursors; returns the number of values decoded per lane.
    pub fn finish(self, cursors: &mut [Cursor<P>]) -> usize {
        let lanes = self.bits.into_iter().zip(self.previous);
        for (cursor, (bit, previous)) in cursors.iter_mut().zip(lanes) {
            *cursor = Cursor {
                at: bit.into() as usize,
                previous,
            };
        }
        self.done
    }

    /// Whether all lanes have another tile, if this is the last position of all. Then its words, of at most
    /// [`MAX_WORD_BITS`], are followed by 8 more bytes in every lane.
    #[inline(always)]
    fn another(&self, last: P) -> bool {
        self.done + TILE_VALUES <= self.shortest
            && (last.into() / 8) as usize + TILE_MARGIN_BYTES <= self.streams.len()
    }
}
