//! Portable kernels: a multiplication gathers or scatters the bits of eight bytes.

use super::{Bytes, PLANE};

/// The lowest bit of every byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// One bit of each byte.
pub(super) fn plane(bytes: &Bytes, bit: u32) -> [u8; PLANE] {
    let mut plane = [0; PLANE];
    for (to, bytes) in plane.iter_mut().zip(bytes.0.as_chunks::<8>().0) {
        let bits = u64::from_le_bytes(*bytes) >> bit & LOWEST;
        // Bit 8i moves to bit 56 + i; the sums have no carries.
        *to = (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    plane
}

/// Sets one bit of each byte whose bit in the plane is set.
pub(super) fn add_plane(plane: &[u8; PLANE], bit: u32, bytes: &mut Bytes) {
    for (from, bytes) in plane.iter().zip(bytes.0.as_chunks_mut::<8>().0) {
        // Byte i keeps bit i, which an addition carries into its highest bit.
        let own = (u64::from(*from) * LOWEST) & 0x8040_2010_0804_0201;
        let bits = (own + 0x0040_6070_787c_7e7f) >> 7 & LOWEST;
        *bytes = (u64::from_le_bytes(*bytes) | bits << bit).to_le_bytes();
    }
}
