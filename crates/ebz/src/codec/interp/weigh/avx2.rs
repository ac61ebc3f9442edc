//! Sixteen values at a time, with the same order of operations as [`super::portable`].

use super::{WEIGHTS, Weigh};
use crate::codec::interp::number::Number;
use crate::codec::interp::pack::{Taps, WIDTH};
use std::arch::x86_64::*;

/// Number of values whose costs, each below 2¹⁷, can be summed in the eight lanes of a vector.
const MAX_VALUES_PER_SUM: usize = 1 << 16;

/// Pointers to rows of neighbours, checked to have at least `width` values in the buffer.
fn rows<T: Copy>(taps: &Taps<T>, buffer: &[T], width: usize) -> ([*const T; 4], [T; 4]) {
    let row = |start: usize| buffer[start..start + width].as_ptr();
    (taps.starts.map(row), taps.weights)
}

/// See [`super::portable`]: costs of sixteen residuals, two in each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn costs([a, b]: [__m256; 2]) -> __m256i {
    let one = _mm256_set1_ps(1.0);
    let (four, most) = (_mm256_set1_ps(4.0), _mm256_set1_ps(1e9));
    let square = _mm256_min_ps(_mm256_mul_ps(a, a), most);
    let a = _mm256_castps_si256(_mm256_add_ps(one, _mm256_mul_ps(four, square)));
    let square = _mm256_min_ps(_mm256_mul_ps(b, b), most);
    let b = _mm256_castps_si256(_mm256_add_ps(one, _mm256_mul_ps(four, square)));
    let one = _mm256_castps_si256(one);
    _mm256_add_epi32(
        _mm256_srli_epi32::<12>(_mm256_sub_epi32(a, one)),
        _mm256_srli_epi32::<12>(_mm256_sub_epi32(b, one)),
    )
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

/// See [`Weigh::run`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<T: Number>(weigh: Weigh<'_, T>) {
    let width = weigh.values.len() / WIDTH * WIDTH;
    let axes = weigh.taps.len();
    let mut taps = [[rows(&Taps::none(), &[], 0); 2]; 3];
    for (to, from) in taps.iter_mut().zip(weigh.taps) {
        *to = [0, 1].map(|kind| rows(&from[kind], weigh.source, width));
    }
    let base = weigh.base.map(|(taps, from)| rows(&taps, from, width));
    let scales = if base.is_some() { 2 } else { 1 };
    for first in (0..width).step_by(MAX_VALUES_PER_SUM) {
        let mut sums = [[[_mm256_setzero_si256(); 8]; 2]; 2];
        let end = width.min(first + MAX_VALUES_PER_SUM);
        // SAFETY: the machine has AVX2, and all rows have at least `width` values.
        unsafe {
            let inverse = T::splat(weigh.inverse);
            for at in (first..end).step_by(WIDTH) {
                let mut target = T::load(weigh.values.as_ptr().add(at));
                if let Some((rows, weights)) = &base {
                    target = T::minus(target, T::sum(rows, weights, at));
                }
                for kind in 0..2 {
                    let mut parts = [T::splat(T::default()); 8];
                    for k in 0..axes {
                        let (rows, weights) = &taps[k][kind];
                        let part = T::sum(rows, weights, at);
                        for set in 1 << k..2 << k {
                            parts[set] = T::plus(parts[set & !(1 << k)], part);
                        }
                    }
                    for set in 0..1 << axes {
                        for scale in 0..scales {
                            let weight = WEIGHTS[scale][(set as u32).count_ones() as usize];
                            let part = T::times(parts[set], T::splat(T::from_f64(weight)));
                            let steps = T::times(T::minus(target, part), inverse);
                            let sum = &mut sums[scale][kind][set];
                            *sum = _mm256_add_epi32(*sum, costs(T::singles(steps)));
                        }
                    }
                }
            }
        }
        for (to, from) in weigh
            .costs
            .as_flattened_mut()
            .iter_mut()
            .zip(sums.as_flattened())
        {
            for (to, &from) in to.iter_mut().zip(from) {
                *to += total(from);
            }
        }
    }
}
