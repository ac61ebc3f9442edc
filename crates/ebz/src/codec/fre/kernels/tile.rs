//! Decodes all lanes together, 16 values of each at a time.

use super::{DEPTH, Tile, portable};
use crate::codec::fre::cursor::Cursor;
use crate::codec::fre::grid::{Grid, Pattern};
use crate::codec::fre::lanes::{LANES, Layout};
use crate::codec::fre::word::LONGEST;
use crate::simd::Level;

/// Bytes that the words of a lane may take in a tile, and a load behind them.
const MARGIN: usize = DEPTH * LONGEST / 8 + 16;

/// Memory access that differs by instruction set.
///
/// Neither may be asked for places outside: those are checked once for a tile.
pub(crate) trait Memory<P> {
    /// Loads the patterns at places given in bits.
    ///
    /// # Safety
    /// Every place lies in `bytes` and is followed by as many bytes of it as a pattern has.
    unsafe fn gather(&self, bytes: &[u8], bits: &[P; LANES], words: &mut [P; LANES]);

    /// Writes a tile to the lanes of `out`, which begin at `starts`, from their value `at` on.
    ///
    /// # Safety
    /// `out` has 16 values from `at` on behind each start.
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
                    // SAFETY: a level exists only where the machine has its instructions; the rest is as
                    // the caller promises.
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
                    // SAFETY: a level exists only where the machine has its instructions; the rest is as
                    // the caller promises.
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

/// Decodes whole tiles; returns how many values of each lane are done. None if the chunk has fewer
/// lanes, or if words may be longer than what is loaded at once.
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
    // Places in bits must fit a pattern of 32 bits, and as signed offsets in bytes a load.
    let fits = streams.len() < 1 << 28 && 2 + layout.kept + 9 <= P::BITS - 7;
    let (Ok(cursors), Some(first), true) = (
        <&mut [Cursor<P>; LANES]>::try_from(cursors),
        starts.first_chunk::<LANES>(),
        fits,
    ) else {
        return 0;
    };
    let grid = Grid::<P>::with_bits(layout.kept);
    let lengths = starts.windows(2).map(|lane| lane[1] - lane[0]);
    let shortest = lengths.min().unwrap_or(0);
    let mut bits = cursors.map(|cursor| P::of(cursor.at as u64));
    let mut previous = cursors.map(|cursor| cursor.previous);
    let mut done = 0;
    level.run(
        #[inline(always)]
        || {
            let mut odd = [P::default(); LANES];
            let mut tile = Tile([[P::default(); LANES]; DEPTH]);
            while done + DEPTH <= shortest {
                let last = bits.iter().copied().max().unwrap_or_default();
                if (last.into() / 8) as usize + MARGIN > streams.len() {
                    break;
                }
                for values in &mut tile.0 {
                    let mut words = [P::default(); LANES];
                    // SAFETY: words so far took up to `LONGEST` bits each, so that every place is
                    // followed by 8 bytes.
                    unsafe { level.gather(streams, &bits, &mut words) };
                    if !step(&words, &mut bits, &mut previous, &mut odd, &grid) {
                        odd_words(streams, &odd, &mut bits, &mut previous, grid.kept);
                    }
                    *values = previous;
                }
                // SAFETY: the shortest lane has these values.
                unsafe { level.scatter(&tile, out, first, done) };
                done += DEPTH;
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

/// Decodes the usual words (`00`, and those that begin with `1`), marks lanes that have others and
/// leaves them as they are; says whether there are none.
#[inline(always)]
fn step<P: Pattern>(
    words: &[P; LANES],
    bits: &mut [P; LANES],
    previous: &mut [P; LANES],
    odd: &mut [P; LANES],
    grid: &Grid<P>,
) -> bool {
    let number = |n: u32| P::of(n.into());
    let zero = P::default();
    let kept_bits = P::of((1 << P::MANTISSA) - 1) & !grid.dropped;
    let sign_bit = number(1) << (P::BITS - 1);
    let mut any = zero;
    for lane in 0..LANES {
        let (bit, before) = (bits[lane], previous[lane]);
        let window = words[lane].in_order().shift_left(bit & number(7));
        // Ones at the front of the difference, up to 6 of them, and its bits before the sign.
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
        odd[lane] = if near | same { zero } else { number(1) };
        any = any | odd[lane];
    }
    any == zero
}

/// Decodes the words of the lanes that [`step`] has marked.
#[inline(never)]
fn odd_words<P: Pattern>(
    streams: &[u8],
    odd: &[P; LANES],
    bits: &mut [P; LANES],
    previous: &mut [P; LANES],
    kept: u32,
) {
    for lane in (0..LANES).filter(|&lane| odd[lane] != P::default()) {
        let mut cursor = Cursor {
            at: bits[lane].into() as usize,
            previous: previous[lane],
        };
        previous[lane] = cursor.next(streams, kept);
        bits[lane] = P::of(cursor.at as u64);
    }
}
