//! Rows of residuals in one pass: contexts, symbols and low bits of a segment stay in registers. The
//! steps are those of [`super::encode`] and [`super::decode`].

use super::ResidualRows;
use super::decode::Decoder;
use super::encode::Encoder;
use super::segment::avx512::{load, merged, split_off, store};
use super::segment::lanes as set_lanes;
use crate::bits::{BitReader, BitWriter};
use crate::codec::interp::context::avx2::{Neighbours, activity, contexts};
use crate::codec::interp::context::{Activity, BINS, low_bit_thresholds};
use crate::codec::interp::geometry::lanes;
use crate::codec::interp::number::Number;
use crate::error::{Error, Result};
use crate::stage::rans::symbol::{self, DIRECT};
use crate::stage::rans::{ALPHABET, LANES, WideDecoder};
use std::arch::x86_64::*;

/// See [`Encoder::push_rows`]; the number of sides is a constant.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(super) fn push_rows<const SIDES: usize, T: Number>(
    encoder: &mut Encoder,
    kind: usize,
    mut rows: ResidualRows<'_, T>,
) {
    let width = lanes(rows.count);
    let all = (rows.magnitudes.as_ptr(), rows.magnitudes.len());
    let thresholds = low_bit_thresholds(kind);
    let base = (kind * BINS) as u8;
    encoder.reserve(rows.rows * width);
    let mut places = encoder.places[encoder.end..].as_chunks_mut().0.iter_mut();
    for residuals in rows.residuals.chunks_exact(width).take(rows.rows) {
        let neighbours = Neighbours::<SIDES>::new(all, rows.around.next_row(), width);
        for (segment, residuals) in residuals.as_chunks::<LANES>().0.iter().enumerate() {
            let at = segment * LANES;
            // SAFETY: the magnitudes are a slice, and at + LANES ≤ width.
            let sums = unsafe { neighbours.sums(at) };
            let (sums, indices) = contexts(sums, base, rows.count.saturating_sub(at));
            let activity = activity(sums, thresholds[0]);
            let mut values = load(residuals);
            // 1. Quiet zero segments are only counted.
            if activity == Activity::Quiet {
                if _mm512_test_epi16_mask(values, values) == 0 {
                    encoder.gap += 1;
                    continue;
                }
                encoder.gaps.put_gamma(encoder.gap + 1);
                encoder.gap = 0;
            }
            // 2. Low bits of large residuals.
            if activity == Activity::Large {
                values = split_off(values, sums, thresholds, &mut encoder.low);
            }
            // 3. Symbols.
            let symbols = symbols(values, &mut encoder.extra);
            let indices = _mm512_cvtepu8_epi16(indices);
            let starts = _mm512_mullo_epi16(indices, _mm512_set1_epi16(ALPHABET as i16));
            if let Some(places) = places.next() {
                store(places, _mm512_add_epi16(starts, symbols));
                encoder.end += LANES;
            }
        }
    }
}

/// The symbols of residuals, see [`symbol::narrow`] and [`symbol::put_wide`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
fn symbols(values: __m512i, extra: &mut BitWriter) -> __m512i {
    let magnitude = _mm512_abs_epi16(values);
    let positive = _mm512_cmpgt_epi16_mask(values, _mm512_setzero_si512());
    let twice = _mm512_add_epi16(magnitude, magnitude);
    let symbols = _mm512_mask_sub_epi16(twice, positive, twice, _mm512_set1_epi16(1));
    match _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(DIRECT)) {
        0 => symbols,
        above => without_extra_bits(values, symbols, above, extra),
    }
}

/// Replaces the symbols of the lanes in `above`, which have extra bits.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
fn without_extra_bits(
    values: __m512i,
    symbols: __m512i,
    above: u32,
    extra: &mut BitWriter,
) -> __m512i {
    let (mut residuals, mut wide) = ([0i16; LANES], [0u16; LANES]);
    store(&mut residuals, values);
    store(&mut wide, symbols);
    for lane in set_lanes(above) {
        wide[lane] = u16::from(symbol::put_wide(residuals[lane], extra));
    }
    load(&wide)
}

/// See [`Decoder::pull_rows`]; the number of sides is a constant.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(super) fn pull_rows<const SIDES: usize, T: Number>(
    decoder: &mut Decoder<'_>,
    kind: usize,
    mut rows: ResidualRows<'_, T>,
) -> Result<()> {
    let width = lanes(rows.count);
    let size = rows.magnitudes.len();
    let all = rows.magnitudes.as_mut_ptr();
    let thresholds = low_bit_thresholds(kind);
    let base = (kind * BINS) as u8;
    // 3. Symbols.
    let mut symbols = WideDecoder::new(&mut decoder.memory.rans, decoder.words);
    let mut start = rows.start;
    let residuals = rows.residuals.chunks_exact_mut(width);
    for residuals in residuals.take(rows.rows) {
        let neighbours = Neighbours::<SIDES>::new((all, size), rows.around.next_row(), width);
        assert!(start <= size && width <= size - start);
        for (segment, residuals) in residuals.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let at = segment * LANES;
            // SAFETY: the magnitudes are a slice, and at + LANES ≤ width.
            let sums = unsafe { neighbours.sums(at) };
            let (sums, indices) = contexts(sums, base, rows.count.saturating_sub(at));
            let activity = activity(sums, thresholds[0]);
            // 1. Which segments are coded.
            let coded = activity != Activity::Quiet || {
                let coded = decoder.gap == 0;
                decoder.gap = match coded {
                    true => decoder.gaps.get_gamma()? - 1,
                    false => decoder.gap - 1,
                };
                coded
            };
            let mut values = _mm512_setzero_si512();
            if coded {
                values = narrow(symbols.next(indices)?, &mut decoder.extra)?;
                // 2. Low bits of large residuals.
                if activity == Activity::Large {
                    values = merged(values, sums, thresholds, &mut decoder.low);
                }
            }
            // SAFETY: the reference is to 64 writable bytes, and start + at + LANES ≤ size.
            unsafe {
                _mm512_storeu_si512(residuals.as_mut_ptr().cast(), values);
                _mm256_storeu_si256(all.add(start + at).cast(), magnitudes(values));
            }
        }
        start += rows.pitch;
    }
    symbols.end();
    Ok(())
}

/// The residuals of symbols, see [`symbol::widen`] and [`symbol::get_wide`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
fn narrow(symbols: __m256i, extra: &mut BitReader<'_>) -> Result<__m512i> {
    let one = _mm512_set1_epi16(1);
    let wide = _mm512_cvtepu8_epi16(symbols);
    let magnitude = _mm512_srli_epi16::<1>(_mm512_add_epi16(wide, one));
    let even = _mm512_testn_epi16_mask(wide, one);
    let values = _mm512_mask_sub_epi16(magnitude, even, _mm512_setzero_si512(), magnitude);
    match _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(DIRECT)) {
        0 => Ok(values),
        above => with_extra_bits(symbols, values, above, extra),
    }
}

/// Replaces the residuals of the lanes in `above`, which have extra bits.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
fn with_extra_bits(
    symbols: __m256i,
    values: __m512i,
    above: u32,
    extra: &mut BitReader<'_>,
) -> Result<__m512i> {
    let (mut bytes, mut residuals) = ([0u8; LANES], [0i16; LANES]);
    // SAFETY: the arrays have 32 and 64 bytes.
    unsafe {
        _mm256_storeu_si256(bytes.as_mut_ptr().cast(), symbols);
        _mm512_storeu_si512(residuals.as_mut_ptr().cast(), values);
    }
    for lane in set_lanes(above) {
        residuals[lane] = symbol::get_wide(bytes[lane], extra)
            .ok_or_else(|| Error::corrupt("invalid residual symbol"))?;
    }
    // SAFETY: the array has 64 bytes.
    Ok(unsafe { _mm512_loadu_si512(residuals.as_ptr().cast()) })
}

/// See [`crate::codec::interp::context::magnitude`].
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl")]
fn magnitudes(residuals: __m512i) -> __m256i {
    let a = _mm512_abs_epi16(residuals);
    let eight = _mm512_set1_epi16(8);
    let fine = _mm512_add_epi16(
        _mm512_min_epu16(a, eight),
        _mm512_min_epu16(_mm512_srli_epi16::<3>(a), eight),
    );
    let coarse = _mm512_add_epi16(
        _mm512_min_epu16(_mm512_srli_epi16::<6>(a), eight),
        _mm512_min_epu16(_mm512_srli_epi16::<9>(a), _mm512_set1_epi16(7)),
    );
    _mm512_cvtepi16_epi8(_mm512_add_epi16(fine, coarse))
}
