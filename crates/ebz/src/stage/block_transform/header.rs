//! The header of a block: a 0 bit if all its values decode to zero; else a 1 bit, the number of
//! planes, and the biased exponent. The exponent of NaN marks a block that stores its values exactly
//! instead of planes.

use super::block_float::{BlockFloat, BlockInt};
use crate::bits::{BitReader, BitWriter};
use crate::error::{Error, Result};

/// The header of a block.
#[derive(Clone, Copy, PartialEq)]
pub enum Header {
    Zero,
    Planes { count: u32, exponent: u32 },
    Exact,
}

/// Width of the number of planes; 0 stands for all planes.
const fn count_bits<T: BlockFloat>() -> u32 {
    <T::Int as BlockInt>::BITS.trailing_zeros()
}

impl Header {
    /// Appends the header.
    #[inline(always)]
    pub fn write_to<T: BlockFloat>(self, writer: &mut BitWriter) {
        let (count, exponent) = match self {
            Self::Zero => return writer.put(0, 1),
            Self::Planes { count, exponent } => (count & (T::Int::BITS - 1), exponent),
            Self::Exact => (0, T::SPECIAL_EXPONENT),
        };
        let fields = count | exponent << count_bits::<T>();
        writer.put(1 | fields << 1, 1 + count_bits::<T>() + T::EXPONENT_BITS);
    }

    /// Reads a header.
    #[inline(always)]
    pub fn read_from<T: BlockFloat>(reader: &mut BitReader<'_>) -> Result<Self> {
        let (bits, _) = reader.peek();
        if bits & 1 == 0 {
            reader.skip(1);
            return Ok(Self::Zero);
        }
        reader.skip((1 + count_bits::<T>() + T::EXPONENT_BITS) as usize);
        let count = (bits >> 1) as u32 & (T::Int::BITS - 1);
        let exponent = (bits >> (1 + count_bits::<T>())) as u32 & T::SPECIAL_EXPONENT;
        if exponent == T::SPECIAL_EXPONENT {
            Ok(Self::Exact)
        } else if exponent < T::MIN_EXPONENT {
            Err(Error::corrupt("the exponent of a block is too small"))
        } else {
            let count = if count == 0 { T::Int::BITS } else { count };
            Ok(Self::Planes { count, exponent })
        }
    }
}
