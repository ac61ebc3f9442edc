//! The quality of a frame that is coded but not written yet.

use crate::container::{CodedFrame, SlabCoder};
use crate::element::Element;
use crate::error::Result;
use crate::options::Options;
use crate::parallel;

/// One thread's memory, and what became of its slab.
struct State<T> {
    coder: SlabCoder,
    decoded: Vec<T>,
    sum: f64,
    count: u64,
}

/// PSNR of frame number `number`, of the values that count for the range. The sums of slabs are
/// added in their order, so that the result does not depend on the number of threads.
pub(super) fn of<T: Element>(
    frame: &CodedFrame,
    number: u32,
    values: &[T],
    range: f64,
    options: &Options,
) -> Result<f64> {
    let fill = options.fill.values().typed(T::from_f64);
    // Errors are summed as shares of the range, whose squares are neither too large nor too small.
    let unit = if range > 0.0 { range } else { 1.0 };
    let plan = &frame.plan;
    let mut states = Vec::new();
    let threads = parallel::threads(options.threads).min(plan.slabs()).max(1);
    states.resize_with(threads, || State {
        coder: SlabCoder::new(options.simd),
        decoded: Vec::new(),
        sum: 0.0,
        count: 0,
    });
    let (mut sum, mut count) = (0.0, 0);
    let mut rest = values;
    let mut slabs = frame.slabs.iter().enumerate();
    parallel::ordered(
        &mut states,
        |_| {
            Ok(slabs.next().map(|(slab, coded)| {
                let region = plan.slab_region(slab);
                let (values, after) = rest.split_at(region.iter().map(|r| r.len()).product());
                rest = after;
                (slab, coded, values)
            }))
        },
        |state, (slab, coded, values)| {
            state.decoded.resize(values.len(), T::default());
            let decoded = &mut state.decoded;
            state
                .coder
                .decode(plan, number, slab, coded.bytes(), decoded)?;
            (state.sum, state.count) = (0.0, 0);
            for (&value, &decoded) in values.iter().zip(decoded.iter()) {
                if value.is_finite() && !fill.contains(value) {
                    let error = (value.to_f64() - decoded.to_f64()) / unit;
                    state.sum += error * error;
                    state.count += 1;
                }
            }
            Ok(())
        },
        |state| {
            sum += state.sum;
            count += state.count;
            Ok(())
        },
    )?;
    if sum == 0.0 {
        return Ok(f64::INFINITY);
    }
    Ok(-10.0 * (sum / count.max(1) as f64).log10())
}
