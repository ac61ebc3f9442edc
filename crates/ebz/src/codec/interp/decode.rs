//! Bytes to values. [`super::encode`] mirrors the steps.

use super::context::Contexts;
use super::geometry::{Extents, Pyramid};
use super::lorenzo::History;
use super::plan::{Mode, Plan};
use super::predict::Predictor;
use super::quantize::{Buffers, Prediction, Row};
use super::real::Real;
use super::rearrange::{join_chunk, join_level};
use super::stream::StreamReader;
use super::walk::{
    ClassJob, Coder, Fields, MIN_VALUES_TO_CHOOSE_PREDICTOR, Pass, Scratch, part, passes,
};
use super::{residual, rows};
use crate::codec::Dims;
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// Memory of a decoder.
#[derive(Default)]
pub(super) struct Memory<T> {
    /// The chunk with its axes in another order.
    arranged: Vec<T>,
    fields: Fields<T>,
    scratch: Scratch<T>,
    lorenzo: History,
    residuals: residual::Memory,
}

/// Fills `out` from a coded chunk, past the caches if they are not to be filled.
pub(super) fn decode<T: Real>(
    isa: Isa,
    mut bytes: &[u8],
    dims: Dims,
    memory: &mut Memory<T>,
    streaming: bool,
    out: &mut [T],
) -> Result<()> {
    let (plan, bound) = Plan::read_from(&mut bytes)?;
    let (extents, strides) = plan.arrange(dims);
    let count = u32::try_from(out.len()).map_err(|_| Error::unsupported("chunk too large"))?;
    let Memory {
        arranged,
        fields,
        scratch,
        lorenzo,
        residuals,
    } = memory;
    let mut streams = StreamReader::new(isa, bytes, count, residuals)?;
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
    // 1. Put the classes together.
    if plan.mode == Mode::Packet {
        // In isotropic mode the walk has joined all but the finest level.
        for level in (1..pyramid.levels.len()).rev() {
            join_level(isa, &pyramid, level, &mut fields.values, |_, _| {});
        }
    }
    let place = |strides: Extents| move |z, y| z * strides[0] + y * strides[1];
    if strides[2] == 1 {
        let place = place(strides);
        join_chunk(isa, &pyramid, &fields.values, place, out, streaming);
    } else {
        let in_order = rows::in_order(extents);
        arranged.resize(out.len(), T::default());
        let place = place(in_order);
        join_chunk(isa, &pyramid, &fields.values, place, arranged, false);
        rows::scatter(arranged, extents, strides, out);
    }
    for (at, value) in exact {
        out[at] = value;
    }
    Ok(())
}

struct RowDecoder<'a, 'b, T> {
    isa: Isa,
    streams: &'a mut StreamReader<'b>,
    strides: Extents,
    /// Values that replace their reconstruction at the very end.
    exact: Vec<(usize, T)>,
}

impl<T: Real> Coder<T> for RowDecoder<'_, '_, T> {
    fn predictor(&mut self, job: &ClassJob<'_, T>, _: &Fields<T>) -> Result<Predictor> {
        if job.block.len() < MIN_VALUES_TO_CHOOSE_PREDICTOR {
            return Ok(Predictor::fallback(job.class));
        }
        let code = self.streams.predictors.get(Predictor::CODE_BITS);
        Ok(Predictor::from_code(code, job.class))
    }

    #[inline(always)]
    fn row(
        &mut self,
        job: &ClassJob<'_, T>,
        at: (usize, usize),
        prediction: &Prediction<T>,
        buffers: &mut Buffers<'_, T>,
        contexts: &Contexts,
        row: &mut Row<T>,
    ) -> Result<()> {
        let streams = &mut *self.streams;
        // 2. Residuals.
        streams
            .residuals
            .pull(self.isa, contexts, &mut row.residuals)?;
        // 1. Reconstruct; escapes are exact.
        prediction.dequantize(self.isa, job.step.size, buffers, &row.residuals);
        let end = streams.position + prediction.count as u32;
        while streams.escapes.any_before(end) {
            let (position, escape) = streams.escapes.next::<T>()?;
            let i = position
                .checked_sub(streams.position)
                .ok_or_else(|| Error::corrupt("escapes out of order"))?
                as usize;
            prediction.escape(i, escape, buffers);
            if escape.absent {
                let (mut place, apart) = job.origin(at);
                place[2] += i * apart;
                let at: usize = place.iter().zip(&self.strides).map(|(a, s)| a * s).sum();
                self.exact.push((at, escape.value));
            }
        }
        streams.position = end;
        Ok(())
    }
}
