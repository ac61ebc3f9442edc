//! PSNR of a frame that is encoded but not yet written.

use crate::chunk::{ChunkCoder, Cpu, EncodedFrame};
use crate::element::Element;
use crate::error::Result;
use crate::options::Options;
use crate::parallel;

/// Buffers and results of one thread.
struct State<T> {
    coder: ChunkCoder,
    decoded: Vec<T>,
    /// Sum of squared errors and number of values of each slab.
    sums: Vec<(f64, u64)>,
}

/// PSNR of a frame over the values that count for the range. The sums of slabs are added in order,
/// so that the result does not depend on the number of threads.
pub(super) fn of<T: Element>(
    frame: &EncodedFrame,
    values: &[T],
    range: f64,
    options: &Options,
) -> Result<f64> {
    let fill = options.fill.values().typed(T::from_f64);
    // Errors are relative to the range, so that squares neither overflow nor underflow.
    let unit = if range > 0.0 { range } else { 1.0 };
    let plan = &frame.plan;
    let mut states = Vec::new();
    let threads = parallel::threads(options.threads).min(plan.slabs()).max(1);
    states.resize_with(threads, || State {
        coder: ChunkCoder::new(options.simd),
        decoded: Vec::new(),
        sums: Vec::new(),
    });
    let (mut sum, mut count) = (0.0, 0);
    let mut rest = values;
    let per_slab = plan.header().grid.chunks_per_slab().max(1);
    let mut runs = frame.runs.iter();
    parallel::ordered(
        &mut states,
        |_| {
            Ok(runs.next().map(|run| {
                let slabs = run.first() / per_slab..(run.first() + run.len()) / per_slab;
                let count = slabs.clone().map(|slab| plan.slab_len(slab)).sum();
                let (values, after) = rest.split_at(count);
                rest = after;
                (slabs, run, values)
            }))
        },
        |State {
             coder,
             decoded,
             sums,
         },
         (slabs, run, mut values)| {
            sums.clear();
            let mut bodies = run.bodies();
            for slab in slabs {
                let region = plan.header().grid.slab_box(slab);
                decoded.resize(plan.slab_len(slab), T::default());
                for (chunk, body) in plan.chunks_of(slab).zip(&mut bodies) {
                    coder.decode(&Cpu, plan, chunk, body, &region, decoded)?;
                }
                let (mut sum, mut count) = (0.0, 0);
                let (originals, after) = values.split_at(decoded.len());
                values = after;
                for (&value, &decoded) in originals.iter().zip(decoded.iter()) {
                    if value.is_finite() && !fill.contains(value) {
                        let error = (value.to_f64() - decoded.to_f64()) / unit;
                        sum += error * error;
                        count += 1;
                    }
                }
                sums.push((sum, count));
            }
            Ok(())
        },
        |state| {
            for (slab_sum, slab_count) in &state.sums {
                sum += slab_sum;
                count += slab_count;
            }
            Ok(())
        },
    )?;
    if sum == 0.0 {
        return Ok(f64::INFINITY);
    }
    Ok(-10.0 * (sum / count.max(1) as f64).log10())
}
