//! XXH3 (64 bits) of two parts, long ones at the speed of the caches.
//!
//! The crate `twox-hash` hashes short inputs and is what tests compare with. Its streaming hasher keeps the
//! accumulators in memory or in registers as the optimizer happens to decide, which makes a factor of three.

#[cfg(target_arch = "x86_64")]
mod avx2;

use crate::simd::Avx2;
use twox_hash::xxhash3_64;

/// Up to this length, XXH3 has other formulas.
const MAX_SHORT_BYTES: usize = 240;

/// Accumulated at a time.
const STRIPE_BYTES: usize = 64;

/// Accumulators are scrambled after each block.
const BLOCK_BYTES: usize = 1024;

/// Offset of the words of the secret that scramble.
const SCRAMBLE_AT: usize = SECRET.len() - STRIPE_BYTES;

type Stripe = [u8; STRIPE_BYTES];
type Block = [u8; BLOCK_BYTES];
type Accumulators = [u64; 8];

const PRIME32: [u64; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];
const PRIME64: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];

/// The secret of XXH3 without a seed.
static SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

/// The checksum of `head`, shorter than a stripe, followed by `body`.
pub(crate) fn xxh3(avx2: Option<Avx2>, head: &[u8], body: &[u8]) -> u64 {
    let total = head.len() + body.len();
    // The beginning up to the first whole block.
    let mut first = [0; BLOCK_BYTES];
    let (from_body, rest) = body.split_at(body.len().min(BLOCK_BYTES - head.len()));
    let start = head.len() + from_body.len();
    first[..head.len()].copy_from_slice(head);
    first[head.len()..start].copy_from_slice(from_body);
    if total <= MAX_SHORT_BYTES {
        return xxhash3_64::Hasher::oneshot(&first[..total]);
    }
    let acc = match rest {
        [] => last_block(INITIAL, &first[..total], None),
        _ => {
            let acc = blocks(avx2, INITIAL, &[first]);
            // The last block is not empty, and its last stripe may begin in the one before it.
            let (whole, _) = rest[..rest.len() - 1].as_chunks();
            let tail = &rest[whole.len() * BLOCK_BYTES..];
            last_block(blocks(avx2, acc, whole), tail, body.last_chunk())
        }
    };
    merge(&acc, total as u64)
}

const INITIAL: Accumulators = [
    PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4], PRIME32[0],
];

/// Accumulates whole blocks.
fn blocks(avx2: Option<Avx2>, acc: Accumulators, blocks: &[Block]) -> Accumulators {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2 {
        return avx2::blocks(avx2, acc, blocks);
    }
    let _ = avx2;
    blocks_portable(acc, blocks)
}

fn blocks_portable(mut acc: Accumulators, blocks: &[Block]) -> Accumulators {
    for block in blocks {
        for (i, stripe) in block.as_chunks().0.iter().enumerate() {
            acc = accumulate(acc, stripe, 8 * i);
        }
        for (acc, secret) in acc.iter_mut().zip(words(&SECRET, SCRAMBLE_AT)) {
            *acc = (*acc ^ *acc >> 47 ^ secret).wrapping_mul(PRIME32[0]);
        }
    }
    acc
}

/// Accumulates the rest, and the last stripe of the input, which is that of the block if absent.
fn last_block(mut acc: Accumulators, block: &[u8], last: Option<&Stripe>) -> Accumulators {
    for (i, stripe) in block[..block.len() - 1].as_chunks().0.iter().enumerate() {
        acc = accumulate(acc, stripe, 8 * i);
    }
    match last.or(block.last_chunk()) {
        Some(last) => accumulate(acc, last, SCRAMBLE_AT - 7),
        None => acc,
    }
}

#[inline(always)]
fn accumulate(mut acc: Accumulators, stripe: &Stripe, secret: usize) -> Accumulators {
    let data = words(stripe, 0);
    let keyed = words(&SECRET, secret);
    for i in 0..8 {
        let key = data[i] ^ keyed[i];
        let product = (key & u64::from(u32::MAX)) * (key >> 32);
        acc[i] = acc[i].wrapping_add(data[i ^ 1]).wrapping_add(product);
    }
    acc
}

/// Eight words from this offset.
#[inline(always)]
fn words(bytes: &[u8], at: usize) -> [u64; 8] {
    let mut stripe = [0; STRIPE_BYTES];
    stripe.copy_from_slice(&bytes[at..at + STRIPE_BYTES]);
    bytemuck::cast(stripe)
}

/// The checksum from the accumulators and the length.
fn merge(acc: &Accumulators, total: u64) -> u64 {
    let secret = words(&SECRET, 11);
    let pairs = acc.as_chunks::<2>().0.iter().zip(secret.as_chunks::<2>().0);
    let mixed = pairs.map(|(acc, secret)| {
        let product = u128::from(acc[0] ^ secret[0]) * u128::from(acc[1] ^ secret[1]);
        product as u64 ^ (product >> 64) as u64
    });
    let sum = mixed.fold(total.wrapping_mul(PRIME64[0]), u64::wrapping_add);
    let sum = (sum ^ sum >> 37).wrapping_mul(0x1656_6791_9e37_79f9);
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_xxh3_at_every_level() {
        let bytes: Vec<u8> = (0..9000u32).map(|i| ((i * i) >> 3) as u8).collect();
        for avx2 in [None, Avx2::new()] {
            for length in (0..2200).chain([3072, 3073, 4096, 8191, 8192, 9000]) {
                let expected = xxhash3_64::Hasher::oneshot(&bytes[..length]);
                for head in [0, 1, 12, 26, 63] {
                    let (head, body) = bytes[..length].split_at(length.min(head));
                    assert_eq!(xxh3(avx2, head, body), expected, "{avx2:?} {length}");
                }
            }
        }
    }
}
