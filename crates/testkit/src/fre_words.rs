//! Counts the bits of the words of `fre` from the table in the paper, independently of the codec.

/// Words of an array by kind, and their bits, for truncation to a number of mantissa bits and a
/// single stream.
#[derive(Debug, Default, Clone, Copy)]
pub struct Count {
    /// Repeated value: `00`.
    pub same: u64,
    /// Zeros and subnormals: `010`.
    pub subnormal: u64,
    /// Large exponent differences: `011`.
    pub far: u64,
    /// Equal exponents.
    pub level: u64,
    /// Exponent differences of 1 to 5.
    pub near: u64,
    /// Exponent differences of 6 to 9.
    pub middle: u64,
    /// NaN and infinities, which the paper does not have.
    pub exact: u64,
    /// Total number of bits.
    pub bits: u64,
}

impl Count {
    /// Counts the words of `values` with `kept` mantissa bits.
    pub fn of(values: &[f32], kept: u32) -> Self {
        let mut count = Self::default();
        let mut previous = 0u32;
        for value in values {
            let bits = value.to_bits();
            let exponent = bits >> 23 & 255;
            let special = exponent == 0 || exponent == 255;
            let x = if special {
                bits
            } else {
                bits >> (23 - kept) << (23 - kept)
            };
            let apart = exponent.abs_diff(previous >> 23 & 255);
            let (kind, length) = if x == previous {
                (&mut count.same, 2)
            } else if exponent == 0 {
                (&mut count.subnormal, 27)
            } else if exponent == 255 {
                (&mut count.exact, 43)
            } else {
                match apart {
                    0 => (&mut count.level, kept + 3),
                    1..=5 => (&mut count.near, kept + 4 + apart),
                    6..=9 => (&mut count.middle, kept + 11),
                    _ => (&mut count.far, kept + 12),
                }
            };
            *kind += 1;
            count.bits += u64::from(length);
            previous = x;
        }
        count
    }
}
