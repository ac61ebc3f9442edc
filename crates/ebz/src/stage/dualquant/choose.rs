//! Chooses the base of the lattice and the lags of the prediction from samples of a chunk.
//!
//! Samples lie at fixed positions, so that the choice depends only on the values.

use super::Estimate;
use crate::array::FiniteRange;
use crate::element::Float;
use crate::element::log_lattice::LogLattice;
use crate::element::real::Via;
use crate::element::word::Word;
use crate::fill::{FillValues, TypedFill};
use crate::request::Dims;
use crate::simd::{Level, memory};
use crate::stage::UNIT;
use crate::stage::lags::{Lags, distances};
use crate::stage::relative::Relative;
use std::ops::Range;

/// Maximum number of values sampled for the range of a chunk.
const MAX_SAMPLED_VALUES: usize = 512;

/// The start of a chunk is sampled too if lags reach beyond it in more than one of this many values.
const MIN_SAMPLED_SHARE: usize = 4;

/// The base for which coordinates of magnitude up to `most` cover the bulk of the values; `None` if
/// there is none.
pub(super) fn base<T: Float>(
    level: Level,
    (step, most): (f64, i64),
    values: &[T],
    fill: &FillValues,
) -> Option<i64> {
    let reach = most as f64;

    // 1. Find the bulk of the values, without outliers and fill values.
    let mut buffer = [T::default(); MAX_SAMPLED_VALUES];
    let sample = sample(values, &mut buffer);
    let fits = |(low, high): (f64, f64)| low.abs().max(high.abs()) * 1.25 <= reach;
    let mut range = match FiniteRange::at_level(level, sample, fill) {
        FiniteRange { min, max } if min <= max => (min / step, max / step),
        _ => (0.0, 0.0),
    };
    if !fits(range) {
        let fill = fill.typed(T::from_f64);
        let used = sample.iter().filter(|x| is_sampled(**x, fill));
        range = bulk(&mut used.map(|x| x.to_f64() / step).collect());
    }

    // 2. Use base 0 if the coordinates fit, which is faster; otherwise the middle.
    if fits(range) {
        return Some(0);
    }
    let (low, high) = range;
    let middle = (low + (high - low) / 2.0).round() as i64;
    let farthest = T::FARTHEST - most;
    let within = (high - low) * 0.75 <= reach && middle.saturating_abs() <= farthest;
    within.then_some(middle)
}

/// The window of a relative lattice that coordinates of type `W` cover; `None` if it misses too many
/// values.
pub(super) fn part<T: Float + Via<F>, F: LogLattice, W: Word>(
    lattice: &Relative<T, F>,
    values: &[T],
    fill: &FillValues,
) -> Option<Relative<T, F>> {
    let fill = fill.typed(T::from_f64);
    let mut buffer = [T::default(); MAX_SAMPLED_VALUES];
    let sample = sample(values, &mut buffer).iter().copied();
    lattice.part(
        sample.filter(|x| is_sampled(*x, fill)),
        16 * W::PARTS as u32,
    )
}

/// The relative lattice for a bound and coordinates of type `W`; `None` if there is none.
pub(crate) fn relative<T: Float + Via<F>, F: LogLattice, W: Word>(
    bound: f64,
    values: &[T],
    fill: &FillValues,
) -> Option<Relative<T, F>> {
    part::<T, F, W>(&Relative::whole(bound, fill)?, values, fill)
}

/// The positions of all values that [`base`] and [`lags`] sample, in any order.
pub(crate) fn sampled_places<E: Estimate>(values: usize, dims: Dims) -> Vec<Range<usize>> {
    let mut places: Vec<_> = (0..values)
        .step_by(sample_stride(values))
        .map(|at| at..at + 1)
        .collect();
    if values > 2 * UNIT {
        let (lags, axes) = (distances(dims), dims.axes());
        let before = lags[..axes].iter().sum();
        let count = E::samples(values.div_ceil(UNIT));
        for at in (0..count).map(|number| sample_place(values, before, count, number)) {
            for set in 0..1 << axes {
                let back: usize = (0..axes).map(|i| (set >> i & 1) * lags[i]).sum();
                let start = at.checked_sub(back).map(|at| at..(at + UNIT).min(values));
                places.extend(start);
            }
        }
    }
    places
}

/// Distance of the values sampled for the range of a chunk.
fn sample_stride(values: usize) -> usize {
    // Odd, so that samples of rows of 2^n values do not all fall into one column.
    values.div_ceil(MAX_SAMPLED_VALUES) | 1
}

/// A sample of the values.
fn sample<'a, T: Float>(values: &'a [T], buffer: &'a mut [T; MAX_SAMPLED_VALUES]) -> &'a [T] {
    let stride = sample_stride(values.len());
    if stride == 1 {
        return values;
    }
    // All loads first, so that cache misses overlap.
    let mut count = 0;
    for (to, from) in buffer.iter_mut().zip(values.iter().step_by(stride)) {
        *to = *from;
        count += 1;
    }
    &buffer[..count]
}

/// Whether a value counts: fill values and those that are not finite do not.
#[inline(always)]
fn is_sampled<T: Float>(x: T, fill: TypedFill<T>) -> bool {
    x.is_finite() && !fill.contains(x)
}

/// The range of the bulk of a sample, in steps. Drops values too far from the median for any
/// coordinate, which may be many (undeclared fill values), and 1/32 of the rest at either end as
/// outliers.
fn bulk(sample: &mut Vec<f64>) -> (f64, f64) {
    if sample.is_empty() {
        return (0.0, 0.0);
    }
    let half = sample.len() / 2;
    let middle = *sample.select_nth_unstable_by(half, f64::total_cmp).1;
    sample.retain(|x| (x - middle).abs() < (1u64 << 33) as f64);
    let share = sample.len() / 32;
    let Some(last) = sample.len().checked_sub(1 + share) else {
        return (0.0, 0.0);
    };
    let low = *sample.select_nth_unstable_by(share, f64::total_cmp).1;
    let high = *sample.select_nth_unstable_by(last, f64::total_cmp).1;
    (low, high)
}

/// The set of lags with the lowest cost on sampled units, and that cost per unit; `u64::MAX` if the
/// chunk is too small to sample.
pub(super) fn lags<T: Float, W: Word, E: Estimate>(
    level: Level,
    values: &[T],
    dims: Dims,
    number: impl Fn(&[T; UNIT], &mut [W; UNIT]),
) -> (Lags, u64) {
    let lags = distances(dims);
    let mut candidates = Lags::candidates(dims);
    let (Some(default), false) = (candidates.next(), values.len() <= 2 * UNIT) else {
        return (Lags(1), u64::MAX);
    };
    let mut estimates: [E; 8] = Default::default();
    let before = (0..3).filter(|&i| default.has(i)).map(|i| lags[i]).sum();
    let count = E::samples(values.len().div_ceil(UNIT));
    let place = |number| match E::EVERYWHERE {
        true => scattered_place(values.len(), count, number),
        false => sample_place(values.len(), before, count, number),
    };
    // All cache misses at once. Windows that differ by the lag 1 share their cache lines.
    let back = |set: usize| {
        (0..3)
            .filter(|i| set >> i & 1 == 1)
            .map(|i| lags[i])
            .sum::<usize>()
    };
    for at in (0..count).map(place) {
        for set in (0..=usize::from(default.0)).step_by(2) {
            let start = at.checked_sub(back(set));
            if let Some(unit) = start.and_then(|at| values.get(at..)?.first_chunk::<UNIT>()) {
                memory::prefetch(unit, 0);
            }
        }
    }
    for at in (0..count).map(place) {
        // The integers at every combination of lags before the sample.
        let mut numbers = [[W::default(); UNIT]; 8];
        for (set, numbers) in numbers
            .iter_mut()
            .enumerate()
            .take(usize::from(default.0) + 1)
        {
            if let Some(at) = at.checked_sub(back(set)) {
                level.run(
                    #[inline(always)]
                    || number(&window(values, at), numbers),
                );
            }
        }
        // For each lag, replace the integers of the sets that contain it by differences.
        let sets = usize::from(default.0) + 1;
        level.run(
            #[inline(always)]
            || {
                for axis in (0..3).filter(|&axis| default.has(axis)) {
                    for set in (0..sets).filter(|set| set >> axis & 1 == 1) {
                        let without = numbers[set ^ 1 << axis];
                        for (number, without) in numbers[set].iter_mut().zip(without) {
                            *number = without.sub(*number);
                        }
                    }
                }
                for number in numbers[..sets].as_flattened_mut() {
                    *number = number.zigzag();
                }
            },
        );
        for (estimate, residuals) in estimates.iter_mut().zip(&numbers[..sets]) {
            estimate.add(level, residuals);
        }
    }
    let cost = |set: Lags| (set, estimates[usize::from(set.0)].cost());
    let (best, cost) = candidates
        .map(cost)
        .fold(cost(default), |a, b| if b.1 < a.1 { b } else { a });
    (best, cost / count as u64)
}

/// Start of a sampled unit. Samples skip the `before` values at the start, which lags reach beyond, unless these are a
/// large part of the chunk, as in chunks of few planes.
fn sample_place(values: usize, before: usize, count: usize, number: usize) -> usize {
    let last = values.saturating_sub(UNIT);
    let first = if before > values / MIN_SAMPLED_SHARE {
        0
    } else {
        before.min(last)
    };
    let stride = (last - first) / count;
    // In the middle half of equal parts: their middles would be in step with rows, planes and symmetric fields.
    first + number * stride + stride / 4 + scattered(stride / 2, number)
}

/// Start of a sampled unit at a pseudorandom position within its part of the chunk, so that patterns
/// that repeat by row or plane are sampled at many offsets.
pub(crate) fn scattered_place(values: usize, count: usize, number: usize) -> usize {
    let stride = values.saturating_sub(UNIT) / count;
    number * stride + scattered(stride, number)
}

/// A pseudorandom position below `length`, another one for each number.
pub(crate) fn scattered(length: usize, number: usize) -> usize {
    // Fractions of multiples of the golden ratio are evenly distributed and never repeat.
    let fraction = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((length as u64 * fraction) >> 32) as usize
}

/// The unit that starts at a position; padded with the last value at the end.
fn window<T: Float>(values: &[T], at: usize) -> [T; UNIT] {
    super::padded(&values[at.min(values.len())..])
}
