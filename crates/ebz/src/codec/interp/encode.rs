//! Encoder. [`super::decode`] mirrors the steps.

use super::context::Magnitudes;
use super::escape::Escape;
use super::geometry::Pyramid;
use super::kernel::launch;
use super::lorenzo::History;
use super::number::{Number, Step};
use super::pack::{Taps, WIDTH};
use super::plan::{Mode, Plan, Source};
use super::predict::{Predictor, taps};
use super::quantize::{Buffers, Prediction, Rows};
use super::rearrange::split_all;
use super::residual::ResidualRows;
use super::rows;
use super::stream::StreamWriter;
use super::walk::{
    ClassJob, Coder, Fields, MIN_VALUES_TO_CHOOSE_PREDICTOR, Pass, Scratch, part, passes,
};
use super::weigh::Weigh;
use crate::error::Result;
use crate::fill::TypedFill;
use crate::simd::Level as Isa;

/// Scratch buffers of an encoder.
#[derive(Default)]
pub(super) struct Memory<T> {
    /// The chunk with permuted axes.
    arranged: Vec<T>,
    fields: Fields<T>,
    scratch: Scratch<T>,
    lorenzo: History,
    pub(super) streams: StreamWriter,
}

/// Encodes a chunk as planned, up to the entropy coder.
pub(super) fn encode<'a, T: Number>(
    isa: Isa,
    source: &Source<'_, T>,
    plan: Plan,
    memory: &'a mut Memory<T>,
) -> Result<&'a mut StreamWriter> {
    memory.streams.clear();
    encode_streams(isa, source, plan, memory)?;
    Ok(&mut memory.streams)
}

/// Encodes a chunk into `memory.streams`, up to the entropy coder.
pub(super) fn encode_streams<T: Number>(
    isa: Isa,
    source: &Source<'_, T>,
    plan: Plan,
    memory: &mut Memory<T>,
) -> Result<()> {
    let (extents, strides) = plan.arrange(source.dims);
    let halved = match plan.mode {
        Mode::Isotropic => [true; 3],
        Mode::Packet => [false, true, true],
        Mode::Lorenzo(axes) => {
            let Memory {
                lorenzo, streams, ..
            } = memory;
            let shape = (extents, strides, axes);
            return super::lorenzo::encode(isa, source, shape, lorenzo, streams);
        }
    };
    // 1. Split the values into classes.
    let pyramid = Pyramid::new(extents, halved);
    let Memory {
        arranged,
        fields,
        scratch,
        streams,
        ..
    } = memory;
    fields.prepare(&pyramid, extents, plan.mode == Mode::Packet);
    let (values, strides) = rows::gather(isa, source.values, extents, strides, arranged);
    let row = |z, y| &values[z * strides[0] + y * strides[1]..][..extents[2]];
    split_all(isa, &pyramid, row, &mut fields.values);
    // 2. Encode the classes from coarse to fine.
    let mut coder = RowEncoder {
        isa,
        streams,
        fill: source.fill,
    };
    for planes in passes(plan.mode, extents) {
        let part = part(&pyramid, planes);
        let pass = Pass {
            isa,
            whole: &pyramid,
            part: &part,
            planes,
            bound: source.bound,
        };
        pass.run(fields, scratch, &mut coder)?;
    }
    Ok(())
}

struct RowEncoder<'a, T> {
    isa: Isa,
    streams: &'a mut StreamWriter,
    fill: TypedFill<T>,
}

impl<T: Number> Coder<T> for RowEncoder<'_, T> {
    fn predictor(&mut self, job: &ClassJob<'_, T>, fields: &Fields<T>) -> Result<Predictor> {
        if job.block.len() < MIN_VALUES_TO_CHOOSE_PREDICTOR {
            return Ok(Predictor::fallback(job.class));
        }
        let predictor = choose_predictor(self.isa, job, fields);
        let code = predictor.code();
        self.streams.predictors.put(code, Predictor::CODE_BITS);
        Ok(predictor)
    }

    #[inline(always)]
    fn rows(
        &mut self,
        job: &ClassJob<'_, T>,
        at: (usize, usize),
        prediction: &Prediction<T>,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let Scratch { rows, contexts } = scratch;
        // 1. Quantize; escape values that violate the bound.
        let mut buffers = fields.buffers(job.pass.planes.is_some());
        let good = prediction.quantize(self.isa, job.step, &mut buffers, rows);
        if !good || !self.fill.is_empty() {
            self.escape(prediction, job.step, &mut buffers, rows);
        }
        self.streams.position += prediction.rows * prediction.count;
        // 2. Residuals.
        let around = job.rows_around(fields, at);
        let magnitudes = &mut fields.magnitudes;
        let residuals = ResidualRows::new(around, prediction, magnitudes, &mut rows.residuals);
        self.streams
            .residuals
            .push_rows(self.isa, contexts, residuals);
        Ok(())
    }
}

impl<T: Number> RowEncoder<'_, T> {
    #[cold]
    fn escape(
        &mut self,
        prediction: &Prediction<T>,
        step: Step<T>,
        buffers: &mut Buffers<'_, T>,
        rows: &mut Rows<T>,
    ) {
        let width = prediction.width();
        let residuals = rows.residuals.chunks_exact_mut(width);
        let both = residuals.zip(rows.original.chunks_exact(width));
        for (row, (residuals, original)) in both.take(prediction.rows).enumerate() {
            let position = self.streams.position + row * prediction.count;
            let prediction = &prediction.row(row);
            self.escape_row(prediction, step, buffers, (residuals, original), position);
        }
    }

    fn escape_row(
        &mut self,
        prediction: &Prediction<T>,
        step: Step<T>,
        buffers: &mut Buffers<'_, T>,
        (residuals, original): (&mut [i16], &[T]),
        position: usize,
    ) {
        let Prediction { start, count, .. } = *prediction;
        let decoded = &buffers.values()[start..start + count];
        let fails = |(&value, &decoded): (&T, &T)| {
            // Fill values are stored exactly, and no other value may decode to one.
            step.misses(value - decoded) || self.fill.contains(value) || self.fill.contains(decoded)
        };
        let both = original.iter().zip(decoded);
        let failing: Vec<usize> = both
            .enumerate()
            .filter_map(|(i, both)| fails(both).then_some(i))
            .collect();
        if failing.is_empty() {
            return;
        }
        for &i in &failing {
            residuals[i] = 0;
        }
        // The residual of an escape is 0, so its reconstruction is the prediction.
        prediction.dequantize(self.isa, step.size, buffers, residuals);
        let out = &mut buffers.magnitudes[start..start + residuals.len()];
        launch(self.isa, Magnitudes { residuals, out });
        for i in failing {
            let value = original[i];
            let from_base = value
                - prediction
                    .base
                    .map_or(T::default(), |b| b.single(buffers.values(), i));
            let error = from_base - buffers.inner[start + i];
            let spike = error.abs() * step.inverse > T::SPIKE_STEPS;
            let escape = Escape {
                value,
                excluded: !value.is_finite() || self.fill.contains(value) || spike,
            };
            self.streams.escapes.push(position + i, escape);
            prediction.escape(i, escape, buffers);
        }
    }
}

/// The predictor with the least estimated cost on a sample of rows.
fn choose_predictor<T: Number>(isa: Isa, job: &ClassJob<'_, T>, fields: &Fields<T>) -> Predictor {
    let ClassJob { level, class, .. } = *job;
    let [nz, ny, nx] = job.block.extents;
    let (source, samples) = match (job.pass.planes, level) {
        (None, 0) => (&fields.values, 2048),
        (None, _) => (&fields.values, 1024),
        (Some(_), _) => (&fields.differences, 2048),
    };
    if nx < WIDTH {
        // Costs are those of whole groups.
        return Predictor::fallback(class);
    }
    // Sample at most a quarter of a small class.
    let wanted = (samples.min(job.block.len() / 4) / nx).clamp(2, 256);
    // An odd stride samples rows of both parities.
    let apart = (nz * ny / wanted).max(1) | 1;
    let axes: Vec<usize> = (0..3).filter(|a| class & 4 >> a != 0).collect();
    let mut costs = [[[0; 8]; 2]; 2];
    for row in (apart / 2..nz * ny).step_by(apart) {
        let at = (row / ny, row % ny);
        let weight = T::from_f64(1.0);
        let mut both = [[Taps::none(); 2]; 3];
        for (both, &axis) in both.iter_mut().zip(&axes) {
            let level = &job.pass.part.levels[level];
            *both = [false, true].map(|cubic| taps(level, class, axis, (cubic, weight), at));
        }
        let start = job.block.row(at.0, at.1);
        Weigh {
            taps: &both[..axes.len()],
            source,
            base: job.base(at).map(|base| (base, &fields.values[..])),
            values: &fields.values[start..start + nx],
            inverse: job.step.inverse,
            costs: &mut costs,
        }
        .run(isa);
    }
    let mut best = Predictor::fallback(class);
    let all = (1 << axes.len()) - 1;
    let mut least = costs[0][1][all];
    let scales = if job.pass.planes.is_some_and(|p| p.first > 0) {
        2
    } else {
        1
    };
    for (scale, costs) in costs.iter().enumerate().take(scales) {
        for (kind, costs) in costs.iter().enumerate() {
            for (set, &cost) in costs.iter().enumerate().take(all + 1) {
                let offered = set > 0 || (scales, scale, kind) == (2, 0, 0);
                if cost < least && offered {
                    least = cost;
                    let used = axes.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1);
                    best = Predictor {
                        axes: used.map(|(_, &a)| 4 >> a).sum(),
                        cubic: kind == 1,
                        half: scale == 1,
                    };
                }
            }
        }
    }
    best
}
