//! Segments of residuals: detection of large lanes, and low bits.
//!
//! Low bits of residuals with large neighbours are noise, and are stored raw. A residual is split
//! into a rounded quotient by a power of two and a remainder. Remainders are stored bit by bit,
//! from the lowest: for each bit, that bit of all lanes that have it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
mod portable;

use crate::bits::{BitReader, BitWriter};
use crate::codec::interp::context::MAX_LOW_BITS;
use crate::simd::Level as Isa;
use crate::stage::rans::LANES;

/// The smallest sums at which 1, 2, … low bits are stored.
type Thresholds = [u8; MAX_LOW_BITS];

/// Writes the remainders and leaves the quotients.
#[inline(always)]
pub(super) fn split(
    isa: Isa,
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    out: &mut BitWriter,
) {
    match isa {
        // SAFETY: a level exists only where the machine has its instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_) => unsafe { avx512::split(residuals, sums, thresholds, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) => unsafe { avx2::split(residuals, sums, thresholds, out) },
        _ => portable::split(residuals, sums, thresholds, out),
    }
}

/// Reads the remainders and combines them with the quotients.
#[inline(always)]
pub(super) fn merge(
    isa: Isa,
    residuals: &mut [i16; LANES],
    sums: &[u8; LANES],
    thresholds: &Thresholds,
    bits: &mut BitReader<'_>,
) {
    match isa {
        // SAFETY: a level exists only where the machine has its instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_) => unsafe { avx512::merge(residuals, sums, thresholds, bits) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) => unsafe { avx2::merge(residuals, sums, thresholds, bits) },
        _ => portable::merge(residuals, sums, thresholds, bits),
    }
}

/// Mask of the lanes whose residuals exceed `most` in magnitude; −32768 does not.
#[inline(always)]
pub(super) fn lanes_above(isa: Isa, residuals: &[i16; LANES], most: i16) -> u32 {
    match isa {
        // SAFETY: a level exists only where the machine has its instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_) => unsafe { avx512::lanes_above(residuals, most) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) => unsafe { avx2::lanes_above(residuals, most) },
        _ => portable::lanes_above(residuals, most),
    }
}

/// The lanes whose bits are set.
pub(super) fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::interp::context::low_bit_thresholds;

    /// Pseudorandom residuals and sums of every size.
    fn sample(seed: u32) -> ([i16; LANES], [u8; LANES]) {
        let random = |i: usize| (seed.wrapping_mul(747) + i as u32).wrapping_mul(2_654_435_761);
        (
            std::array::from_fn(|i| {
                ((random(i) >> 8) as i16 >> (random(i) % 15)).clamp(-30_000, 30_000)
            }),
            std::array::from_fn(|i| (random(i) >> 24) as u8),
        )
    }

    #[test]
    fn all_levels_write_and_read_the_same_bits() {
        let mut streams = Vec::new();
        for isa in Isa::available() {
            let mut writer = BitWriter::default();
            let mut quotients = Vec::new();
            for seed in 0..500 {
                let (mut residuals, sums) = sample(seed);
                let thresholds = low_bit_thresholds(seed as usize % 6);
                split(isa, &mut residuals, &sums, thresholds, &mut writer);
                quotients.push(residuals);
            }
            streams.push((writer.finish().to_vec(), quotients));
        }
        let (bytes, quotients) = &streams[0];
        assert!(streams.iter().all(|s| *s == streams[0]));
        for isa in Isa::available() {
            let mut reader = BitReader::new(bytes);
            for (seed, quotients) in quotients.iter().enumerate() {
                let (residuals, sums) = sample(seed as u32);
                let mut back = *quotients;
                merge(
                    isa,
                    &mut back,
                    &sums,
                    low_bit_thresholds(seed % 6),
                    &mut reader,
                );
                assert_eq!(back, residuals);
            }
            reader.finish().unwrap();
        }
    }
}
