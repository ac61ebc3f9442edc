//! Blocks with AVX2: the accumulators in two vectors.

use super::{Accumulators, Block, PRIME32, SCRAMBLE_AT, SECRET};
use crate::simd::Avx2;
use std::arch::x86_64::*;

/// Accumulates whole blocks.
pub(super) fn blocks(_: Avx2, acc: Accumulators, blocks: &[Block]) -> Accumulators {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { blocks_avx2(acc, blocks) }
}

#[target_feature(enable = "avx2")]
fn blocks_avx2(mut all: Accumulators, blocks: &[Block]) -> Accumulators {
    // SAFETY: the references are to 32 bytes.
    let load = |half: &[u8; 32]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let secret = |at: usize| load(SECRET[at..].first_chunk().unwrap_or(&[0; 32]));
    let start = all.as_mut_ptr().cast::<__m256i>();
    // SAFETY: there are 64 bytes.
    let mut acc = unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] };
    let prime = _mm256_set1_epi64x(PRIME32[0] as i64);
    for block in blocks {
        for (i, stripe) in block.as_chunks::<64>().0.iter().enumerate() {
            for (half, acc) in acc.iter_mut().enumerate() {
                let data = load(&stripe.as_chunks().0[half]);
                let key = _mm256_xor_si256(data, secret(8 * i + 32 * half));
                let product = _mm256_mul_epu32(key, _mm256_srli_epi64::<32>(key));
                let swapped = _mm256_shuffle_epi32::<0b01_00_11_10>(data);
                *acc = _mm256_add_epi64(*acc, _mm256_add_epi64(product, swapped));
            }
        }
        for (half, acc) in acc.iter_mut().enumerate() {
            let mixed = _mm256_xor_si256(*acc, _mm256_srli_epi64::<47>(*acc));
            let mixed = _mm256_xor_si256(mixed, secret(SCRAMBLE_AT + 32 * half));
            let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(mixed), prime);
            let low = _mm256_mul_epu32(mixed, prime);
            *acc = _mm256_add_epi64(low, _mm256_slli_epi64::<32>(high));
        }
    }
    // SAFETY: there are 64 bytes.
    unsafe {
        _mm256_storeu_si256(start, acc[0]);
        _mm256_storeu_si256(start.add(1), acc[1]);
    }
    all
}
