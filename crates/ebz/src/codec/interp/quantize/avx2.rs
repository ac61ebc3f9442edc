//! Sixteen values at a time, with the same order of operations as [`super::portable`].

use super::{Buffers, Prediction, Rows};
use crate::codec::interp::number::{MAX_RESIDUAL, Number, Step};
use crate::codec::interp::pack::{Taps, WIDTH};
use std::arch::x86_64::*;

/// Lane masks: sixteen entries starting at 16 − n have their first n lanes set.
const VALID: [i16; 2 * WIDTH] = {
    let mut lanes = [0; 2 * WIDTH];
    let mut i = 0;
    while i < WIDTH {
        lanes[i] = -1;
        i += 1;
    }
    lanes
};

/// Pointers to four rows of neighbours, their weights, and the distance to those of the next row.
struct Neighbours<T> {
    rows: [*const T; 4],
    weights: [T; 4],
    pitch: usize,
}

impl<T: Copy> Neighbours<T> {
    #[inline(always)]
    fn new(taps: &Taps<T>, buffer: *mut T) -> Self {
        let row = |start| buffer.wrapping_add(start).cast_const();
        Self {
            rows: taps.starts.map(row),
            weights: taps.weights,
            pitch: taps.pitch,
        }
    }

    #[inline(always)]
    fn next_row(&mut self) {
        for row in &mut self.rows {
            *row = row.wrapping_add(self.pitch);
        }
    }
}

/// Pointers to a row and its neighbours; all rows are checked to be within their buffers.
struct Places<T, const AXES: usize> {
    axes: [Neighbours<T>; AXES],
    base: Neighbours<T>,
    inner: *mut T,
    outer: *mut T,
    /// Packet mode: values are written besides differences.
    both: bool,
    magnitudes: *mut u8,
    pitch: usize,
    /// Values of the groups that cover a row.
    end: usize,
}

impl<T: Number, const AXES: usize> Places<T, AXES> {
    #[inline(always)]
    fn new(prediction: &Prediction<T>, buffers: &mut Buffers<'_, T>) -> Self {
        let Prediction {
            start, pitch, rows, ..
        } = *prediction;
        let end = prediction.count.next_multiple_of(WIDTH);
        let base = prediction.base.unwrap_or(Taps::none());
        let mut last = start + rows.saturating_sub(1) * pitch;
        for taps in prediction.axes[..AXES].iter().chain([&base]) {
            last = last.max(taps.last(rows));
        }
        let size = buffers.inner.len().min(buffers.values().len());
        let size = size.min(buffers.magnitudes.len());
        assert!(last <= size && end <= size - last);
        let inner = buffers.inner.as_mut_ptr();
        let both = buffers.outer.is_some();
        let outer = match &mut buffers.outer {
            Some(values) => values.as_mut_ptr(),
            None => inner,
        };
        Self {
            axes: std::array::from_fn(|axis| Neighbours::new(&prediction.axes[axis], inner)),
            base: Neighbours::new(&base, outer),
            inner: inner.wrapping_add(start),
            outer: outer.wrapping_add(start),
            both,
            magnitudes: buffers.magnitudes.as_mut_ptr().wrapping_add(start),
            pitch,
            end,
        }
    }

    #[inline(always)]
    fn next_row(&mut self) {
        for axis in &mut self.axes {
            axis.next_row();
        }
        self.base.next_row();
        self.inner = self.inner.wrapping_add(self.pitch);
        self.outer = self.outer.wrapping_add(self.pitch);
        self.magnitudes = self.magnitudes.wrapping_add(self.pitch);
    }

    /// The prediction of sixteen values.
    ///
    /// # Safety
    /// As for the functions of `lanes.rs`; `at` must be the start of a group.
    #[inline(always)]
    unsafe fn predict(&self, at: usize) -> T::Sixteen {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let Some((first, others)) = self.axes.split_first() else {
                return T::splat(T::default());
            };
            let mut sum = T::sum(&first.rows, &first.weights, at);
            for axis in others {
                sum = T::plus(sum, T::sum(&axis.rows, &axis.weights, at));
            }
            sum
        }
    }

    /// Writes sixteen reconstructions; returns the decoded values.
    ///
    /// # Safety
    /// As for the functions of `lanes.rs`; `at` must be the start of a group.
    #[inline(always)]
    unsafe fn write<const BASE: bool>(
        &self,
        at: usize,
        inner: T::Sixteen,
        base: T::Sixteen,
    ) -> T::Sixteen {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let outer = if BASE { T::plus(base, inner) } else { inner };
            T::store(self.inner.add(at), inner);
            if self.both {
                T::store(self.outer.add(at), outer);
            }
            outer
        }
    }
}

/// See [`crate::codec::interp::context::magnitude`].
#[inline]
#[target_feature(enable = "avx2")]
fn magnitudes(residuals: __m256i) -> __m128i {
    let a = _mm256_abs_epi16(residuals);
    let eight = _mm256_set1_epi16(8);
    let fine = _mm256_add_epi16(
        _mm256_min_epu16(a, eight),
        _mm256_min_epu16(_mm256_srli_epi16::<3>(a), eight),
    );
    let coarse = _mm256_add_epi16(
        _mm256_min_epu16(_mm256_srli_epi16::<6>(a), eight),
        _mm256_min_epu16(_mm256_srli_epi16::<9>(a), _mm256_set1_epi16(7)),
    );
    let sum = _mm256_add_epi16(fine, coarse);
    _mm_packus_epi16(
        _mm256_castsi256_si128(sum),
        _mm256_extracti128_si256::<1>(sum),
    )
}

/// See [`Prediction::quantize`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn quantize<T: Number, const AXES: usize, const BASE: bool>(
    prediction: &Prediction<T>,
    step: Step<T>,
    buffers: &mut Buffers<'_, T>,
    rows: &mut Rows<T>,
) -> bool {
    let mut places = Places::<T, AXES>::new(prediction, buffers);
    let (end, width) = (places.end, prediction.width());
    let all_originals = rows.original.chunks_exact_mut(width);
    let all_residuals = rows.residuals.chunks_exact_mut(width);
    let mut some_wrong = 0;
    for (original, residuals) in all_originals.zip(all_residuals).take(prediction.rows) {
        residuals[end..].fill(0);
        let (original, residuals) = (original.as_mut_ptr(), residuals.as_mut_ptr());
        // SAFETY: the machine has AVX2, and all rows have room for whole groups, as has been checked.
        unsafe {
            let most = T::splat(T::from_i64(i64::from(MAX_RESIDUAL)));
            let least = T::splat(T::from_i64(-i64::from(MAX_RESIDUAL)));
            let (size, inverse) = (T::splat(step.size), T::splat(step.inverse));
            let (rounding, limit) = (T::splat(T::ROUNDER), T::splat(step.limit));
            let mut wrong = T::splat(T::default());
            for at in (0..end).step_by(WIDTH) {
                let values = T::load(places.outer.add(at));
                T::store(original.add(at), values);
                let p = places.predict(at);
                let (base, target) = if BASE {
                    let base = T::sum(&places.base.rows, &places.base.weights, at);
                    (base, T::minus(values, base))
                } else {
                    (p, values)
                };
                let steps = T::times(T::minus(target, p), inverse);
                let steps = T::larger(T::smaller(steps, most), least);
                let whole = T::minus(T::plus(steps, rounding), rounding);
                let inner = T::plus(p, T::times(whole, size));
                let mut numbers = T::to_sixteen(whole);
                let valid = prediction.count - at;
                if valid < WIDTH {
                    let lanes = _mm256_loadu_si256(VALID[WIDTH - valid..][..WIDTH].as_ptr().cast());
                    numbers = _mm256_and_si256(numbers, lanes);
                }
                _mm256_storeu_si256(residuals.add(at).cast(), numbers);
                _mm_storeu_si128(places.magnitudes.add(at).cast(), magnitudes(numbers));
                let outer = places.write::<BASE>(at, inner, base);
                let missed = T::misses(T::minus(values, outer), limit);
                if valid < WIDTH {
                    some_wrong |= T::signs(missed) & ((1 << valid) - 1);
                } else {
                    wrong = T::either(wrong, missed);
                }
            }
            some_wrong |= T::signs(wrong);
        }
        places.next_row();
    }
    some_wrong == 0
}

/// See [`Prediction::dequantize`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn dequantize<T: Number, const AXES: usize, const BASE: bool>(
    prediction: &Prediction<T>,
    step: T,
    buffers: &mut Buffers<'_, T>,
    residuals: &[i16],
) {
    let mut places = Places::<T, AXES>::new(prediction, buffers);
    let (end, width) = (places.end, prediction.width());
    for residuals in residuals.chunks_exact(width).take(prediction.rows) {
        let residuals = residuals[..end].as_ptr();
        // SAFETY: the machine has AVX2, and all rows have room for whole groups, as has been checked.
        unsafe {
            let step = T::splat(step);
            for at in (0..end).step_by(WIDTH) {
                let p = places.predict(at);
                let numbers = _mm256_loadu_si256(residuals.add(at).cast());
                let inner = T::plus(p, T::times(T::from_sixteen(numbers), step));
                let base = if BASE {
                    T::sum(&places.base.rows, &places.base.weights, at)
                } else {
                    p
                };
                places.write::<BASE>(at, inner, base);
            }
        }
        places.next_row();
    }
}
