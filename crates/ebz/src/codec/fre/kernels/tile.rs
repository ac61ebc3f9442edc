//! Decodes all lanes in parallel, 16 values of each at a time.

use super::{TILE_VALUES, Tile, portable};
use crate::codec::fre::cursor::Cursor;
use crate::codec::fre::grid::{MantissaGrid, Pattern};
use crate::codec::fre::lanes::{LANES, Layout};
use crate::codec::fre::word::MAX_WORD_BITS;
use crate::simd::Level;

/// Maximum size of a lane's words in a tile, plus one load.
const TILE_MARGIN_BYTES: usize = TILE_VALUES * MAX_WORD_BITS / 8 + 16;

/// Memory accesses that depend on the instruction set.
///
/// They do not check offsets: the caller does so once per tile.
pub(crate) trait Memory<P> {
    /// Gathers patterns at bit offsets, rounded down to bytes.
    ///
    /// # Safety
    /// Every offset lies within `bytes` and is followed by the size of a pattern.
    unsafe fn gather(&self, bytes: &[u8], bits: &[P; LANES], words: &mut [P; LANES]);

    /// Writes a tile to the lanes of `out` that begin at `starts`, from value `at` of each.
    ///
    /// # Safety
    /// `out` has 16 values after each start plus `at`.
    unsafe fn scatter(&self, tile: &Tile<P>, out: &mut [P], starts: &[usize; LANES], at: usize);
}

macro_rules! memory {
    ($pattern:ty, $gather:ident, $scatter:ident) => {
        impl Memory<$pattern> for Level {
            #[inline(always)]
            unsafe fn gather(
                &self,
                bytes: &[u8],
                bits: &[$pattern; LANES],
                words: &mut [$pattern; LANES],
            ) {
                match self {
                    // SAFETY: a level proves its instruction set; the caller guarantees the rest.
                    #[cfg(target_arch = "x86_64")]
                    Self::Avx2(_) => unsafe { super::avx2::$gather(bytes, bits, words) },
                    // SAFETY: the same.
                    #[cfg(target_arch = "x86_64")]
                    Self::Avx512(_) => unsafe { super::avx512::$gather(bytes, bits, words) },
                    _ => portable::gather(bytes, bits, words),
                }
            }

            #[inline(always)]
            unsafe fn scatter(
                &self,
                tile: &Tile<$pattern>,
                out: &mut [$pattern],
                starts: &[usize; LANES],
                at: usize,
            ) {
                match self {
                    // SAFETY: a level proves its instruction set; the caller guarantees the rest.
                    #[cfg(target_arch = "x86_64")]
                    Self::Avx2(_) | Self::Avx512(_) => unsafe {
                        super::avx2::$scatter(tile, out, starts, at);
                    },
                    _ => portable::scatter(tile, out, starts, at),
                }
            }
        }
    };
}

memory!(u32, gather_u32, scatter_u32);
memory!(u64, gather_u64, scatter_u64);

/// Decodes whole tiles; returns the number of values decoded per lane. This is 0 if the chunk has
/// fewer lanes, or if common words may exceed a single load.
pub(crate) fn decode<P: Pattern>(
    level: Level,
    layout: &Layout<'_>,
    cursors: &mut [Cursor<P>],
    starts: &[usize],
    out: &mut [P],
) -> usize
where
    Level: Memory<P>,
{
    let streams = layout.streams;
    // Bit offsets must fit 32-bit patterns, and byte offsets signed 32-bit gathers.
    let fits = streams.len() < 1 << 28 && 2 + layout.kept + 9 <= P::BITS - 7;
    let (Ok(cursors), Some(first), true) = (
        <&mut [Cursor<P>; LANES]>::try_from(cursors),
        starts.first_chunk::<LANES>(),
        fits,
    ) else {
        return 0;
    };
    let grid = MantissaGrid::<P>::with_bits(layout.kept);
    let lengths = starts.windows(2).map(|lane| lane[1] - lane[0]);
    let shortest = lengths.min().unwrap_or(0);
    let mut bits = cursors.map(|cursor| P::truncate(cursor.at as u64));
    let mut previous = cursors.map(|cursor| cursor.previous);
    let mut done = 0;
    level.run(
        #[inline(always)]
        || {
            let mut pending = [P::default(); LANES];
            let mut tile = Tile([[P::default(); LANES]; TILE_VALUES]);
            while done + TILE_VALUES <= shortest {
                let last = bits.iter().copied().max().unwrap_or_default();
                if (last.into() / 8) as usize + TILE_MARGIN_BYTES > streams.len() {
                    break;
                }
                for values in &mut tile.0 {
                    let mut words = [P::default(); LANES];
                    // SAFETY: the words of a tile take at most `MAX_WORD_BITS` each, so the margin
                    // leaves 8 bytes after every offset.
                    unsafe { level.gather(streams, &bits, &mut words) };
                    if !step(&words, &mut bits, &mut previous, &mut pending, &grid) {
                        decode_pending(streams, &pending, &mut bits, &mut previous, grid.kept);
                    }
                    *values = previous;
                }
                // SAFETY: every lane has at least these values.
                unsafe { level.scatter(&tile, out, first, done) };
                done += TILE_VALUES;
            }
        },
    );
    for ((cursor, bit), previous) in cursors.iter_mut().zip(bits).zip(previous) {
        *cursor = Cursor {
            at: bit.into() as usize,
            previous,
        };
    }
    done
}

/// Decodes the common words (`00`, and those that begin with `1`). Marks lanes with other words as
/// `pending` and leaves them unchanged; returns whether there are none.
#[inline(always)]
fn step<P: Pattern>(
    words: &[P; LANES],
    bits: &mut [P; LANES],
    previous: &mut [P; LANES],
    pending: &mut [P; LANES],
    grid: &MantissaGrid<P>,
) -> bool {
    let number = |n: u32| P::truncate(n.into());
    let zero = P::default();
    let kept_bits = P::truncate((1 << P::MANTISSA) - 1) & !grid.dropped;
    let sign_bit = number(1) << (P::BITS - 1);
    let mut any = zero;
    for lane in 0..LANES {
        let (bit, before) = (bits[lane], previous[lane]);
        let window = words[lane].to_native_order().shift_left(bit & number(7));
        // Leading ones of the difference, up to 6, and its bits before the sign.
        let code = window << (2 + grid.kept);
        let ones = number(5).sub((!code >> (P::BITS - 6)).log2());
        let ones = ones.min(number(6));
        let long = ones == number(6);
        let last = code >> (P::BITS - 8) & number(3);
        let size = if long { last.add(ones) } else { ones };
        let unsigned = if long { number(8) } else { ones.add(number(1)) };
        let near = window & sign_bit != zero;
        let same = window >> (P::BITS - 2) == zero;

        let by = size << P::MANTISSA;
        let negative = code.shift_left(unsigned) & sign_bit != zero;
        let exponent = before & P::exponent_bits();
        let exponent = if negative {
            exponent.sub(by)
        } else {
            exponent.add(by)
        };
        let mantissa = (window << 2) >> (1 + P::EXPONENT) & kept_bits;
        let value = exponent | (window << 1 & sign_bit) | mantissa;
        let signed = if size > zero { number(1) } else { zero };
        let length = unsigned.add(signed).add(number(2 + grid.kept));

        previous[lane] = if near { value } else { before };
        let length = if near { length } else { zero };
        bits[lane] = bit.add(if same { number(2) } else { length });
        pending[lane] = if near | same { zero } else { number(1) };
        any = any | pending[lane];
    }
    any == zero
}

/// Decodes the words of the lanes that [`step`] marked.
#[inline(never)]
fn decode_pending<P: Pattern>(
    streams: &[u8],
    pending: &[P; LANES],
    bits: &mut [P; LANES],
    previous: &mut [P; LANES],
    kept: u32,
) {
    for lane in (0..LANES).filter(|&lane| pending[lane] != P::default()) {
        let mut cursor = Cursor {
            at: bits[lane].into() as usize,
            previous: previous[lane],
        };
        previous[lane] = cursor.next(streams, kept);
        bits[lane] = P::truncate(cursor.at as u64);
    }
}
