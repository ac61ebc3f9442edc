//! Residual units to values.

use super::{Fetch, Mode, Plan};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::Result;
use crate::request::Dims;
use crate::simd::memory;
use crate::stage::lags::{Differences, Lags, Numbers};
use crate::stage::quantize::{self, Quantizer};
use crate::stage::relative::Lattice;
use crate::stage::{Aligned, UNIT, exceptions, ordered};
use crate::workspace::Context;

/// Converts residual units and the side list back to values.
pub(crate) fn inverse<T: Float, S: Fetch>(
    plan: &Plan,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    list: &[u8],
    out: &mut [T],
) -> Result<()> {
    let level = context.simd();
    match plan.mode {
        Mode::Narrow => {
            if let Some(done) = source.fused(plan, dims, context, out) {
                done?;
                return exceptions::restore(list, out);
            }
            let lattice = (plan.step, plan.base);
            let values = |q: &[u16; UNIT], values: &mut [T; UNIT], streaming: bool| {
                quantize::narrow_values(level, lattice, q, values, streaming);
            };
            restore_units(plan.lags, dims, context, source, out, values)?;
        }
        Mode::Wide => {
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| {
                Quantizer::<T, f64>::inverse(plan.step, plan.base, q, values);
            };
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::NarrowRelative => {
            let lattice = Lattice::<T>::new(plan.step, plan.base);
            let values = |q: &[u16; UNIT], values: &mut [T; UNIT]| lattice.inverse(q, values);
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::WideRelative => {
            let lattice = Lattice::<T>::new(plan.step, plan.base);
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| lattice.inverse(q, values);
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::FineRelative => {
            let lattice = Lattice::<f64>::new(plan.step, plan.base);
            let values = |q: &[u32; UNIT], values: &mut [T; UNIT]| lattice.inverse(q, values);
            restore(plan.lags, dims, context, source, out, values)?;
        }
        Mode::Exact => {
            restore(
                plan.lags,
                dims,
                context,
                source,
                out,
                ordered::inverse::<T, T::Order>,
            )?;
        }
    }
    exceptions::restore(list, out)
}

/// Decodes all units; `values` converts the integers of a unit to values.
fn restore<T: Float, W: Word, S: Fetch>(
    lags: Lags,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    out: &mut [T],
    values: impl Fn(&[W; UNIT], &mut [T; UNIT]),
) -> Result<()> {
    let level = context.simd();
    restore_units(
        lags,
        dims,
        context,
        source,
        out,
        #[inline(always)]
        |numbers: &[W; UNIT], unit: &mut [T; UNIT], streaming| {
            quantize::streamed(
                level,
                unit,
                streaming,
                #[inline(always)]
                |unit| values(numbers, unit),
            );
        },
    )
}

/// Like [`restore`], but `values` does non-temporal stores itself; its last argument requests them.
fn restore_units<T: Float, W: Word, S: Fetch>(
    lags: Lags,
    dims: Dims,
    context: &mut Context,
    source: &mut S,
    out: &mut [T],
    values: impl Fn(&[W; UNIT], &mut [T; UNIT], bool),
) -> Result<()> {
    let (level, streaming) = (context.simd(), context.streaming);
    let mut differences = context.take::<Differences<W>>();
    differences.start(lags, dims);
    let done = level.run(
        #[inline(always)]
        || {
            let mut residuals = Aligned::<W>::default();
            let mut numbers = Numbers::<W>::default();
            let (units, rest) = out.as_chunks_mut::<UNIT>();
            for unit in units {
                source.unit(&mut residuals.0)?;
                differences.inverse(level, &mut residuals.0, &mut numbers);
                values(numbers.unit(), unit, streaming);
            }
            if !rest.is_empty() {
                let mut decoded = Aligned::<T>::default();
                source.unit(&mut residuals.0)?;
                differences.inverse(level, &mut residuals.0, &mut numbers);
                values(numbers.unit(), &mut decoded.0, false);
                rest.copy_from_slice(&decoded.0[..rest.len()]);
            }
            Ok(())
        },
    );
    if streaming {
        memory::end_streaming();
    }
    context.put_back(differences);
    done
}
