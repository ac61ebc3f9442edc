//! Separates zeros from bytes: a bitmap of the nonzero bytes, and these bytes.

#[cfg(target_arch = "x86_64")]
mod bmi2;

use crate::simd::Level;

/// Replaces `present` by the bitmap of `bytes`, and `kept` by the nonzero bytes. Ignores bytes after
/// the last whole octet.
pub(crate) fn compact(bytes: &[u8], simd: Level, present: &mut Vec<u8>, kept: &mut Vec<u8>) {
    let (octets, _) = bytes.as_chunks::<8>();
    present.resize(octets.len(), 0);
    // Kernels write whole words.
    kept.resize(bytes.len() + 8, 0);
    let count = match simd.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(avx2) => bmi2::compact(avx2, octets, present, kept),
        _ => compact_octets(octets, present, kept, gather),
    };
    kept.truncate(count);
}

/// Inverts [`compact`]; `bytes` gets zeros if `kept` is too short.
pub(crate) fn expand(present: &[u8], kept: &[u8], simd: Level, bytes: &mut [u8]) {
    let (octets, _) = bytes.as_chunks_mut::<8>();
    match simd.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(avx2) => bmi2::expand(avx2, present, kept, octets),
        _ => expand_octets(present, kept, octets, scatter),
    }
}

#[inline(always)]
fn compact_octets(
    octets: &[[u8; 8]],
    present: &mut [u8],
    kept: &mut [u8],
    gather: impl Fn(u64) -> (u8, u64),
) -> usize {
    let mut count = 0;
    for (octet, present) in octets.iter().zip(present) {
        let (bits, word) = gather(u64::from_le_bytes(*octet));
        *present = bits;
        kept[count..count + 8].copy_from_slice(&word.to_le_bytes());
        count += bits.count_ones() as usize;
    }
    count
}

#[inline(always)]
fn expand_octets(
    present: &[u8],
    mut kept: &[u8],
    octets: &mut [[u8; 8]],
    scatter: impl Fn(u8, u64) -> u64,
) {
    for (octet, &bits) in octets.iter_mut().zip(present) {
        let word = kept.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last[..kept.len()].copy_from_slice(kept);
            last
        });
        *octet = scatter(bits, u64::from_le_bytes(word)).to_le_bytes();
        kept = kept.get(bits.count_ones() as usize..).unwrap_or_default();
    }
}

/// Bitmap of the nonzero bytes of a word, and these bytes compacted.
fn gather(word: u64) -> (u8, u64) {
    let (mut bits, mut kept, mut count) = (0, 0, 0);
    for (i, byte) in word.to_le_bytes().into_iter().enumerate() {
        kept |= u64::from(byte).checked_shl(8 * count).unwrap_or(0);
        bits |= u8::from(byte != 0) << i;
        count += u32::from(byte != 0);
    }
    (bits, kept)
}

/// Inverts [`gather`].
fn scatter(bits: u8, mut kept: u64) -> u64 {
    let mut word = 0;
    for i in (0..8).filter(|i| bits >> i & 1 == 1) {
        word |= (kept & 0xff) << (8 * i);
        kept >>= 8;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_at_every_level() {
        let bytes: Vec<u8> = (0..320u32)
            .map(|i| if i % 7 < 5 { 0 } else { (i * 37) as u8 })
            .chain(1..=64)
            .collect();
        for simd in Level::available() {
            let (mut present, mut kept) = (vec![9; 3], Vec::new());
            compact(&bytes, simd, &mut present, &mut kept);
            assert_eq!(present.len(), 48);
            assert!(kept.iter().eq(bytes.iter().filter(|b| **b != 0)));
            let bit = |i: usize| present[i / 8] >> (i % 8) & 1 == 1;
            assert!((0..bytes.len()).all(|i| bit(i) == (bytes[i] != 0)));
            let mut back = vec![1; bytes.len()];
            expand(&present, &kept, simd, &mut back);
            assert_eq!(back, bytes);
            // Missing bytes are 0.
            expand(&present, &kept[..50], simd, &mut back);
            assert!(back[320..].iter().all(|b| *b == 0));
        }
    }
}
