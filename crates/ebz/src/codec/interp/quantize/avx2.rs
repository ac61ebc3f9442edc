//! Sixteen values at a time, with the same order of operations as [`super::portable`].

use super::{Buffers, Prediction, Row};
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

/// Pointers to a row and its neighbours, checked to be within their buffers.
struct Places<T> {
    axes: [([*const T; 4], [T; 4]); 3],
    base: ([*const T; 4], [T; 4]),
    inner: *mut T,
    outer: *mut T,
    /// Packet mode: values are written besides differences.
    both: bool,
    magnitudes: *mut u8,
    /// Number of groups that cover the row.
    groups: usize,
}

impl<T: Number> Places<T> {
    fn new(prediction: &Prediction<T>, buffers: &mut Buffers<'_, T>) -> Self {
        let groups = prediction.count.div_ceil(WIDTH);
        let most = |length: usize| length.checked_sub(groups * WIDTH);
        let last = most(buffers.inner.len()).min(most(buffers.values().len()));
        let last = last.min(most(buffers.magnitudes.len()));
        let starts = prediction.axes[..prediction.axis_count].iter();
        let mut starts = starts.chain(&prediction.base).flat_map(|taps| taps.starts);
        let inside = |start| last.is_some_and(|last| start <= last);
        assert!(inside(prediction.start) && starts.all(inside));
        let inner = buffers.inner.as_mut_ptr();
        let both = buffers.outer.is_some();
        let outer = match &mut buffers.outer {
            Some(values) => values.as_mut_ptr(),
            None => inner,
        };
        let rows = |taps: &Taps<T>, buffer: *mut T| {
            let row = |start| buffer.wrapping_add(start).cast_const();
            (taps.starts.map(row), taps.weights)
        };
        Self {
            axes: prediction.axes.map(|taps| rows(&taps, inner)),
            base: rows(&prediction.base.unwrap_or(Taps::none()), outer),
            inner: inner.wrapping_add(prediction.start),
            outer: outer.wrapping_add(prediction.start),
            both,
            magnitudes: buffers
                .magnitudes
                .as_mut_ptr()
                .wrapping_add(prediction.start),
            groups,
        }
    }

    /// The prediction of sixteen values.
    ///
    /// # Safety
    /// As for the functions of `lanes.rs`; `at` must be the start of a group.
    #[inline(always)]
    unsafe fn predict<const AXES: usize>(&self, at: usize) -> T::Sixteen {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if AXES == 0 {
                return T::splat(T::default());
            }
            let mut sum = T::sum(&self.axes[0].0, &self.axes[0].1, at);
            for (rows, weights) in &self.axes[1..AXES] {
                sum = T::plus(sum, T::sum(rows, weights, at));
            }
            sum
        }
    }

    /// Writes sixteen reconstructions and the magnitudes of their residuals; returns the decoded
    /// values.
    ///
    /// # Safety
    /// As for the functions of `lanes.rs`; `at` must be the start of a group.
    #[inline(always)]
    unsafe fn write<const BASE: bool>(
        &self,
        at: usize,
        inner: T::Sixteen,
        base: T::Sixteen,
        residuals: __m256i,
    ) -> T::Sixteen {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let outer = if BASE { T::plus(base, inner) } else { inner };
            T::store(self.inner.add(at), inner);
            if self.both {
                T::store(self.outer.add(at), outer);
            }
            _mm_storeu_si128(self.magnitudes.add(at).cast(), magnitudes(residuals));
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
    row: &mut Row<T>,
) -> bool {
    let places = Places::new(prediction, buffers);
    let end = places.groups * WIDTH;
    let original = row.original[..end].as_mut_ptr();
    row.residuals[end..].fill(0);
    let residuals = row.residuals[..end].as_mut_ptr();
    let mut some_wrong = 0;
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
            let p = places.predict::<AXES>(at);
            let (base, target) = if BASE {
                let base = T::sum(&places.base.0, &places.base.1, at);
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
            let outer = places.write::<BASE>(at, inner, base, numbers);
            let missed = T::misses(T::minus(values, outer), limit);
            if valid < WIDTH {
                some_wrong |= T::signs(missed) & ((1 << valid) - 1);
            } else {
                wrong = T::either(wrong, missed);
            }
        }
        some_wrong |= T::signs(wrong);
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
    let places = Places::new(prediction, buffers);
    let end = places.groups * WIDTH;
    let residuals = residuals[..end].as_ptr();
    // SAFETY: the machine has AVX2, and all rows have room for whole groups, as has been checked.
    unsafe {
        let step = T::splat(step);
        for at in (0..end).step_by(WIDTH) {
            let p = places.predict::<AXES>(at);
            let numbers = _mm256_loadu_si256(residuals.add(at).cast());
            let inner = T::plus(p, T::times(T::from_sixteen(numbers), step));
            let base = if BASE {
                T::sum(&places.base.0, &places.base.1, at)
            } else {
                p
            };
            places.write::<BASE>(at, inner, base, numbers);
        }
    }
}
