//! Values to residuals from predictions, and back.

use super::Halving;
use super::predict::Predictor;
use crate::element::Element;
use crate::error::Result;
use crate::request::Dims;
use crate::simd::{Level, memory};
use crate::stage::dualquant::{Estimate, Fetch, Sink, for_each_unit, scattered_place};
use crate::stage::exceptions::Exceptions;
use crate::stage::quantize::Real;
use crate::stage::word::Word;
use crate::stage::{Aligned, UNIT};
use crate::workspace::Context;

/// Residuals are multiples of a step, each checked against the bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice<T> {
    step: T,
    /// 1 / step.
    inverse: T,
    /// Largest |x′ − x| that counts as within the bound.
    limit: T,
}

/// Largest magnitude of a residual.
const MOST: f64 = 32766.0;

impl<T: Element> Lattice<T> {
    /// A lattice for a bound; `None` if the bound is too small or too large for one.
    ///
    /// Why the check is exact, although x′ − x is rounded: rounding is monotone, so that a
    /// difference above the bound never rounds below the bound rounded down, and the limit is
    /// smaller than that.
    pub fn new(bound: f64) -> Option<Self> {
        let step = <T as Real>::round_down(2.0 * bound);
        let inverse = <T as Real>::of(1.0 / step.value());
        let limit = <T as Real>::round_down(<T as Real>::round_down(bound).value().next_down());
        let usable = [step, inverse, limit]
            .iter()
            .all(|number| number.value() > 0.0 && number.value().is_finite());
        (bound.is_finite() && usable).then_some(Self {
            step,
            inverse,
            limit,
        })
    }

    /// Distance of two residuals: all that the decoder needs.
    pub fn step(&self) -> f64 {
        self.step.value()
    }

    /// The residual of a value, and whether it is usable.
    #[inline(always)]
    fn residual(&self, value: T, prediction: T) -> (u16, bool) {
        let difference = Real::sub(value, prediction);
        let rounded = Real::add(Real::mul(difference, self.inverse), <T as Real>::ROUNDER);
        let residual = Real::sub(rounded, <T as Real>::ROUNDER);
        let decoded = Real::add(prediction, Real::mul(residual, self.step));
        // NaN and infinities fail both comparisons.
        let near = Real::abs(Real::sub(decoded, value)) <= self.limit;
        let small = Real::abs(residual) <= <T as Real>::of(MOST);
        (u16::truncate(rounded.bits()).zigzag(), near & small)
    }

    /// The residuals of a unit; false if one of them is not usable.
    #[inline(always)]
    fn residuals(&self, values: &[T; UNIT], near: &[T; UNIT], out: &mut [u16; UNIT]) -> bool {
        // As wide as the elements, so that vectors of it go with theirs.
        let mut bad = T::Order::default();
        for ((out, &value), &prediction) in out.iter_mut().zip(values).zip(near) {
            let (residual, good) = self.residual(value, prediction);
            *out = residual;
            bad = bad.or(T::Order::truncate(u64::from(!good)));
        }
        bad == T::Order::default()
    }

    /// Names the values of a unit whose residuals are not usable, and clears these.
    #[cold]
    fn except(
        &self,
        values: &[T; UNIT],
        near: &[T; UNIT],
        valid: usize,
        residuals: &mut [u16; UNIT],
    ) -> [bool; UNIT] {
        std::array::from_fn(|i| {
            let bad = !self.residual(values[i], near[i]).1;
            if bad {
                residuals[i] = 0;
            }
            bad && i < valid
        })
    }
}

/// Gives the residuals of values to `sink`, and exact values to `exceptions`; false if there are
/// too many of these.
pub(crate) fn forward<T: Element, S: Sink>(
    values: &[T],
    halving: Halving,
    lattice: &Lattice<T>,
    coarse: &[T],
    level: Level,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> bool {
    let most = size_of_val(values) / 16;
    let mut predictor = Predictor::new(halving, coarse);
    sink.restart();
    exceptions.clear();
    level.run(
        #[inline(always)]
        || {
            let mut residuals = Aligned::<u16>::default();
            for_each_unit(
                values,
                #[inline(always)]
                |number, unit, valid| {
                    let near = predictor.unit();
                    if !lattice.residuals(unit, near, &mut residuals.0) {
                        let excepted = lattice.except(unit, near, valid, &mut residuals.0);
                        if excepted.contains(&true) {
                            exceptions.push_unit(number, unit, &excepted);
                        }
                        if exceptions.bytes() > most {
                            return false;
                        }
                    }
                    residuals.0[valid..].fill(0);
                    sink.unit(&residuals.0);
                    true
                },
            )
        },
    )
}

/// Fills `out` from residuals; exceptions are left to the caller.
pub(crate) fn inverse<T: Element, S: Fetch>(
    halving: Halving,
    step: f64,
    coarse: &[T],
    context: &Context,
    source: &mut S,
    out: &mut [T],
) -> Result<()> {
    let mut predictor = Predictor::new(halving, coarse);
    let (step, streaming) = (<T as Real>::of(step), context.streaming);
    let done = context.simd().run(
        #[inline(always)]
        || {
            let (units, rest) = out.as_chunks_mut::<UNIT>();
            for unit in units {
                if streaming {
                    let mut decoded = Aligned::<T>::default();
                    restore_unit(&mut predictor, source, step, &mut decoded.0)?;
                    memory::copy_streaming(&decoded.0, unit);
                } else {
                    restore_unit(&mut predictor, source, step, unit)?;
                }
            }
            if !rest.is_empty() {
                let mut decoded = Aligned::<T>::default();
                restore_unit(&mut predictor, source, step, &mut decoded.0)?;
                rest.copy_from_slice(&decoded.0[..rest.len()]);
            }
            Ok(())
        },
    );
    if streaming {
        memory::end_streaming();
    }
    done
}

/// Fills the next unit.
#[inline(always)]
fn restore_unit<T: Element, S: Fetch>(
    predictor: &mut Predictor<'_, T>,
    source: &mut S,
    step: T,
    out: &mut [T; UNIT],
) -> Result<()> {
    let mut residuals = Aligned::<u16>::default();
    source.unit(&mut residuals.0)?;
    let near = predictor.unit();
    for ((out, &residual), &near) in out.iter_mut().zip(&residuals.0).zip(near) {
        let residual = <T as Real>::from_i64(residual.unzigzag().signed());
        *out = Real::add(near, Real::mul(residual, step));
    }
    Ok(())
}

/// What a unit of residuals costs, from some of them.
pub(crate) fn sampled_cost<T: Element, E: Estimate>(
    values: &[T],
    halving: Halving,
    lattice: &Lattice<T>,
    coarse: &[T],
    level: Level,
) -> u64 {
    let Dims { nz, ny, nx } = halving.dims;
    let mut estimate = E::default();
    let mut predictor = Predictor::new(halving, coarse);
    // In small chunks more of them, because few would miss what is rare.
    let count = E::samples(4 * values.len().div_ceil(UNIT));
    for i in 0..count {
        let place = scattered_place(values.len(), count, i);
        // As many with odd places along each axis as with even ones.
        let (z, y, x) = (place / (nx * ny), place / nx % ny, place % nx);
        let parity = |at: usize, odd: usize, n: usize| (at & !1 | odd & 1).min(n - 1);
        let place = (parity(z, i, nz) * ny + parity(y, i >> 1, ny)) * nx + x;
        let Some(unit) = values[place..].first_chunk() else {
            continue;
        };
        let mut residuals = [0; UNIT];
        level.run(
            #[inline(always)]
            || lattice.residuals(unit, predictor.unit_at(place), &mut residuals),
        );
        estimate.add(level, &residuals);
    }
    estimate.cost() / count as u64
}
