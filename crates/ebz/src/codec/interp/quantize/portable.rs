//! Plain loops over groups of lanes.

use super::{Buffers, Prediction, Row};
use crate::codec::interp::context::magnitude;
use crate::codec::interp::number::{MAX_RESIDUAL, Number, Step};
use crate::codec::interp::pack::{Pack, Taps, WIDTH, each, load, store, zip};

/// The sum over all axes, in a fixed order of additions.
fn predict<T: Number>(prediction: &Prediction<T>, inner: &[T], at: usize) -> Pack<T> {
    let axes = &prediction.axes[..prediction.axis_count];
    let parts = axes.iter().map(|taps| taps.group(inner, at));
    let sum = parts.reduce(|a, b| zip(a, b, |a, b| a + b));
    sum.unwrap_or([T::default(); WIDTH])
}

fn base<T: Number>(base: Option<Taps<T>>, buffers: &Buffers<'_, T>, at: usize) -> Option<Pack<T>> {
    base.map(|taps| taps.group(buffers.values(), at))
}

/// Writes a group of reconstructions; returns the decoded values.
fn write<T: Number>(
    buffers: &mut Buffers<'_, T>,
    at: usize,
    inner: Pack<T>,
    base: Option<Pack<T>>,
    residuals: Pack<i16>,
) -> Pack<T> {
    store(buffers.inner, at, inner);
    let outer = base.map_or(inner, |base| zip(base, inner, |b, n| b + n));
    if let Some(values) = &mut buffers.outer {
        store(values, at, outer);
    }
    store(buffers.magnitudes, at, each(residuals, magnitude));
    outer
}

/// See [`Prediction::quantize`].
pub(super) fn quantize<T: Number>(
    prediction: &Prediction<T>,
    step: Step<T>,
    buffers: &mut Buffers<'_, T>,
    row: &mut Row<T>,
) -> bool {
    let most = T::from_i64(i64::from(MAX_RESIDUAL));
    let least = T::from_i64(-i64::from(MAX_RESIDUAL));
    let mut good = true;
    for at in (0..prediction.count).step_by(WIDTH) {
        let place = prediction.start + at;
        let valid = (prediction.count - at).min(WIDTH);
        let values: Pack<T> = load(buffers.values(), place);
        store(&mut row.original, at, values);
        let p = predict(prediction, buffers.inner, at);
        let base = base(prediction.base, buffers, at);
        let target = base.map_or(values, |base| zip(values, base, |v, b| v - b));
        let steps = zip(target, p, |t, p| (t - p) * step.inverse);
        // Comparisons rather than min and max: NaN becomes `most`.
        let steps = each(steps, |s| if s < most { s } else { most });
        let steps = each(steps, |s| if s > least { s } else { least });
        let shifted = each(steps, |s| s + T::ROUNDER);
        let inner = zip(p, shifted, |p, s| p + (s - T::ROUNDER) * step.size);
        let mut residuals = each(shifted, |s| s.rounded() as i16);
        residuals[valid..].fill(0);
        store(&mut row.residuals, at, residuals);
        let outer = write(buffers, place, inner, base, residuals);
        let wrong = zip(values, outer, |v, f| step.misses(v - f));
        good &= !wrong[..valid].contains(&true);
    }
    row.residuals[prediction.count..].fill(0);
    good
}

/// See [`Prediction::dequantize`].
pub(super) fn dequantize<T: Number>(
    prediction: &Prediction<T>,
    step: T,
    buffers: &mut Buffers<'_, T>,
    residuals: &[i16],
) {
    for at in (0..prediction.count).step_by(WIDTH) {
        let p = predict(prediction, buffers.inner, at);
        let base = base(prediction.base, buffers, at);
        let residuals: Pack<i16> = load(residuals, at);
        let inner = zip(p, residuals, |p, q| p + T::from_i64(i64::from(q)) * step);
        write(buffers, prediction.start + at, inner, base, residuals);
    }
}
