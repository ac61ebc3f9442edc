//! Decoder. [`super::encode`] mirrors the steps.

use super::geometry::{Extents, Pyramid};
use super::lorenzo::History;
use super::number::Number;
use super::plan::{Mode, Plan};
use super::predict::Predictor;
use super::quantize::Prediction;
use super::rearrange::{join_chunk, join_level};
use super::residual::ResidualRows;
use super::stream::StreamReader;
use super::walk::{
    ClassJob, Coder, Fields, MIN_VALUES_TO_CHOOSE_PREDICTOR, Pass, Scratch, part, passes,
};
use super::{residual, rows};
use crate::codec::Dims;
use crate::error::Result;
use crate::simd::Level as Isa;

/// Scratch buffers of a decoder.
#[derive(Default)]
pub(super) struct Memory<T> {
    /// The chunk with permuted axes.
    arranged: Vec<T>,
    fields: Fields<T>,
    scratch: Scratch<T>,
    lorenzo: History,
    residuals: residual::Memory,
}

/// Decodes a chunk into `out`, with non-temporal stores if `streaming`.
pub(super) fn decode<T: Number>(
    isa: Isa,
    mut bytes: &[u8],
    dims: Dims,
    memory: &mut Memory<T>,
    streaming: bool,
    out: &mut [T],
) -> Result<()> {
    let (plan, bound) = Plan::read_from(&mut bytes)?;
    let (extents, strides) = plan.arrange(dims);
    let Memory {
        arranged,
        fields,
        scratch,
        lorenzo,
        residuals,
    } = memory;
    let mut streams = StreamReader::new(isa, bytes, out.len(), residuals)?;
    let halved = match plan.mode {
        Mode::Isotropic => [true; 3],
        Mode::Packet => [false, true, true],
        Mode::Lorenzo(axes) => {
            let shape = (extents, strides, axes);
            super::lorenzo::decode(isa, bound, shape, lorenzo, &mut streams, out)?;
            return streams.finish();
        }
    };
    let pyramid = Pyramid::new(extents, halved);
    fields.prepare(&pyramid, extents, plan.mode == Mode::Packet);
    // 2. Decode the classes from coarse to fine.
    let mut coder = RowDecoder {
        isa,
        streams: &mut streams,
        strides,
        exact: Vec::new(),
    };
    for planes in passes(plan.mode, extents) {
        let part = part(&pyramid, planes);
        let pass = Pass {
            isa,
            whole: &pyramid,
            part: &part,
            planes,
            bound,
        };
        pass.run(fields, scratch, &mut coder)?;
    }
    let exact = coder.exact;
    streams.finish()?;
    // 1. Merge the classes.
    if plan.mode == Mode::Packet {
        // In isotropic mode, the passes have merged all but the finest level.
        for level in (1..pyramid.levels.len()).rev() {
            join_level(isa, &pyramid, level, &mut fields.values, |_, _| {});
        }
    }
    let place = |strides: Extents| move |z, y| z * strides[0] + y * strides[1];
    if strides[2] == 1 {
        let place = place(strides);
        join_chunk(isa, &pyramid, &fields.values, place, out, streaming);
    } else {
        let contiguous = rows::contiguous_strides(extents);
        arranged.resize(out.len(), T::default());
        let place = place(contiguous);
        join_chunk(isa, &pyramid, &fields.values, place, arranged, false);
        rows::scatter(isa, arranged, extents, strides, out);
    }
    for (at, value) in exact {
        out[at] = value;
    }
    Ok(())
}

struct RowDecoder<'a, 'b, T> {
    isa: Isa,
    streams: &'a mut StreamReader<'b, T>,
    strides: Extents,
    /// Values to overwrite the reconstruction with, after all passes.
    exact: Vec<(usize, T)>,
}

impl<T: Number> Coder<T> for RowDecoder<'_, '_, T> {
    fn predictor(&mut self, job: &ClassJob<'_, T>, _: &Fields<T>) -> Result<Predictor> {
        if job.block.len() < MIN_VALUES_TO_CHOOSE_PREDICTOR {
            return Ok(Predictor::fallback(job.class));
        }
        let code = self.streams.predictors.get(Predictor::CODE_BITS);
        Ok(Predictor::from_code(code, job.class))
    }

    #[inline(always)]
    fn rows(
        &mut self,
        job: &ClassJob<'_, T>,
        (z, y): (usize, usize),
        prediction: &Prediction<T>,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let Scratch { rows, contexts } = scratch;
        // 2. Residuals.
        let around = job.rows_around(fields, (z, y));
        let magnitudes = &mut fields.magnitudes;
        let residuals = ResidualRows::new(around, prediction, magnitudes, &mut rows.residuals);
        self.streams
            .residuals
            .pull_rows(self.isa, contexts, residuals)?;
        // 1. Reconstruct; escapes are exact.
        let mut buffers = fields.buffers(job.pass.planes.is_some());
        prediction.dequantize(self.isa, job.step.size, &mut buffers, &rows.residuals);
        for row in 0..prediction.rows {
            let end = self.streams.position + prediction.count;
            while let Some((position, escape)) = self.streams.escapes.next_before(end)? {
                let i = position - self.streams.position;
                prediction.row(row).escape(i, escape, &mut buffers);
                if escape.excluded {
                    let (mut place, apart) = job.origin((z, y + row));
                    place[2] += i * apart;
                    let at: usize = place.iter().zip(&self.strides).map(|(a, s)| a * s).sum();
                    self.exact.push((at, escape.value));
                }
            }
            self.streams.position = end;
        }
        Ok(())
    }
}
