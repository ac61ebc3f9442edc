//! Differences of a unit, or sums and values, in one pass with AVX2: vectors of 16 numbers. There are too few
//! registers to keep a unit in them.

use super::input::Input;
use super::output::Output;
use super::{Coordinates, Decoder, Encoder};
use crate::element::Float;
use crate::error::Result;
use crate::simd::Avx2;
use crate::stage::{Aligned, UNIT};
use std::arch::x86_64::*;
use std::ops::Range;

/// Numbers of a unit, and those before it, of which only the last is used.
#[repr(C, align(64))]
struct Numbers {
    before: [u16; 32],
    unit: [u16; UNIT],
}

/// Encodes units; false if `coordinates` fails.
pub(super) fn encode<const LAGS: u8, O: Output>(
    _: Avx2,
    encoder: &mut Encoder<'_, O>,
    units: Range<usize>,
    coordinates: &mut Coordinates<'_>,
) -> bool {
    let mut numbers = Numbers {
        before: [0; 32],
        unit: [0; UNIT],
    };
    let mut residuals = Aligned::<u16>::default();
    for index in units {
        numbers.before[31] = encoder.last;
        if !coordinates(index, encoder.last, &mut numbers.unit) {
            return false;
        }
        encoder.last = numbers.unit[UNIT - 1];
        // SAFETY: the token exists only where the machine has these features.
        let written = unsafe {
            differences::<LAGS, O>(encoder, &numbers, &mut residuals);
            encoder.output.unit(&residuals.0)
        };
        if !written {
            return false;
        }
    }
    true
}

/// Zigzag differences of a unit.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn differences<const LAGS: u8, O: Output>(
    encoder: &mut Encoder<'_, O>,
    numbers: &Numbers,
    residuals: &mut Aligned<u16>,
) {
    let row = (LAGS & 2 != 0).then(|| encoder.row.next());
    let plane = (LAGS & 4 != 0).then(|| encoder.plane.next());
    let start = std::ptr::from_ref(numbers).cast::<u16>();
    for (i, residuals) in residuals.0.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        // SAFETY: the numbers of the unit follow those before it.
        let at = unsafe { start.add(numbers.before.len() + 16 * i) };
        // SAFETY: 16 numbers of the unit; the vector before it starts at an earlier number.
        let (mut v, previous) = unsafe {
            (
                _mm256_load_si256(at.cast()),
                _mm256_loadu_si256(at.sub(1).cast()),
            )
        };
        if LAGS & 1 != 0 {
            v = _mm256_sub_epi16(v, previous);
        }
        for place in [&row, &plane].into_iter().flatten() {
            // SAFETY: a place has pointers to units.
            unsafe {
                let before = _mm256_loadu_si256(place.before.add(16 * i).cast());
                _mm256_store_si256(place.now.add(16 * i).cast(), v);
                if let Some(copy) = place.copy {
                    _mm256_store_si256(copy.add(16 * i).cast(), v);
                }
                v = _mm256_sub_epi16(v, before);
            }
        }
        let zigzag = _mm256_xor_si256(_mm256_slli_epi16::<1>(v), _mm256_srai_epi16::<15>(v));
        // SAFETY: the reference is to 32 bytes.
        unsafe { _mm256_storeu_si256(residuals.as_mut_ptr().cast(), zigzag) };
    }
}

/// Decodes the units of `values`.
pub(super) fn decode<const LAGS: u8, I: Input, T: Float>(
    avx2: Avx2,
    decoder: &mut Decoder<'_, I>,
    values: &mut [[T; UNIT]],
) -> Result<()> {
    let mut residuals = Aligned::<u16>::default();
    for values in values {
        decoder.input.unit(avx2, &mut residuals.0)?;
        let aligned = |size: usize| decoder.streaming && values.as_ptr().addr() % size == 0;
        let restore = match (aligned(32), aligned(16)) {
            (true, _) => restore::<LAGS, I, T, 32>,
            (_, true) => restore::<LAGS, I, T, 16>,
            _ => restore::<LAGS, I, T, 0>,
        };
        // SAFETY: the token exists only where the machine has these features, and the alignment was
        // checked.
        unsafe { restore(decoder, &residuals, values) };
    }
    Ok(())
}

/// Inverts differences and quantization of a unit.
///
/// # Safety
/// The values must be aligned to `STREAM` bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn restore<const LAGS: u8, I: Input, T: Float, const STREAM: usize>(
    decoder: &mut Decoder<'_, I>,
    residuals: &Aligned<u16>,
    values: &mut [T; UNIT],
) {
    let mut carry = _mm256_set1_epi16(decoder.last.cast_signed());
    let row = (LAGS & 2 != 0).then(|| decoder.row.next());
    let plane = (LAGS & 4 != 0).then(|| decoder.plane.next());
    let lattice = (decoder.step, decoder.base);
    let one = _mm256_set1_epi16(1);
    let to = values.as_mut_ptr().cast::<u8>();
    for (i, residuals) in residuals.0.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: the reference is to 32 bytes.
        let zigzag = unsafe { _mm256_loadu_si256(residuals.as_ptr().cast()) };
        let signs = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_and_si256(zigzag, one));
        let mut v = _mm256_xor_si256(_mm256_srli_epi16::<1>(zigzag), signs);
        for place in [&plane, &row].into_iter().flatten() {
            // SAFETY: a place has pointers to units.
            unsafe {
                let before = _mm256_loadu_si256(place.before.add(16 * i).cast());
                v = _mm256_add_epi16(v, before);
                _mm256_store_si256(place.now.add(16 * i).cast(), v);
                if let Some(copy) = place.copy {
                    _mm256_store_si256(copy.add(16 * i).cast(), v);
                }
            }
        }
        if LAGS & 1 != 0 {
            let (sum, all) = sums(v);
            v = _mm256_add_epi16(sum, carry);
            carry = _mm256_add_epi16(carry, all);
        }
        let halves = [_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v)];
        for (j, q) in halves.into_iter().enumerate() {
            let size = size_of::<[T; 8]>();
            // SAFETY: eight values of the unit, aligned like it.
            unsafe { store::<T, STREAM>(q, lattice, to.add((2 * i + j) * size)) };
        }
    }
    decoder.last = _mm256_extract_epi16::<15>(carry) as u16;
}

/// Prefix sums, and the sum of all in every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn sums(v: __m256i) -> (__m256i, __m256i) {
    let v = _mm256_add_epi16(v, _mm256_slli_si256::<2>(v));
    let v = _mm256_add_epi16(v, _mm256_slli_si256::<4>(v));
    let v = _mm256_add_epi16(v, _mm256_slli_si256::<8>(v));
    // The last number of each 128-bit lane, and that of the low lane for the high one.
    let totals = _mm256_shuffle_epi8(v, _mm256_set1_epi16(0x0f0e));
    let low = _mm256_permute2x128_si256::<0x08>(totals, totals);
    let all = _mm256_add_epi16(totals, _mm256_permute2x128_si256::<0x01>(totals, totals));
    (_mm256_add_epi16(v, low), all)
}

/// Stores the values of eight coordinates.
///
/// # Safety
/// There must be room for them, aligned to `STREAM` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store<T: Float, const STREAM: usize>(q: __m128i, (step, base): (f64, f64), to: *mut u8) {
    let q = _mm256_cvtepi16_epi32(q);
    if size_of::<T>() == 4 {
        let point = _mm256_add_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(base as f32));
        let values = _mm256_castps_si256(_mm256_mul_ps(point, _mm256_set1_ps(step as f32)));
        // SAFETY: see above.
        return unsafe { store_line::<STREAM>(values, to) };
    }
    let halves = [_mm256_castsi256_si128(q), _mm256_extracti128_si256::<1>(q)];
    for (i, q) in halves.into_iter().enumerate() {
        let point = _mm256_add_pd(_mm256_cvtepi32_pd(q), _mm256_set1_pd(base));
        let values = _mm256_castpd_si256(_mm256_mul_pd(point, _mm256_set1_pd(step)));
        // SAFETY: see above.
        unsafe { store_line::<STREAM>(values, to.add(32 * i)) };
    }
}

/// Stores 32 bytes, with non-temporal stores unless `STREAM` is 0.
///
/// # Safety
/// There must be room for them, aligned to `STREAM` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_line<const STREAM: usize>(values: __m256i, to: *mut u8) {
    // SAFETY: see above.
    unsafe {
        match STREAM {
            32 => _mm256_stream_si256(to.cast(), values),
            16 => {
                _mm_stream_si128(to.cast(), _mm256_castsi256_si128(values));
                _mm_stream_si128(to.add(16).cast(), _mm256_extracti128_si256::<1>(values));
            }
            _ => _mm256_storeu_si256(to.cast(), values),
        }
    }
}
