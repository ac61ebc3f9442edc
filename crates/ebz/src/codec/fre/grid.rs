//! The representable patterns: floats with a reduced number of mantissa bits.

use crate::bound::Tolerance;
use crate::element::word::Word;
use crate::fill::{FillValues, TypedFill};
use std::ops::{BitAnd, BitOr, Not, Shl, Shr};

/// The bit pattern of a float, `u32` or `u64`, with wrapping arithmetic.
pub(super) trait Pattern:
    Word
    + Into<u64>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
{
    /// Number of mantissa bits.
    const MANTISSA: u32;
    /// Number of bits of a pattern.
    const BITS: u32;
    /// Number of exponent bits.
    const EXPONENT: u32 = Self::BITS - 1 - Self::MANTISSA;

    /// Shifts by less than the size.
    fn shift_left(self, by: Self) -> Self;
    /// Converts from the byte order of a stream (big-endian).
    fn to_native_order(self) -> Self;
    /// ⌊log2⌋ of a number below 2¹⁶; a large negative number for 0.
    fn log2(self) -> Self;

    /// Mask of the exponent bits.
    #[inline(always)]
    fn exponent_bits() -> Self {
        Self::truncate((1 << Self::EXPONENT) - 1) << Self::MANTISSA
    }
}

macro_rules! pattern {
    ($pattern:ty, $mantissa:expr, $log2:expr) => {
        impl Pattern for $pattern {
            const MANTISSA: u32 = $mantissa;
            const BITS: u32 = <$pattern>::BITS;

            #[inline(always)]
            fn shift_left(self, by: Self) -> Self {
                self.wrapping_shl(by as u32)
            }
            #[inline(always)]
            fn to_native_order(self) -> Self {
                Self::from_be(self)
            }
            #[inline(always)]
            fn log2(self) -> Self {
                $log2(self)
            }
        }
    };
}

// Exponent of the number as a float: every vector instruction set converts to floats, but only
// AVX-512 counts leading zeros.
pattern!(u32, 23, |x: u32| ((x.cast_signed() as f32).to_bits() >> 23)
    .wrapping_sub(127));
pattern!(u64, 52, |x: u64| {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let float = f64::from_bits(x | TWO_52.to_bits()) - TWO_52;
    (float.to_bits() >> 52).wrapping_sub(1023)
});

/// Rounding rule of a chunk, and the values exempt from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MantissaGrid<P> {
    /// Mantissa bits kept.
    pub kept: u32,
    /// Added before truncation.
    pub half: P,
    /// Mask of the truncated bits.
    pub dropped: P,
    /// Whether repeated zeros and subnormals use the short word of a repeated value.
    pub zeros_repeat: bool,
    /// Values that must be exact; if there are none, the list holds 0, which is exact anyway.
    pub fill: TypedFill<P>,
}

impl<P: Pattern> MantissaGrid<P> {
    /// The rule for a tolerance.
    ///
    /// A normal number of exponent E with m mantissa bits kept changes by less than 2^(E−m) if
    /// truncated and by at most 2^(E−m−1) if rounded, and its magnitude is at least 2^E.
    pub fn new(tolerance: Tolerance, nearest: bool, fill: TypedFill<P>) -> Self {
        let kept = match tolerance {
            Tolerance::Pointwise(e) => {
                let most = if nearest { 2.0 * e } else { e };
                (0..P::MANTISSA).find(|&m| 2f64.powi(-m.cast_signed()) <= most)
            }
            Tolerance::Precision(bits) => Some(bits.min(P::MANTISSA)),
            Tolerance::Abs(_) | Tolerance::Lossless => None,
        };
        let mut grid = Self::with_bits(kept.unwrap_or(P::MANTISSA));
        let dropped = P::MANTISSA - grid.kept;
        if nearest && dropped > 0 {
            grid.half = P::truncate(1) << (dropped - 1);
        }
        grid.fill = fill;
        grid
    }

    /// The rule for this many mantissa bits, as a decoder needs it.
    pub fn with_bits(kept: u32) -> Self {
        let dropped = P::MANTISSA - kept;
        Self {
            kept,
            half: P::default(),
            dropped: P::truncate((1 << dropped) - 1),
            zeros_repeat: true,
            fill: FillValues::NONE.typed(|_| P::default()),
        }
    }

    /// The pattern that decodes for `x`: the rounded one, or `x` itself if it is zero, subnormal,
    /// infinite, NaN or a fill value, or if it would round to an infinity or a fill value.
    #[inline(always)]
    pub fn round(&self, x: P) -> P {
        let rounded = self.round_with_one_fill(x);
        match self.fill.others().contains(&x) | self.fill.others().contains(&rounded) {
            true => x,
            false => rounded,
        }
    }

    /// The same for a block, vectorized.
    #[inline(always)]
    pub fn round_all(&self, values: &[P], rounded: &mut [P]) {
        for (rounded, &value) in rounded.iter_mut().zip(values) {
            *rounded = self.round_with_one_fill(value);
        }
        if self.fill.len() > 1 {
            for (rounded, &value) in rounded.iter_mut().zip(values) {
                *rounded = self.round(value);
            }
        }
    }

    #[inline(always)]
    fn round_with_one_fill(&self, x: P) -> P {
        let all = P::exponent_bits();
        let rounded = x.add(self.half) & !self.dropped;
        let exponent = x & all;
        let exact = (exponent == P::default())
            | (exponent == all)
            | (rounded & all == all)
            | (x == self.fill.first())
            | (rounded == self.fill.first());
        if exact { x } else { rounded }
    }
}
