//! A lattice on the float line with nearly logarithmic spacing.

use super::real::Real;

/// Floats that have a lattice index: `f32` or `f64`.
pub trait LogLattice: Real {
    /// Indices per binade.
    const BINADE: f64;
    /// Largest finite number.
    const LARGEST: Self;
    /// Largest coordinate that is accurate enough in this type.
    const REACH: f64;

    /// Lattice index of the magnitude.
    fn index_of(self) -> Self::Order;
    /// Coordinate of the value, for the reciprocal of the step and the index of the base, and
    /// whether it is at most `most`.
    fn coordinate(self, inverse: Self, base: Self::Order, most: Self) -> (i64, bool);
    /// The same in double precision, for coordinates beyond [`LogLattice::REACH`].
    fn coordinate_wide(self, inverse: f64, base: Self::Order, most: f64) -> (i64, bool);
    /// The value of a coordinate.
    fn at(coordinate: i64, step: Self::Order, base: Self::Order) -> Self;
}

macro_rules! placed {
    ($float:ident, $unsigned:ident, $signed:ident, $distance:ident, $reach:expr) => {
        impl LogLattice for $float {
            const BINADE: f64 = (1u64 << ($float::MANTISSA_DIGITS - 1)) as f64;
            const LARGEST: Self = $float::MAX;
            const REACH: f64 = $reach;

            #[inline(always)]
            fn index_of(self) -> $unsigned {
                const ONE: $unsigned = (1.0 as $float).to_bits();
                const FRACTION: $unsigned = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                let bits = self.abs().to_bits();
                let m = $float::from_bits(bits & FRACTION | ONE);
                let t = (m * 3.0 - 2.0).sqrt();
                // If t was rounded up to 2, this carries into the next binade.
                (bits & !FRACTION)
                    .wrapping_add(t.to_bits())
                    .wrapping_sub(ONE)
            }

            #[inline(always)]
            fn coordinate(self, inverse: Self, base: $unsigned, most: Self) -> (i64, bool) {
                let distance = self.index_of().wrapping_sub(base) as $distance as $float;
                let rounded = distance * inverse + Self::ROUNDER;
                let k = rounded - Self::ROUNDER;
                let bits = rounded.to_bits().wrapping_sub(Self::ROUNDER.to_bits());
                let sign = self.to_bits().cast_signed() >> ($unsigned::BITS - 1);
                let signed = (bits.cast_signed() ^ sign).wrapping_sub(sign);
                let zero = self == 0.0;
                let coordinate = if zero { 0 } else { signed };
                (coordinate as i64, zero | ((k >= 1.0) & (k <= most)))
            }

            #[inline(always)]
            fn coordinate_wide(self, inverse: f64, base: $unsigned, most: f64) -> (i64, bool) {
                let distance = self.index_of().wrapping_sub(base) as $distance as f64;
                let rounded = distance * inverse + f64::ROUNDER;
                let k = rounded - f64::ROUNDER;
                let bits = rounded.to_bits().wrapping_sub(f64::ROUNDER.to_bits());
                let sign = i64::from(self.to_bits().cast_signed() >> ($unsigned::BITS - 1));
                let signed = (bits.cast_signed() ^ sign).wrapping_sub(sign);
                let zero = self == 0.0;
                let coordinate = if zero { 0 } else { signed };
                (coordinate, zero | ((k >= 1.0) & (k <= most)))
            }

            #[inline(always)]
            fn at(coordinate: i64, step: $unsigned, base: $unsigned) -> Self {
                const ONE: $unsigned = (1.0 as $float).to_bits();
                const FRACTION: $unsigned = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                const SIGN: $unsigned = 1 << ($unsigned::BITS - 1);
                let coordinate = coordinate as $signed;
                let place = coordinate
                    .unsigned_abs()
                    .wrapping_mul(step)
                    .wrapping_add(base);
                let t = $float::from_bits(place & FRACTION | ONE);
                let m = (t * t + 2.0) * (1.0 / 3.0);
                let magnitude = (place & !FRACTION)
                    .wrapping_add(m.to_bits())
                    .wrapping_sub(ONE);
                let bits = if coordinate == 0 { 0 } else { magnitude };
                $float::from_bits(bits | (coordinate.cast_unsigned() & SIGN))
            }
        }
    };
}

// Magnitudes below the base give a negative coordinate or one above the maximum.
placed!(f32, u32, i32, i32, 32_767.0);
placed!(f64, u64, i64, u64, 2_147_483_647.0);
