//! The patterns that words can express: floats with a number of mantissa bits.

use crate::bound::Tolerance;
use crate::fill::{FillValues, TypedFill};
use std::ops::{BitAnd, BitOr, Not, Shl, Shr};

/// The bit pattern of a float: `u32` or `u64`. Arithmetic is modulo the size.
pub(super) trait Pattern:
    bytemuck::Pod
    + Copy
    + Default
    + Ord
    + Send
    + Sync
    + Into<u64>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + 'static
{
    /// Bits of the mantissa.
    const MANTISSA: u32;
    /// Bits of a pattern.
    const BITS: u32;
    /// Bits of the exponent.
    const EXPONENT: u32 = Self::BITS - 1 - Self::MANTISSA;

    /// The low bits of a number.
    fn of(bits: u64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// Shifts by a number below the size.
    fn shift_left(self, by: Self) -> Self;
    /// From the order of bytes in a stream, the most significant first.
    fn in_order(self) -> Self;
    /// ⌊log2⌋ of a number below 2¹⁶; something far below zero for 0.
    fn log2(self) -> Self;

    /// All bits of the exponent.
    #[inline(always)]
    fn exponent_bits() -> Self {
        Self::of((1 << Self::EXPONENT) - 1) << Self::MANTISSA
    }
}

macro_rules! pattern {
    ($pattern:ty, $mantissa:expr, $log2:expr) => {
        impl Pattern for $pattern {
            const MANTISSA: u32 = $mantissa;
            const BITS: u32 = <$pattern>::BITS;

            #[inline(always)]
            fn of(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn shift_left(self, by: Self) -> Self {
                self.wrapping_shl(by as u32)
            }
            #[inline(always)]
            fn in_order(self) -> Self {
                Self::from_be(self)
            }
            #[inline(always)]
            fn log2(self) -> Self {
                $log2(self)
            }
        }
    };
}

// The exponent of the number as a float: vectors have this conversion everywhere, but a count of
// leading zeros only with AVX-512.
pattern!(u32, 23, |x: u32| ((x.cast_signed() as f32).to_bits() >> 23)
    .wrapping_sub(127));
pattern!(u64, 52, |x: u64| {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let float = f64::from_bits(x | TWO_52.to_bits()) - TWO_52;
    (float.to_bits() >> 52).wrapping_sub(1023)
});

/// The grid of a chunk, and what must stay off it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid<P> {
    /// Mantissa bits kept.
    pub kept: u32,
    /// What is added before the rest is cut off.
    half: P,
    /// The bits that are cut off.
    pub dropped: P,
    /// Whether zeros and subnormals may be coded as the value before again.
    pub zeros_repeat: bool,
    /// The values that must stay as they are; 0 and NaN, which do anyway, if there are none.
    fill: TypedFill<P>,
}

impl<P: Pattern> Grid<P> {
    /// The grid for a tolerance.
    ///
    /// A normal number of exponent E that keeps m bits moves by less than 2^(E−m) when it is cut
    /// off and by at most 2^(E−m−1) when it is rounded, and it is not below 2^E.
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
            grid.half = P::of(1) << (dropped - 1);
        }
        grid.fill = fill;
        grid
    }

    /// The grid of so many mantissa bits, as a decoder sees it.
    pub fn with_bits(kept: u32) -> Self {
        let dropped = P::MANTISSA - kept;
        Self {
            kept,
            half: P::default(),
            dropped: P::of((1 << dropped) - 1),
            zeros_repeat: true,
            fill: FillValues::NONE.typed(|_| P::default()),
        }
    }

    /// What the decoder will give for a pattern: the nearest of the grid, or the pattern itself if
    /// it is zero, subnormal, infinite, NaN, a fill value, or would become infinite or a fill value.
    #[inline(always)]
    pub fn round(&self, x: P) -> P {
        let rounded = self.round_with_one_fill(x);
        match self.fill.others().contains(&x) | self.fill.others().contains(&rounded) {
            true => x,
            false => rounded,
        }
    }

    /// The same for a block, which is faster.
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
