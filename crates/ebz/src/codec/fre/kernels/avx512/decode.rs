//! Decodes the lanes of single precision, 16 per vector, up to three words from each gather.

use super::{MAX_KEPT, count, load, splat, store};
use crate::codec::fre::cursor::Cursor;
use crate::codec::fre::kernels::{TILE_VALUES, Tile, Tiles};
use crate::codec::fre::lanes::LANES;
use crate::codec::fre::order::Paper;
use crate::simd::{Avx512, memory};
use std::arch::x86_64::*;

const SIGN: u32 = 1 << 31;
const EXPONENT: u32 = 0xff << 23;
const MANTISSA: u32 = (1 << 23) - 1;

/// Valid bits of a window, which is loaded from the start of a byte.
const WINDOW_BITS: u32 = 64 - 7;

/// Longest exponent difference, after the prefix of two bits and the mantissa.
const MAX_DIFFERENCE_BITS: u32 = 9;

/// The last byte of every 32-bit number.
const LAST_BYTES: u64 = 0x8888_8888_8888_8888;

/// Decodes all tiles; false if words may be longer than 32 bits.
pub(in crate::codec::fre::kernels) fn decode(_: Avx512, tiles: &mut Tiles<'_, u32>) -> bool {
    let fits = tiles.kept <= MAX_KEPT;
    if fits {
        // SAFETY: the token exists only where the machine has these features.
        unsafe { decode_avx512(tiles) };
    }
    fits
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn decode_avx512(tiles: &mut Tiles<'_, u32>) {
    let rule = Rule::new(tiles.kept);
    let words_per_window = WINDOW_BITS / (2 + tiles.kept + MAX_DIFFERENCE_BITS);
    let [mut low, mut high] = halves(&tiles.bits, &tiles.previous);
    let mut tile = Tile([[0; LANES]; TILE_VALUES]);
    let aligned = tiles.out.as_ptr().addr().is_multiple_of(64);
    let streaming = tiles.streaming && aligned;
    while tiles.another(_mm512_reduce_max_epu32(_mm512_max_epu32(
        low.bits, high.bits,
    ))) {
        let mut left = 0;
        for values in &mut tile.0 {
            if left == 0 {
                // SAFETY: there is another tile.
                unsafe {
                    low.fill(tiles.streams);
                    high.fill(tiles.streams);
                }
                left = words_per_window;
            }
            left -= 1;
            let others = [low.step(&rule), high.step(&rule)];
            if others != [0, 0] {
                // SAFETY: there is another tile.
                unsafe {
                    low.decode_others(&rule, tiles.streams, others[0]);
                    high.decode_others(&rule, tiles.streams, others[1]);
                }
                left = 0;
            }
            let (halves, _) = values.as_chunks_mut();
            store(low.previous, &mut halves[0]);
            store(high.previous, &mut halves[1]);
        }
        for half in [0, 16] {
            let row = |i: usize| load(tile.0[i][half..].first_chunk().unwrap_or(&[0; 16]));
            let columns = transpose(std::array::from_fn(row));
            for (start, column) in tiles.starts[half..].iter().zip(columns) {
                let place = &mut tiles.out[start + tiles.done..][..TILE_VALUES];
                // SAFETY: the slice has 64 bytes; starts are multiples of 16 values, so that it is aligned if
                // the output is.
                unsafe {
                    let place = place.as_mut_ptr().cast();
                    match streaming {
                        true => _mm512_stream_si512(place, column),
                        false => _mm512_storeu_si512(place.cast(), column),
                    }
                }
            }
        }
        tiles.done += TILE_VALUES;
    }
    if streaming {
        memory::end_streaming();
    }
    for (half, at) in [(low, 0), (high, 1)] {
        store(half.bits, &mut tiles.bits.as_chunks_mut().0[at]);
        store(half.previous, &mut tiles.previous.as_chunks_mut().0[at]);
    }
}

/// What depends on the number of mantissa bits.
struct Rule {
    kept: u32,
    /// Exponent difference, and length of the word, by the first 7 bits of the difference.
    steps: [__m512i; 2],
    lengths: [__m512i; 2],
    /// Exponent difference by the last 4 bits of the longest codes.
    long_steps: __m512i,
    mantissa: __m512i,
    to_difference: __m128i,
}

impl Rule {
    #[target_feature(enable = "avx512f")]
    fn new(kept: u32) -> Self {
        let mut steps = [0u8; 128];
        let mut lengths = [0u8; 128];
        for (code, (step, length)) in (0u8..).zip(steps.iter_mut().zip(&mut lengths)) {
            let ones = (code << 1).leading_ones();
            let size = ones as u8;
            let (by, bits) = match ones {
                0 => (0, 1),
                // The sign follows the zero that ends the ones.
                1..6 if code >> (5 - ones) & 1 == 1 => (size.wrapping_neg(), ones + 2),
                1..6 => (size, ones + 2),
                _ => (0, MAX_DIFFERENCE_BITS),
            };
            (*step, *length) = (by, (2 + kept + bits) as u8);
        }
        let long = |i: u32| {
            let step = (6 + (i >> 1 & 3)) << 23;
            if i & 1 == 1 {
                step.wrapping_neg()
            } else {
                step
            }
        };
        // SAFETY: each half has 64 bytes.
        let halves = |table: &[u8; 128]| unsafe {
            let start = table.as_ptr().cast::<__m512i>();
            [_mm512_loadu_si512(start), _mm512_loadu_si512(start.add(1))]
        };
        Self {
            kept,
            steps: halves(&steps),
            lengths: halves(&lengths),
            long_steps: load(&std::array::from_fn(|i| long(i as u32))),
            mantissa: splat(MANTISSA >> (23 - kept) << (23 - kept)),
            to_difference: count(1 + kept),
        }
    }
}

/// 16 lanes.
#[derive(Clone, Copy)]
struct Half {
    /// Position of the next bit.
    bits: __m512i,
    /// The previous value.
    previous: __m512i,
    /// The next 64 bits, of which at least [`WINDOW_BITS`] are valid after [`Self::fill`].
    window: [__m512i; 2],
}

#[target_feature(enable = "avx512f")]
fn halves(bits: &[u32; LANES], previous: &[u32; LANES]) -> [Half; 2] {
    let (bits, previous) = (bits.as_chunks().0, previous.as_chunks().0);
    [0, 1].map(|half| Half {
        bits: load(&bits[half]),
        previous: load(&previous[half]),
        window: [_mm512_setzero_si512(); 2],
    })
}

impl Half {
    /// Loads the windows.
    ///
    /// # Safety
    /// Every lane's position lies within `streams` and is followed by 8 bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2")]
    #[inline]
    unsafe fn fill(&mut self, streams: &[u8]) {
        let at = _mm512_srli_epi32::<3>(self.bits);
        let base = streams.as_ptr().cast();
        // SAFETY: the caller guarantees the positions.
        let [a, b] = unsafe {
            [
                _mm512_i32gather_epi64::<1>(_mm512_castsi512_si256(at), base),
                _mm512_i32gather_epi64::<1>(_mm512_extracti32x8_epi32::<1>(at), base),
            ]
        };
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_or_si512(even, splat(1));
        let swap = _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
        let first = _mm512_shuffle_epi8(_mm512_permutex2var_epi32(a, even, b), swap);
        let second = _mm512_shuffle_epi8(_mm512_permutex2var_epi32(a, odd, b), swap);
        self.window = [first, second];
        self.advance(_mm512_and_si512(self.bits, splat(7)));
    }

    /// Drops bits of the windows, fewer than 32.
    #[target_feature(enable = "avx512f,avx512vbmi2")]
    #[inline]
    fn advance(&mut self, by: __m512i) {
        let [first, second] = self.window;
        self.window = [
            _mm512_shldv_epi32(first, second, by),
            _mm512_sllv_epi32(second, by),
        ];
    }

    /// Decodes the common words (`00`, and those that begin with `1`); returns the lanes with other words, which
    /// are left unchanged.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2")]
    #[inline]
    fn step(&mut self, rule: &Rule) -> __mmask16 {
        let window = self.window[0];
        let near = _mm512_movepi32_mask(window);
        let same = _mm512_cmplt_epu32_mask(window, splat(1 << 30));
        // The difference begins at the second bit; indices ignore the first one of each byte.
        let shifted = _mm512_sll_epi32(window, rule.to_difference);
        let [first, second] = rule.steps;
        let step = _mm512_maskz_permutex2var_epi8(LAST_BYTES, first, shifted, second);
        let step = _mm512_srai_epi32::<1>(step);
        let [first, second] = rule.lengths;
        let length = _mm512_permutex2var_epi8(first, shifted, second);
        let length = _mm512_srli_epi32::<24>(length);
        let code = _mm512_add_epi32(shifted, shifted);
        let long = _mm512_cmpge_epu32_mask(code, splat(0x3f << 26));
        let last = _mm512_srli_epi32::<23>(code);
        let step = _mm512_mask_permutexvar_epi32(step, long, last, rule.long_steps);

        let exponent = _mm512_and_si512(self.previous, splat(EXPONENT));
        let value = _mm512_add_epi32(exponent, step);
        // value | other & mask
        const OR_AND: i32 = 0xf8;
        let sign = _mm512_slli_epi32::<1>(window);
        let value = _mm512_ternarylogic_epi32::<OR_AND>(value, sign, splat(SIGN));
        let mantissa = _mm512_srli_epi32::<7>(window);
        let value = _mm512_ternarylogic_epi32::<OR_AND>(value, mantissa, rule.mantissa);
        self.previous = _mm512_mask_mov_epi32(self.previous, near, value);
        let length = _mm512_mask_mov_epi32(splat(2), near, length);
        let known = near | same;
        self.bits = _mm512_mask_add_epi32(self.bits, known, self.bits, length);
        self.advance(length);
        !known
    }

    /// Decodes the words that begin with `01` of some lanes. The windows are used up.
    ///
    /// # Safety
    /// As for [`Self::fill`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    #[inline(never)]
    unsafe fn decode_others(&mut self, rule: &Rule, streams: &[u8], lanes: __mmask16) {
        // SAFETY: the caller guarantees the positions.
        unsafe { self.fill(streams) };
        let window = self.window[0];
        let shifted = _mm512_slli_epi32::<3>(window);
        let wide = _mm512_mask_test_epi32_mask(lanes, window, splat(1 << 29));
        let exponent = _mm512_and_si512(shifted, splat(EXPONENT));
        let exact = _mm512_mask_cmpeq_epi32_mask(wide, exponent, splat(EXPONENT));
        // `011` sign, exponent, mantissa.
        let far = wide & !exact;
        let fields = _mm512_or_si512(rule.mantissa, splat(SIGN | EXPONENT));
        let value = _mm512_and_si512(shifted, fields);
        self.previous = _mm512_mask_mov_epi32(self.previous, far, value);
        self.bits = _mm512_mask_add_epi32(self.bits, far, self.bits, splat(12 + rule.kept));
        // `010` sign, whole mantissa.
        let small = lanes & !wide;
        let sign = _mm512_and_si512(shifted, splat(SIGN));
        let mantissa = _mm512_and_si512(_mm512_srli_epi32::<5>(window), splat(MANTISSA));
        let value = _mm512_or_si512(sign, mantissa);
        self.previous = _mm512_mask_mov_epi32(self.previous, small, value);
        self.bits = _mm512_mask_add_epi32(self.bits, small, self.bits, splat(4 + 23));
        if exact != 0 {
            self.decode_exact(rule, streams, exact);
        }
    }

    /// Decodes the words of some lanes one by one.
    #[target_feature(enable = "avx512f")]
    #[cold]
    fn decode_exact(&mut self, rule: &Rule, streams: &[u8], lanes: __mmask16) {
        let (mut bits, mut previous) = ([0; 16], [0; 16]);
        store(self.bits, &mut bits);
        store(self.previous, &mut previous);
        for lane in (0..16).filter(|lane| lanes >> lane & 1 == 1) {
            let mut cursor = Cursor {
                at: bits[lane] as usize,
                previous: previous[lane],
            };
            previous[lane] = cursor.next(streams, rule.kept, Paper);
            bits[lane] = cursor.at as u32;
        }
        self.bits = load(&bits);
        self.previous = load(&previous);
    }
}

/// Transposes a 16 × 16 matrix.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(rows: [__m512i; 16]) -> [__m512i; 16] {
    let pairs: [__m512i; 16] = std::array::from_fn(|i| {
        let (even, odd) = (rows[i / 2 * 2], rows[i / 2 * 2 + 1]);
        match i % 2 {
            0 => _mm512_unpacklo_epi32(even, odd),
            _ => _mm512_unpackhi_epi32(even, odd),
        }
    });
    // Four rows each: columns i % 4, and 4, 8 and 12 further.
    let fours: [__m512i; 16] = std::array::from_fn(|i| {
        let upper = i / 4 * 4 + i % 4 / 2;
        match i % 2 {
            0 => _mm512_unpacklo_epi64(pairs[upper], pairs[upper + 2]),
            _ => _mm512_unpackhi_epi64(pairs[upper], pairs[upper + 2]),
        }
    });
    // Eight rows each: columns i % 8, and 8 further.
    let eights: [__m512i; 16] = std::array::from_fn(|i| {
        let (upper, lower) = (fours[i / 8 * 8 + i % 4], fours[i / 8 * 8 + i % 4 + 4]);
        match i % 8 / 4 {
            0 => _mm512_shuffle_i32x4::<0x88>(upper, lower),
            _ => _mm512_shuffle_i32x4::<0xdd>(upper, lower),
        }
    });
    std::array::from_fn(|i| {
        let (upper, lower) = (eights[i % 8], eights[i % 8 + 8]);
        match i / 8 {
            0 => _mm512_shuffle_i32x4::<0x88>(upper, lower),
            _ => _mm512_shuffle_i32x4::<0xdd>(upper, lower),
        }
    })
}
