//! Words of single precision, 16 at a time.

use super::{MAX_KEPT, count, load, splat, store};
use crate::codec::fre::grid::MantissaGrid;
use crate::codec::fre::kernels::words::{BLOCK_VALUES, TOO_LONG, Words};
use crate::codec::fre::word;
use crate::simd::Avx512;
use std::arch::x86_64::*;

const EXPONENT: u32 = 0xff << 23;
const MANTISSA: u32 = (1 << 23) - 1;

/// Largest exponent difference of a word that begins with `1`.
const MAX_DIFFERENCE: u32 = 9;

/// Codes of the differences, and their lengths, from −[`MAX_DIFFERENCE`] on.
static CODES: [[u32; 16]; 2] = differences().0;
static SIZES: [[u32; 16]; 2] = differences().1;

const fn differences() -> ([[u32; 16]; 2], [[u32; 16]; 2]) {
    let (mut codes, mut sizes) = ([[0; 16]; 2], [[0; 16]; 2]);
    let mut i = 0;
    while i <= 2 * MAX_DIFFERENCE as usize {
        let d = i as i64 - MAX_DIFFERENCE as i64;
        let (code, size) = word::difference(d, d.unsigned_abs());
        codes[i / 16][i % 16] = code as u32;
        sizes[i / 16][i % 16] = size;
        i += 1;
    }
    (codes, sizes)
}

/// As [`Words::build`]; false if words may be longer than 32 bits, or if there are several fill values.
#[inline(always)]
pub(in crate::codec::fre::kernels) fn build(
    _: Avx512,
    words: &mut Words<u32>,
    values: &[u32; BLOCK_VALUES],
    grid: &MantissaGrid<u32>,
) -> bool {
    let fits = grid.kept <= MAX_KEPT && grid.fill.len() <= 1;
    if fits {
        // SAFETY: the token exists only where the machine has these features.
        unsafe { build_avx512(words, values, grid) };
    }
    fits
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn build_avx512(words: &mut Words<u32>, values: &[u32; BLOCK_VALUES], grid: &MantissaGrid<u32>) {
    let mut before = splat(words.rounded[0]);
    let (rounded, _) = words.rounded[1..].as_chunks_mut::<16>();
    let inputs = values
        .as_chunks::<32>()
        .0
        .iter()
        .zip(rounded.as_chunks_mut::<2>().0);
    let pairs = words.pairs.as_chunks_mut::<16>().0.iter_mut();
    let pair_lengths = words.pair_lengths.as_chunks_mut::<16>().0.iter_mut();
    let fours = words.fours.as_chunks_mut::<8>().0.iter_mut();
    let four_lengths = words.four_lengths.as_chunks_mut::<8>().0.iter_mut();
    let outputs = pairs.zip(pair_lengths).zip(fours.zip(four_lengths));
    for ((values, rounded), ((pairs, pair_lengths), (four, four_length))) in inputs.zip(outputs) {
        let values = values.as_chunks().0;
        let mut made = [(before, before); 2];
        for half in 0..2 {
            let x = round(load(&values[half]), grid);
            store(x, &mut rounded[half]);
            let previous = _mm512_alignr_epi32::<15>(x, before);
            before = x;
            made[half] = pair(one(x, previous, grid));
            store_u64(made[half].0, &mut pairs.as_chunks_mut().0[half]);
            store_u64(made[half].1, &mut pair_lengths.as_chunks_mut().0[half]);
        }
        // Groups of four of the first vector alternate with those of the second.
        let [first, second] = made;
        let by = _mm512_unpackhi_epi64(first.1, second.1);
        let bits = _mm512_sllv_epi64(_mm512_unpacklo_epi64(first.0, second.0), by);
        let bits = _mm512_or_si512(bits, _mm512_unpackhi_epi64(first.0, second.0));
        let length = _mm512_add_epi64(_mm512_unpacklo_epi64(first.1, second.1), by);
        let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
        store_u64(_mm512_permutexvar_epi64(order, bits), four);
        store_u64(_mm512_permutexvar_epi64(order, length), four_length);
    }
}

/// As [`MantissaGrid::round`] with one fill value.
#[target_feature(enable = "avx512f")]
#[inline]
fn round(x: __m512i, grid: &MantissaGrid<u32>) -> __m512i {
    let sum = _mm512_add_epi32(x, splat(grid.half));
    let rounded = _mm512_and_si512(sum, splat(!grid.dropped));
    // Without the sign, less one exponent: zeros and subnormals wrap to the top.
    let twice = _mm512_sub_epi32(_mm512_add_epi32(x, x), splat(1 << 24));
    let special = _mm512_cmpge_epu32_mask(twice, splat(0xfe << 24));
    let twice = _mm512_add_epi32(rounded, rounded);
    let infinite = _mm512_cmpge_epu32_mask(twice, splat(0xff << 24));
    let fill = splat(grid.fill.first());
    let filled = _mm512_cmpeq_epi32_mask(x, fill) | _mm512_cmpeq_epi32_mask(rounded, fill);
    _mm512_mask_mov_epi32(rounded, special | infinite | filled, x)
}

/// The words, and their lengths, of rounded values and those before them.
#[target_feature(enable = "avx512f")]
#[inline]
fn one(x: __m512i, previous: __m512i, grid: &MantissaGrid<u32>) -> (__m512i, __m512i) {
    let kept = grid.kept;
    let field = |x| _mm512_and_si512(_mm512_srli_epi32::<23>(x), splat(0xff));
    let exponent = field(x);
    let difference = _mm512_sub_epi32(exponent, field(previous));
    let entry = _mm512_add_epi32(difference, splat(MAX_DIFFERENCE));

    // `1` sign, kept mantissa bits, difference.
    let [first, second] = &SIZES;
    let size = _mm512_permutex2var_epi32(load(first), entry, load(second));
    let [first, second] = &CODES;
    let code = _mm512_permutex2var_epi32(load(first), entry, load(second));
    let fields = _mm512_srl_epi32(x, count(23 - kept));
    let sign = _mm512_srl_epi32(x, count(31 - kept));
    // mask & mantissa | !mask & sign
    const SELECT: i32 = 0xca;
    let head = _mm512_ternarylogic_epi32::<SELECT>(splat((1 << kept) - 1), fields, sign);
    let head = _mm512_or_si512(head, splat(2 << kept));
    let mut word = _mm512_or_si512(_mm512_sllv_epi32(head, size), code);
    let mut length = _mm512_add_epi32(size, splat(2 + kept));

    let same = _mm512_cmpeq_epi32_mask(x, previous);
    let far = _mm512_cmpgt_epu32_mask(entry, splat(2 * MAX_DIFFERENCE));
    let small = _mm512_testn_epi32_mask(x, splat(EXPONENT));
    let exact = _mm512_cmpeq_epi32_mask(exponent, splat(0xff))
        | _mm512_test_epi32_mask(x, splat(grid.dropped));
    let same = if grid.zeros_repeat {
        same
    } else {
        same & !small
    };
    if (far | small | exact) & !same != 0 {
        // `011` sign, exponent, kept mantissa bits.
        let all = _mm512_or_si512(fields, splat(0b0110 << (8 + kept)));
        word = _mm512_mask_mov_epi32(word, far, all);
        length = _mm512_mask_mov_epi32(length, far, splat(12 + kept));
        length = _mm512_mask_mov_epi32(length, exact, splat(TOO_LONG as u32));
        // `010` sign, mantissa.
        let sign = _mm512_srli_epi32::<8>(_mm512_and_si512(x, splat(1 << 31)));
        let all = _mm512_or_si512(_mm512_and_si512(x, splat(MANTISSA)), splat(0b0100 << 23));
        word = _mm512_mask_mov_epi32(word, small, _mm512_or_si512(all, sign));
        length = _mm512_mask_mov_epi32(length, small, splat(4 + 23));
    }
    // `00`.
    (
        _mm512_maskz_mov_epi32(!same, word),
        _mm512_mask_mov_epi32(length, same, splat(2)),
    )
}

/// Adjacent words combined, and their lengths.
#[target_feature(enable = "avx512f")]
#[inline]
fn pair((words, lengths): (__m512i, __m512i)) -> (__m512i, __m512i) {
    let low = _mm512_set1_epi64(u32::MAX.into());
    let by = _mm512_srli_epi64::<32>(lengths);
    let first = _mm512_sllv_epi64(_mm512_and_si512(words, low), by);
    let bits = _mm512_or_si512(first, _mm512_srli_epi64::<32>(words));
    let length = _mm512_and_si512(_mm512_add_epi64(lengths, by), low);
    (bits, length)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store_u64(vector: __m512i, to: &mut [u64; 8]) {
    // SAFETY: the reference is to 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) }
}
