//! The definition of the words (the table of the paper), one at a time; the kernels follow it.
//!
//! | case | word |
//! |---|---|
//! | same value as before; with `zeros=word`, only if its exponent is not 0 | `00` |
//! | exponent 0: zero or subnormal | `010` sign, mantissa |
//! | exponent differs by more than 9 | `011` sign, exponent, kept mantissa bits |
//! | exponent differs by 0 … 9 | `1` sign, kept mantissa bits, code of the difference |
//! | not representable: NaN, infinite, fill | `011` sign, exponent of ones, exponent, mantissa |
//!
//! Codes of differences begin with one of ten codes of different ranks, none of which begins with another; an
//! [`Order`] assigns them to magnitudes. The sign follows, unless the magnitude is 0.
//!
//! Fields and bytes are stored most significant bit first.

use super::grid::{MantissaGrid, Pattern};
use super::order::{MAGNITUDES, Order};

/// Length of the longest word: `011` and an exact double.
pub(super) const MAX_WORD_BITS: usize = 3 + 1 + 11 + 11 + 52;

/// Right-aligned bits and their number.
pub(super) type Bits = (u128, u32);

/// Appends a field to bits.
const fn then((bits, length): Bits, field: u64, size: u32) -> Bits {
    (bits << size | field as u128, length + size)
}

/// The code of an exponent difference whose magnitude has a rank of at most 9.
pub(super) const fn difference(d: i64, rank: u64) -> Bits {
    let code = match rank {
        0..=5 => then((0, 0), (2 << rank) - 2, rank as u32 + 1),
        _ => then((0b11_1111, 6), rank - 6, 2),
    };
    match d {
        0 => code,
        _ => then(code, (d < 0) as u64, 1),
    }
}

/// The kinds of words.
pub(super) enum Kind {
    Same,
    Subnormal,
    Exact,
    Far,
    /// With the exponent difference.
    Near(i64),
}

/// The exponent bits as a number.
#[inline(always)]
fn exponent_field<P: Pattern>(x: P) -> u64 {
    (x & P::exponent_bits()).into() >> P::MANTISSA
}

/// The kind of a pattern's word, given the previous pattern; both as returned by [`MantissaGrid::round`].
#[inline(always)]
pub(super) fn kind<P: Pattern>(x: P, previous: P, grid: &MantissaGrid<P>) -> Kind {
    let exponent = exponent_field(x);
    let d = exponent.cast_signed() - exponent_field(previous).cast_signed();
    if x == previous && (exponent != 0 || grid.zeros_repeat) {
        Kind::Same
    } else if exponent == 0 {
        Kind::Subnormal
    } else if exponent == (1 << P::EXPONENT) - 1 || x & grid.dropped != P::default() {
        Kind::Exact
    } else if d.unsigned_abs() >= MAGNITUDES as u64 {
        Kind::Far
    } else {
        Kind::Near(d)
    }
}

/// The word of a pattern, given the previous one; both as returned by [`MantissaGrid::round`].
pub(super) fn encode<P: Pattern>(
    x: P,
    previous: P,
    grid: &MantissaGrid<P>,
    order: impl Order,
) -> Bits {
    let ones = (1 << P::EXPONENT) - 1;
    let sign = x.into() >> (P::BITS - 1);
    let exponent = exponent_field(x);
    let mantissa = x.into() & ((1 << P::MANTISSA) - 1);
    let kept = mantissa >> (P::MANTISSA - grid.kept);
    match kind(x, previous, grid) {
        Kind::Same => (0b00, 2),
        Kind::Subnormal => then(then((0b010, 3), sign, 1), mantissa, P::MANTISSA),
        Kind::Exact => {
            let escape = then(then((0b011, 3), sign, 1), ones, P::EXPONENT);
            then(then(escape, exponent, P::EXPONENT), mantissa, P::MANTISSA)
        }
        Kind::Far => {
            let head = then(then((0b011, 3), sign, 1), exponent, P::EXPONENT);
            then(head, kept, grid.kept)
        }
        Kind::Near(d) => {
            let head = then(then((0b1, 1), sign, 1), kept, grid.kept);
            let (code, size) = difference(d, order.rank(d.unsigned_abs()));
            then(head, code as u64, size)
        }
    }
}

/// Reads fields from the front of a left-aligned window.
struct Window {
    bits: u128,
    taken: u32,
}

impl Window {
    #[inline(always)]
    fn take(&mut self, size: u32) -> u64 {
        // Two shifts, because `size` may be 0.
        let field = (self.bits >> 1 >> (127 - size)) as u64;
        self.bits <<= size;
        self.taken += size;
        field
    }
}

/// The pattern and the length of the word at the front of a window. Any bits form a valid word.
#[inline(always)]
pub(super) fn decode<P: Pattern>(
    window: u128,
    previous: P,
    kept: u32,
    order: impl Order,
) -> (P, u32) {
    let mut window = Window {
        bits: window,
        taken: 0,
    };
    let dropped = P::MANTISSA - kept;
    let pattern = if window.take(1) == 1 {
        let sign = window.take(1) << (P::BITS - 1);
        let mantissa = window.take(kept) << dropped;
        let mut rank = u64::from((!window.bits).leading_zeros().min(6));
        window.take(rank as u32 + u32::from(rank < 6));
        if rank == 6 {
            rank += window.take(2);
        }
        let size = order.magnitude(rank);
        let step = P::truncate(size) << P::MANTISSA;
        let exponent = previous & P::exponent_bits();
        let exponent = if size > 0 && window.take(1) == 1 {
            exponent.sub(step)
        } else {
            exponent.add(step)
        };
        exponent | P::truncate(sign | mantissa)
    } else if window.take(1) == 0 {
        previous
    } else {
        let wide = window.take(1) == 1;
        let sign = window.take(1) << (P::BITS - 1);
        let ones = (1 << P::EXPONENT) - 1;
        let mut exponent = if wide { window.take(P::EXPONENT) } else { 0 };
        let mantissa = if exponent == ones {
            exponent = window.take(P::EXPONENT);
            window.take(P::MANTISSA)
        } else if wide {
            window.take(kept) << dropped
        } else {
            window.take(P::MANTISSA)
        };
        P::truncate(sign | exponent << P::MANTISSA | mantissa)
    };
    (pattern, window.taken)
}
