//! Decodes all lanes in parallel, 16 values of each at a time.

use super::{TILE_VALUES, Tile, Tiles, portable};
use crate::codec::fre::cursor::Cursor;
use crate::codec::fre::grid::{MantissaGrid, Pattern};
use crate::codec::fre::lanes::LANES;
use crate::codec::fre::order::Paper;
use crate::simd::Level;

/// Memory accesses that depend on the instruction set.
///
/// They do not check offsets: the caller does so once per tile.
pub(super) trait Memory<P> {
    /// Gathers patterns at bit offsets, rounded down to bytes.
    ///
    /// # Safety
    /// Every offset lies within `bytes` and is followed by the size of a pattern.
    unsafe fn gather(self, bytes: &[u8], bits: &[P; LANES], words: &mut [P; LANES]);

    /// Writes a tile to the lanes of `out` that begin at `starts`, from value `at` of each.
    ///
    /// # Safety
    /// `out` has 16 values after each start plus `at`.
    unsafe fn scatter(self, tile: &Tile<P>, out: &mut [P], starts: &[usize; LANES], at: usize);
}

macro_rules! memory {
    ($pattern:ty, $gather:ident, $scatter:ident) => {
        impl Memory<$pattern> for Level {
            #[inline(always)]
            unsafe fn gather(
                self,
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
                self,
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

/// Decodes all tiles, unless common words may exceed a single load.
pub(super) fn decode<P: Pattern>(level: Level, tiles: &mut Tiles<'_, P>)
where
    Level: Memory<P>,
{
    if 2 + tiles.kept + 9 > P::BITS - 7 {
        return;
    }
    let grid = MantissaGrid::<P>::with_bits(tiles.kept);
    level.run(
        #[inline(always)]
        || {
            // Local, so that they need not be stored before every gather.
            let (mut bits, mut previous) = (tiles.bits, tiles.previous);
            let mut pending = [P::default(); LANES];
            let mut tile = Tile([[P::default(); LANES]; TILE_VALUES]);
            while tiles.another(bits.iter().copied().max().unwrap_or_default()) {
                for values in &mut tile.0 {
                    let mut words = [P::default(); LANES];
                    // SAFETY: there is another tile.
                    unsafe { level.gather(tiles.streams, &bits, &mut words) };
                    if !step(&words, &mut bits, &mut previous, &mut pending, &grid) {
                        decode_pending(
                            tiles.streams,
                            &pending,
                            &mut bits,
                            &mut previous,
                            grid.kept,
                        );
                    }
                    *values = previous;
                }
                // SAFETY: every lane has at least these values.
                unsafe { level.scatter(&tile, tiles.out, tiles.starts, tiles.done) };
                tiles.done += TILE_VALUES;
            }
            (tiles.bits, tiles.previous) = (bits, previous);
        },
    );
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
        previous[lane] = cursor.next(streams, kept, Paper);
        bits[lane] = P::truncate(cursor.at as u64);
    }
}
