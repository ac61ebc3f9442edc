//! Bit packing of fields of up to eight bits. Eight fields of n bits take n bytes, so that one
//! instruction packs or unpacks eight fields, and a few process 64.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bmi2;
pub(crate) mod wide;

use crate::bits::low_mask;
use crate::simd::Level;

/// Appends the lowest `width` ≤ 8 bits of each byte of `fields`.
pub(crate) fn pack(fields: &[u8], width: u32, simd: Level, out: &mut Vec<u8>) {
    let start = out.len();
    let size = packed_size(fields.len(), width);
    // Kernels write whole vectors.
    out.resize(start + size + 64, 0);
    let packed = &mut out[start..];
    let done = match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) if width <= avx512::MAX_PACK_WIDTH => {
            avx512::pack(avx512, fields, width, packed)
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => bmi2::pack(avx512.avx2(), fields, width, packed),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => bmi2::pack(avx2, fields, width, packed),
        _ => pack_octets(fields, width, packed, gather),
    };
    let mut packed = &mut packed[done / 8 * width as usize..];
    for rest in fields[done..].chunks(8) {
        let mut octet = [0; 8];
        octet[..rest.len()].copy_from_slice(rest);
        packed[..8].copy_from_slice(&gather(u64::from_le_bytes(octet), width).to_le_bytes());
        packed = &mut packed[width as usize..];
    }
    out.truncate(start + size);
}

/// Inverts [`pack`].
pub(crate) fn unpack(packed: &[u8], width: u32, simd: Level, fields: &mut [u8]) {
    let done = match simd {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => avx512::unpack(avx512, packed, width, fields),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => bmi2::unpack(avx2, packed, width, fields),
        _ => unpack_octets(packed, width, fields, scatter),
    };
    let mut rest = &packed[done / 8 * width as usize..];
    for octet in fields[done..].chunks_mut(8) {
        let (now, later) = rest.split_at(rest.len().min(width as usize));
        rest = later;
        let mut word = [0; 8];
        word[..now.len()].copy_from_slice(now);
        let spread = scatter(u64::from_le_bytes(word), width).to_le_bytes();
        octet.copy_from_slice(&spread[..octet.len()]);
    }
}

/// Size of packed fields in bytes.
fn packed_size(fields: usize, width: u32) -> usize {
    (fields / 8 * width as usize) + (fields % 8 * width as usize).div_ceil(8)
}

/// Packs all whole octets; returns the number of fields done.
#[inline(always)]
fn pack_octets(
    fields: &[u8],
    width: u32,
    packed: &mut [u8],
    gather: impl Fn(u64, u32) -> u64,
) -> usize {
    let mut at = 0;
    for octet in fields.as_chunks::<8>().0 {
        let word = gather(u64::from_le_bytes(*octet), width);
        packed[at..at + 8].copy_from_slice(&word.to_le_bytes());
        at += width as usize;
    }
    fields.len() / 8 * 8
}

/// Unpacks octets as long as whole words can be read; returns the number of fields done.
#[inline(always)]
fn unpack_octets(
    packed: &[u8],
    width: u32,
    fields: &mut [u8],
    scatter: impl Fn(u64, u32) -> u64,
) -> usize {
    let mut words = packed.windows(8).step_by(width as usize);
    let mut done = 0;
    for (octet, word) in fields.as_chunks_mut::<8>().0.iter_mut().zip(&mut words) {
        let word = word
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word));
        *octet = scatter(word, width).to_le_bytes();
        done += 8;
    }
    done
}

/// Compacts the fields of eight bytes.
fn gather(word: u64, width: u32) -> u64 {
    let mut word = word & spaced(width, 8);
    for space in [8, 16, 32] {
        let wide = width * space / 8;
        let low = word & spaced(wide, 2 * space);
        word = low | (word & !spaced(wide, 2 * space)) >> (space - wide);
    }
    word
}

/// Inverts [`gather`].
fn scatter(word: u64, width: u32) -> u64 {
    let mut word = word & low_mask(8 * width);
    for space in [32, 16, 8] {
        let wide = width * space / 8;
        let low = word & spaced(wide, 2 * space);
        word = low | (word & !low) << (space - wide);
    }
    word
}

/// Mask of the lowest `width` bits of every `space`.
fn spaced(width: u32, space: u32) -> u64 {
    (0..64)
        .step_by(space as usize)
        .fold(0, |all, at| all | low_mask(width) << at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_matches_a_bit_writer_and_round_trips() {
        for count in [0, 1, 7, 8, 9, 64, 77, 300] {
            let fields: Vec<u8> = (0..count).map(|i: u32| (i * 151 + i / 7) as u8).collect();
            for width in 1..=8 {
                let mask = 0xff >> (8 - width);
                let kept: Vec<u8> = fields.iter().map(|f| f & mask).collect();
                let mut expected = vec![9];
                wide::pack(fields.iter().map(|f| u64::from(*f)), width, &mut expected);
                for simd in Level::available() {
                    let mut packed = vec![9];
                    pack(&fields, width, simd, &mut packed);
                    assert_eq!(packed, expected, "{count} {width} {simd:?}");
                    assert_eq!(packed.len() - 1, packed_size(fields.len(), width));
                    let mut back = vec![0xff; fields.len()];
                    unpack(&packed[1..], width, simd, &mut back);
                    assert_eq!(back, kept, "{count} {width} {simd:?}");
                }
            }
        }
    }
}
