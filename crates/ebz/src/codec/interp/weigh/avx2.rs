//! Sixteen values at a time, with the same order of operations as [`super::portable`].

use super::{MAX_SQUARE, SHARES, Weigh};
use crate::codec::interp::number::Number;
use crate::codec::interp::pack::{Taps, WIDTH};
use std::arch::x86_64::*;

/// Number of values whose costs, each below 2¹⁹, can be summed in the eight lanes of a vector.
const MAX_VALUES_PER_SUM: usize = 1 << 16;

/// Pointers to rows of neighbours, checked to have at least `width` values in the buffer.
#[inline(always)]
fn rows<T: Copy>(taps: &Taps<T>, buffer: &[T], width: usize) -> ([*const T; 4], [T; 4]) {
    let mut last = 0;
    for start in taps.starts {
        last = last.max(start);
    }
    assert!(last <= buffer.len() && width <= buffer.len() - last);
    let row = |start: usize| buffer.as_ptr().wrapping_add(start);
    (taps.starts.map(row), taps.weights)
}

/// See [`super::portable`]: costs of sixteen residuals, two in each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn costs([a, b]: [__m256; 2]) -> __m256i {
    let (one, most) = (_mm256_set1_ps(1.0), _mm256_set1_ps(MAX_SQUARE));
    let a = _mm256_add_ps(one, _mm256_min_ps(_mm256_mul_ps(a, a), most));
    let b = _mm256_add_ps(one, _mm256_min_ps(_mm256_mul_ps(b, b), most));
    _mm256_add_epi32(
        _mm256_srli_epi32::<12>(_mm256_castps_si256(a)),
        _mm256_srli_epi32::<12>(_mm256_castps_si256(b)),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
    [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])]
}

#[inline]
#[target_feature(enable = "avx2")]
fn scaled(a: [__m256; 2], factor: f32) -> [__m256; 2] {
    let factor = _mm256_set1_ps(factor);
    [_mm256_mul_ps(a[0], factor), _mm256_mul_ps(a[1], factor)]
}

/// The sum of the lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn total(lanes: __m256i) -> u64 {
    let mut each = [0u32; 8];
    // SAFETY: the array is 32 writable bytes.
    unsafe { _mm256_storeu_si256(each.as_mut_ptr().cast(), lanes) };
    each.iter().map(|&lane| u64::from(lane)).sum()
}

/// See [`Weigh::run`]; the number of axes is a constant.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<T: Number, const AXES: usize>(weigh: Weigh<'_, T>) {
    let width = weigh.values.len() / WIDTH * WIDTH;
    let base = weigh.base.map(|(taps, from)| rows(&taps, from, width));
    for kind in 0..2 {
        let mut taps = [rows(&Taps::none(), &[], 0); AXES];
        for (to, from) in taps.iter_mut().zip(weigh.taps) {
            *to = rows(&from[kind], weigh.source, width);
        }
        for first in (0..width).step_by(MAX_VALUES_PER_SUM) {
            let mut sums = [[_mm256_setzero_si256(); 8]; 2];
            let end = width.min(first + MAX_VALUES_PER_SUM);
            // SAFETY: the machine has AVX2, and all rows have at least `width` values.
            unsafe {
                let scale = T::splat(weigh.scale());
                for at in (first..end).step_by(WIDTH) {
                    let mut target = T::load(weigh.values.as_ptr().add(at));
                    if let Some((rows, weights)) = &base {
                        target = T::minus(target, T::sum(rows, weights, at));
                    }
                    let whole = T::singles(T::times(target, scale));
                    let mut parts = [[_mm256_setzero_ps(); 2]; 8];
                    for k in 0..AXES {
                        let (rows, weights) = &taps[k];
                        let part = if kind == 0 {
                            T::inner_sum(rows, weights, at)
                        } else {
                            T::sum(rows, weights, at)
                        };
                        let part = T::singles(T::times(T::minus(target, part), scale));
                        parts[1 << k] = part;
                        for set in (1 << k) + 1..2 << k {
                            parts[set] = add(parts[set & !(1 << k)], part);
                        }
                    }
                    for set in 1..1usize << AXES {
                        let steps = scaled(parts[set], SHARES[set.count_ones() as usize]);
                        sums[0][set] = _mm256_add_epi32(sums[0][set], costs(steps));
                        if base.is_some() {
                            let half = costs(scaled(add(whole, steps), 0.5));
                            sums[1][set] = _mm256_add_epi32(sums[1][set], half);
                        }
                    }
                    if base.is_some() && kind == 0 {
                        sums[0][0] = _mm256_add_epi32(sums[0][0], costs(whole));
                    }
                }
            }
            for (costs, sums) in weigh.costs.iter_mut().zip(sums) {
                for (cost, sum) in costs[kind].iter_mut().zip(sums) {
                    *cost += total(sum);
                }
            }
        }
    }
}
