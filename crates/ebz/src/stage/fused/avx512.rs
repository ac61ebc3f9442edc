//! Units in registers with AVX-512: eight vectors of 32 numbers.

use super::input::Input;
use super::output::Output;
use super::ring::Place;
use super::{Coordinates, Decoder, Encoder};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::Result;
use crate::simd::{Avx512, memory};
use crate::stage::UNIT;
use crate::stage::planes::avx512::{Unit, load, load_unit};
use crate::stage::quantize::{PREFETCH_BYTES, Plain, PointRange};
use std::arch::x86_64::*;
use std::ops::Range;

/// Where coordinates come from, if not from the caller.
pub(super) trait Quantize {
    /// Coordinates of a unit; `None` if it is left to the caller. Then the statistics start again.
    ///
    /// # Safety
    /// The machine must have AVX-512 F and BW.
    unsafe fn unit(&self, index: usize, checks: &mut Checks) -> Option<Unit>;
    /// The range of the points.
    ///
    /// # Safety
    /// The machine must have AVX-512 F.
    unsafe fn range(&self, checks: &Checks) -> PointRange;
}

/// Values that are quantized here, from the first unit on.
pub(super) struct Quantized<'a, T: Float> {
    pub plain: Plain<T>,
    pub values: &'a [[T; UNIT]],
}

/// Units that are all left to the caller.
pub(super) struct Unquantized;

impl<T: Float> Quantize for Quantized<'_, T> {
    #[inline(always)]
    unsafe fn unit(&self, index: usize, checks: &mut Checks) -> Option<Unit> {
        // SAFETY: see above.
        unsafe { quantize(&self.plain, &self.values[index], checks) }
    }

    #[inline(always)]
    unsafe fn range(&self, checks: &Checks) -> PointRange {
        // SAFETY: see above.
        unsafe { checks.range::<T>() }
    }
}

impl Quantize for Unquantized {
    #[inline(always)]
    unsafe fn unit(&self, _: usize, _: &mut Checks) -> Option<Unit> {
        None
    }

    #[inline(always)]
    unsafe fn range(&self, _: &Checks) -> PointRange {
        PointRange::EMPTY
    }
}

/// Encodes units; false if `coordinates` fails.
pub(super) fn encode<const LAGS: u8, O: Output, Q: Quantize>(
    _: Avx512,
    encoder: &mut Encoder<'_, O>,
    quantizer: Q,
    units: Range<usize>,
    coordinates: &mut Coordinates<'_>,
) -> bool {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { encode_avx512::<LAGS, O, Q>(encoder, &quantizer, units, coordinates) }
}

/// Decodes the units of `values`.
pub(super) fn decode<const LAGS: u8, I: Input, T: Float>(
    _: Avx512,
    decoder: &mut Decoder<'_, I>,
    values: &mut [[T; UNIT]],
) -> Result<()> {
    // SAFETY: the token exists only where the machine has these features.
    unsafe { decode_avx512::<LAGS, I, T>(decoder, values) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
fn encode_avx512<const LAGS: u8, O: Output, Q: Quantize>(
    encoder: &mut Encoder<'_, O>,
    quantizer: &Q,
    units: Range<usize>,
    coordinates: &mut Coordinates<'_>,
) -> bool {
    if units.is_empty() {
        return true;
    }
    let mut pending = O::Pending::default();
    let mut checks = Checks::new();
    let mut before = _mm512_set1_epi16(encoder.last.cast_signed());
    let previous = load(&PREVIOUS);
    let first = units.start;
    for index in units {
        // 1. Coordinates.
        // SAFETY: this function has the features.
        let quantized = unsafe { quantizer.unit(index, &mut checks) };
        let mut v = match quantized {
            Some(v) => v,
            None => {
                let mut q = [0; UNIT];
                if !coordinates(index, last(before), &mut q) {
                    return false;
                }
                load_unit(&q)
            }
        };
        // Only now, so that quantizing need not wait for the previous unit.
        // SAFETY: this function has the features.
        if index > first && !unsafe { encoder.output.write(&pending) } {
            return false;
        }

        // 2. Differences.
        let end = v[7];
        if LAGS & 1 != 0 {
            for i in (1..8).rev() {
                let before = _mm512_permutex2var_epi16(v[i - 1], previous, v[i]);
                v[i] = _mm512_sub_epi16(v[i], before);
            }
            let before = _mm512_permutex2var_epi16(before, previous, v[0]);
            v[0] = _mm512_sub_epi16(v[0], before);
        }
        before = end;
        if LAGS & 2 != 0 {
            difference(&mut v, &encoder.row.next());
        }
        if LAGS & 4 != 0 {
            difference(&mut v, &encoder.plane.next());
        }
        for v in &mut v {
            let signs = _mm512_srai_epi16::<15>(*v);
            *v = _mm512_xor_si512(_mm512_slli_epi16::<1>(*v), signs);
        }

        // 3. Output.
        // SAFETY: this function has the features.
        unsafe { encoder.output.take(&mut pending, &v) };
    }
    encoder.last = last(before);
    // SAFETY: this function has the features.
    unsafe {
        encoder.range.join(quantizer.range(&checks));
        encoder.output.write(&pending)
    }
}

/// Statistics of all units so far, which tell whether they can be quantized: bit patterns as in
/// [`Plain`].
pub(super) struct Checks {
    min: __m512i,
    max: __m512i,
    error: __m512i,
}

impl Checks {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Self {
        Self {
            min: _mm512_set1_epi32(-1),
            max: _mm512_setzero_si512(),
            error: _mm512_setzero_si512(),
        }
    }

    /// The range of the points.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn range<T: Float>(&self) -> PointRange {
        let (min, max) = match size_of::<T>() {
            4 => (
                u64::from(_mm512_reduce_min_epu32(self.min)),
                u64::from(_mm512_reduce_max_epu32(self.max)),
            ),
            _ => (
                _mm512_reduce_min_epu64(self.min),
                _mm512_reduce_max_epu64(self.max),
            ),
        };
        PointRange::of_sums::<T>(Word::truncate(min), Word::truncate(max))
    }

    /// Adds the bits of errors without sign, and of sums with the rounder.
    ///
    /// # Safety
    /// The machine must have AVX-512 F.
    #[inline(always)]
    unsafe fn add<T: Float>(&mut self, error: __m512i, sums: __m512i) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if size_of::<T>() == 4 {
                self.error = _mm512_max_epu32(self.error, error);
                self.min = _mm512_min_epu32(self.min, sums);
                self.max = _mm512_max_epu32(self.max, sums);
            } else {
                self.error = _mm512_max_epu64(self.error, error);
                self.min = _mm512_min_epu64(self.min, sums);
                self.max = _mm512_max_epu64(self.max, sums);
            }
        }
    }

    /// Whether all units are within the limits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn hold<T: Float>(&self, plain: &Plain<T>) -> bool {
        if size_of::<T>() == 4 {
            let bits = |bits: T::Order| _mm512_set1_epi32(bits.unsigned() as i32);
            let bad = _mm512_cmplt_epu32_mask(self.min, bits(plain.min))
                | _mm512_cmpgt_epu32_mask(self.max, bits(plain.max))
                | _mm512_cmpgt_epu32_mask(self.error, bits(plain.error));
            return bad == 0;
        }
        let bits = |bits: T::Order| _mm512_set1_epi64(bits.unsigned() as i64);
        let bad = _mm512_cmplt_epu64_mask(self.min, bits(plain.min))
            | _mm512_cmpgt_epu64_mask(self.max, bits(plain.max))
            | _mm512_cmpgt_epu64_mask(self.error, bits(plain.error));
        bad == 0
    }
}

/// Coordinates of a unit; `None` if a value cannot be quantized. Then the statistics start again.
///
/// Always inlined, and therefore without features of its own: a unit returned through memory made
/// compression 13 % slower.
///
/// # Safety
/// The machine must have AVX-512 F and BW.
#[inline(always)]
unsafe fn quantize<T: Float>(
    plain: &Plain<T>,
    values: &[T; UNIT],
    checks: &mut Checks,
) -> Option<Unit> {
    // SAFETY: guaranteed by the caller; a unit has `vectors` as many vectors of values as of
    // coordinates.
    unsafe {
        let low_words = load(match size_of::<T>() {
            4 => &LOW_HALVES,
            _ => &LOW_QUARTERS,
        });
        let start = values.as_ptr().cast::<u8>();
        let vectors = size_of::<T>() / 2;
        let mut unit = [_mm512_setzero_si512(); 8];
        for (i, v) in unit.iter_mut().enumerate() {
            let mut sums = [_mm512_setzero_si512(); 4];
            for (part, sums) in sums.iter_mut().enumerate().take(vectors) {
                let at = 64 * (vectors * i + part);
                // One line at a time: many prefetches at once delay the loads.
                memory::prefetch_line(values, at + PREFETCH_BYTES);
                let error;
                (error, *sums) = rounded(plain, _mm512_loadu_si512(start.add(at).cast()));
                checks.add::<T>(error, *sums);
            }
            // The low 16 bits of each sum.
            *v = _mm512_permutex2var_epi16(sums[0], low_words, sums[1]);
            if vectors == 4 {
                let second = _mm512_permutex2var_epi16(sums[2], low_words, sums[3]);
                *v = _mm512_inserti64x4::<1>(*v, _mm512_castsi512_si256(second));
            }
        }
        if checks.hold(plain) {
            return Some(unit);
        }
        *checks = Checks::new();
        None
    }
}

/// The bits of the errors without sign, and of the sums with the rounder, of a vector of values.
///
/// # Safety
/// The machine must have AVX-512 F.
#[inline(always)]
unsafe fn rounded<T: Float>(plain: &Plain<T>, x: __m512i) -> (__m512i, __m512i) {
    let (rounder, inverse, step) = (
        T::ROUNDER.to_f64(),
        plain.inverse.to_f64(),
        plain.step.to_f64(),
    );
    // SAFETY: guaranteed by the caller.
    unsafe {
        if size_of::<T>() == 4 {
            let (x, rounder) = (_mm512_castsi512_ps(x), _mm512_set1_ps(rounder as f32));
            let scaled = _mm512_mul_ps(x, _mm512_set1_ps(inverse as f32));
            let sums = _mm512_add_ps(scaled, rounder);
            let points = _mm512_sub_ps(sums, rounder);
            let decoded = _mm512_mul_ps(points, _mm512_set1_ps(step as f32));
            let error = _mm512_castps_si512(_mm512_sub_ps(decoded, x));
            let error = _mm512_and_si512(error, _mm512_set1_epi32(i32::MAX));
            return (error, _mm512_castps_si512(sums));
        }
        let (x, rounder) = (_mm512_castsi512_pd(x), _mm512_set1_pd(rounder));
        let sums = _mm512_add_pd(_mm512_mul_pd(x, _mm512_set1_pd(inverse)), rounder);
        let decoded = _mm512_mul_pd(_mm512_sub_pd(sums, rounder), _mm512_set1_pd(step));
        let error = _mm512_castpd_si512(_mm512_sub_pd(decoded, x));
        let error = _mm512_and_si512(error, _mm512_set1_epi64(i64::MAX));
        (error, _mm512_castpd_si512(sums))
    }
}

/// Replaces a unit by its differences at a lag.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn difference(unit: &mut Unit, place: &Place) {
    // SAFETY: a place has pointers to units.
    unsafe {
        for (i, v) in unit.iter_mut().enumerate() {
            let old = _mm512_loadu_si512(place.before.add(32 * i).cast());
            _mm512_store_si512(place.now.add(32 * i).cast(), *v);
            if let Some(copy) = place.copy {
                _mm512_store_si512(copy.add(32 * i).cast(), *v);
            }
            *v = _mm512_sub_epi16(*v, old);
        }
    }
}

/// Inverts [`difference`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sum(unit: &mut Unit, place: &Place) {
    // SAFETY: a place has pointers to units.
    unsafe {
        for (i, v) in unit.iter_mut().enumerate() {
            *v = _mm512_add_epi16(*v, _mm512_loadu_si512(place.before.add(32 * i).cast()));
            _mm512_store_si512(place.now.add(32 * i).cast(), *v);
            if let Some(copy) = place.copy {
                _mm512_store_si512(copy.add(32 * i).cast(), *v);
            }
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx512vbmi,avx512vbmi2,gfni")]
fn decode_avx512<const LAGS: u8, I: Input, T: Float>(
    decoder: &mut Decoder<'_, I>,
    values: &mut [[T; UNIT]],
) -> Result<()> {
    let mut carry = _mm512_set1_epi16(decoder.last.cast_signed());
    let shift = values.as_ptr().addr() % 64;
    let mut writer = Writer::new::<T>(decoder.step, decoder.base, shift);
    let start = values.as_mut_ptr();
    for index in 0..values.len() {
        // 3. Input.
        // SAFETY: this function has the features.
        let mut v = unsafe { decoder.input.differences() }?;

        // 2. Sums.
        if LAGS & 4 != 0 {
            sum(&mut v, &decoder.plane.next());
        }
        if LAGS & 2 != 0 {
            sum(&mut v, &decoder.row.next());
        }
        if LAGS & 1 != 0 {
            prefix_sums(&mut v, &mut carry);
        }

        // 1. Values.
        let to = start.wrapping_add(index).cast();
        // SAFETY: this is one of the units of `values`; shifted lines start in the one before it.
        unsafe {
            match (decoder.streaming, shift) {
                (true, 0) => writer.put::<T, ALIGNED>(&v, to),
                (true, _) if index > 0 => writer.put::<T, SHIFTED>(&v, to),
                _ => writer.put::<T, CACHED>(&v, to),
            }
        }
    }
    if !values.is_empty() {
        let end = start.wrapping_add(values.len()).cast::<u8>();
        // SAFETY: the last vector of the last unit, of which a shifted line has only a part.
        unsafe { _mm512_storeu_si512(end.sub(64).cast(), writer.previous) };
    }
    decoder.last = last(carry);
    Ok(())
}

/// Ways to store values: through the cache; with non-temporal stores of whole cache lines; the same with
/// lines composed of two vectors.
const CACHED: u8 = 0;
const ALIGNED: u8 = 1;
const SHIFTED: u8 = 2;

/// Converts coordinates to values and stores them.
struct Writer {
    /// In all lanes, in the type of the values.
    step: __m512i,
    base: __m512i,
    /// Bytes from the start of a cache line to the values.
    shift: usize,
    /// Order of the words of a line in the previous and the current vector.
    order: __m512i,
    /// The last vector of values.
    previous: __m512i,
}

impl Writer {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new<T: Float>(step: f64, base: f64, shift: usize) -> Self {
        let splat = |number: f64| match size_of::<T>() {
            4 => _mm512_castps_si512(_mm512_set1_ps(number as f32)),
            _ => _mm512_castpd_si512(_mm512_set1_pd(number)),
        };
        let order: [u32; 16] = std::array::from_fn(|i| (16 - shift / 4 + i) as u32);
        Self {
            step: splat(step),
            base: splat(base),
            shift,
            order: load(&order),
            previous: _mm512_setzero_si512(),
        }
    }

    /// Stores a unit of values.
    ///
    /// # Safety
    /// There must be room for a unit at `to`, aligned to a cache line if `ALIGNED`, and `shift` bytes
    /// before it, where a cache line starts, if `SHIFTED`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    unsafe fn put<T: Float, const STORE: u8>(&mut self, unit: &Unit, to: *mut u8) {
        let vectors = size_of::<T>() / 2;
        for (i, q) in unit.iter().enumerate() {
            for part in 0..vectors {
                let values = self.values::<T>(*q, part);
                // SAFETY: see above; a unit has `vectors` as many vectors of values as of coordinates.
                unsafe {
                    let to = to.add(64 * (vectors * i + part));
                    match STORE {
                        CACHED => _mm512_storeu_si512(to.cast(), values),
                        ALIGNED => _mm512_stream_si512(to.cast(), values),
                        _ => {
                            let line = _mm512_permutex2var_epi32(self.previous, self.order, values);
                            _mm512_stream_si512(to.sub(self.shift).cast(), line);
                        }
                    }
                }
                self.previous = values;
            }
        }
    }

    /// The values of a half (f32) or a quarter (f64) of a vector of coordinates.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn values<T: Float>(&self, q: __m512i, part: usize) -> __m512i {
        if size_of::<T>() == 4 {
            let q = match part {
                0 => _mm512_castsi512_si256(q),
                _ => _mm512_extracti64x4_epi64::<1>(q),
            };
            let point = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(q));
            let point = _mm512_add_ps(point, _mm512_castsi512_ps(self.base));
            return _mm512_castps_si512(_mm512_mul_ps(point, _mm512_castsi512_ps(self.step)));
        }
        let q = match part {
            0 => _mm512_castsi512_si128(q),
            1 => _mm512_extracti32x4_epi32::<1>(q),
            2 => _mm512_extracti32x4_epi32::<2>(q),
            _ => _mm512_extracti32x4_epi32::<3>(q),
        };
        let point = _mm512_cvtepi64_pd(_mm512_cvtepi16_epi64(q));
        let point = _mm512_add_pd(point, _mm512_castsi512_pd(self.base));
        _mm512_castpd_si512(_mm512_mul_pd(point, _mm512_castsi512_pd(self.step)))
    }
}

/// Prefix sums of a unit, plus the carry, which is in all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn prefix_sums(unit: &mut Unit, carry: &mut __m512i) {
    // Within 128-bit lanes. Word i of each lane of `totals`: the sum of that lane of vector i.
    let mut totals = _mm512_setzero_si512();
    let last_words = _mm512_set1_epi16(0x0f0e);
    for (i, v) in unit.iter_mut().enumerate() {
        *v = lane_sums(*v);
        let words = 0x0003_0003_0003_0003 << (2 * i);
        totals = _mm512_mask_shuffle_epi8(totals, words, *v, last_words);
    }
    // Over the lanes of a vector, then over vectors.
    let one = _mm512_maskz_shuffle_i64x2::<0b10_01_00_00>(0b1111_1100, totals, totals);
    let two = _mm512_add_epi16(totals, one);
    let below = _mm512_maskz_shuffle_i64x2::<0b01_00_00_00>(0b1111_0000, two, two);
    let lanes = _mm512_add_epi16(two, below);
    let vector = _mm512_shuffle_i64x2::<0b11_11_11_11>(lanes, lanes);
    let vectors = lane_sums(vector);
    // What comes before lane and vector: sums without their own.
    let lower_lanes = _mm512_sub_epi16(lanes, totals);
    let lower_vectors = _mm512_sub_epi16(vectors, vector);
    let before = _mm512_add_epi16(_mm512_add_epi16(lower_lanes, lower_vectors), *carry);
    *carry = _mm512_add_epi16(*carry, _mm512_shuffle_epi8(vectors, last_words));
    for (i, v) in unit.iter_mut().enumerate() {
        let word = _mm512_set1_epi16((0x0202 * i + 0x0100) as i16);
        *v = _mm512_add_epi16(*v, _mm512_shuffle_epi8(before, word));
    }
}

/// Prefix sums within lanes of 128 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn lane_sums(v: __m512i) -> __m512i {
    let v = _mm512_add_epi16(v, _mm512_bslli_epi128::<2>(v));
    let v = _mm512_add_epi16(v, _mm512_bslli_epi128::<4>(v));
    _mm512_add_epi16(v, _mm512_bslli_epi128::<8>(v))
}

/// The last number of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn last(v: __m512i) -> u16 {
    _mm_extract_epi16::<7>(_mm512_extracti32x4_epi32::<3>(v)) as u16
}

/// A table of 32 numbers, given by an expression of the index.
macro_rules! table {
    ($i:ident => $entry:expr) => {{
        let mut table = [0u16; 32];
        let mut $i = 0;
        while $i < 32 {
            table[$i] = ($entry) as u16;
            $i += 1;
        }
        table
    }};
}

/// The numbers before those of the second of two vectors.
static PREVIOUS: [u16; 32] = table!(i => 31 + i);

/// The low halves of the words of two vectors.
static LOW_HALVES: [u16; 32] = table!(i => 2 * i);

/// The low quarters of the words of two vectors, in the lower half.
static LOW_QUARTERS: [u16; 32] = table!(i => 4 * i);
