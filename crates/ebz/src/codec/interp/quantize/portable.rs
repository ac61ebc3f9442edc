//! Plain loops over groups of lanes.

use super::{Buffers, Prediction, Rows};
use crate::codec::interp::context::magnitude;
use crate::codec::interp::number::{MAX_RESIDUAL, Number, Step};
use crate::codec::interp::pack::{Pack, Taps, WIDTH, each, load, store, zip};

/// The sum over all axes, in a fixed order of additions.
fn predict<T: Number>(
    prediction: &Prediction<T>,
    inner: &[T],
    (row, at): (usize, usize),
) -> Pack<T> {
    let axes = &prediction.axes[..prediction.axis_count];
    let parts = axes
        .iter()
        .map(|taps| taps.group(inner, row * taps.pitch + at));
    let sum = parts.reduce(|a, b| zip(a, b, |a, b| a + b));
    sum.unwrap_or([T::default(); WIDTH])
}

fn base<T: Number>(
    base: Option<Taps<T>>,
    buffers: &Buffers<'_, T>,
    (row, at): (usize, usize),
) -> Option<Pack<T>> {
    base.map(|taps| taps.group(buffers.values(), row * taps.pitch + at))
}

/// Writes a group of reconstructions; returns the decoded values.
fn write<T: Number>(
    buffers: &mut Buffers<'_, T>,
    at: usize,
    inner: Pack<T>,
    base: Option<Pack<T>>,
) -> Pack<T> {
    store(buffers.inner, at, inner);
    let outer = base.map_or(inner, |base| zip(base, inner, |b, n| b + n));
    if let Some(values) = &mut buffers.outer {
        store(values, at, outer);
    }
    outer
}

/// See [`Prediction::quantize`].
pub(super) fn quantize<T: Number>(
    prediction: &Prediction<T>,
    step: Step<T>,
    buffers: &mut Buffers<'_, T>,
    rows: &mut Rows<T>,
) -> bool {
    let most = T::from_i64(i64::from(MAX_RESIDUAL));
    let least = T::from_i64(-i64::from(MAX_RESIDUAL));
    let width = prediction.width();
    let mut good = true;
    for row in 0..prediction.rows {
        for at in (0..prediction.count).step_by(WIDTH) {
            let place = prediction.start + row * prediction.pitch + at;
            let valid = (prediction.count - at).min(WIDTH);
            let values: Pack<T> = load(buffers.values(), place);
            store(&mut rows.original, row * width + at, values);
            let p = predict(prediction, buffers.inner, (row, at));
            let base = base(prediction.base, buffers, (row, at));
            let target = base.map_or(values, |base| zip(values, base, |v, b| v - b));
            let steps = zip(target, p, |t, p| (t - p) * step.inverse);
            // Comparisons rather than min and max: NaN becomes `most`.
            let steps = each(steps, |s| if s < most { s } else { most });
            let steps = each(steps, |s| if s > least { s } else { least });
            let shifted = each(steps, |s| s + T::ROUNDER);
            let inner = zip(p, shifted, |p, s| p + (s - T::ROUNDER) * step.size);
            let mut residuals = each(shifted, |s| s.rounded() as i16);
            residuals[valid..].fill(0);
            store(&mut rows.residuals, row * width + at, residuals);
            store(buffers.magnitudes, place, each(residuals, magnitude));
            let outer = write(buffers, place, inner, base);
            let wrong = zip(values, outer, |v, f| step.misses(v - f));
            good &= !wrong[..valid].contains(&true);
        }
        rows.residuals[row * width + prediction.count..(row + 1) * width].fill(0);
    }
    good
}

/// See [`Prediction::dequantize`].
pub(super) fn dequantize<T: Number>(
    prediction: &Prediction<T>,
    step: T,
    buffers: &mut Buffers<'_, T>,
    residuals: &[i16],
) {
    for row in 0..prediction.rows {
        for at in (0..prediction.count).step_by(WIDTH) {
            let p = predict(prediction, buffers.inner, (row, at));
            let base = base(prediction.base, buffers, (row, at));
            let residuals: Pack<i16> = load(residuals, row * prediction.width() + at);
            let inner = zip(p, residuals, |p, q| p + T::from_i64(i64::from(q)) * step);
            let place = prediction.start + row * prediction.pitch + at;
            write(buffers, place, inner, base);
        }
    }
}
