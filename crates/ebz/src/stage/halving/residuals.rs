//! Residuals of values and predictions, and their inverse.

use super::Halving;
use super::predict::Predictor;
use crate::element::Float;
use crate::element::real::Real;
use crate::element::word::Word;
use crate::error::Result;
use crate::fill::FillValues;
use crate::request::Dims;
use crate::simd::{Level, memory};
use crate::stage::dualquant::{
    Estimate, Fetch, Sink, for_each_unit, max_exception_bytes, scattered_place, units,
};
use crate::stage::exceptions::Exceptions;
use crate::stage::proof::Proof;
use crate::stage::quantize::{self, Quantizer};
use crate::stage::{Aligned, UNIT};
use crate::workspace::Context;

/// How a value is reconstructed from a prediction and a number of steps.
pub(crate) trait Steps<T>: Copy {
    /// For a step from [`Self::step_for`]; other steps give meaningless values.
    fn new(step: f64) -> Self;
    /// The step for a bound, if there is one.
    fn step_for(bound: f64) -> Option<f64>;
    /// The steps from a prediction to a value, plus the rounder; the decoded value; and whether the
    /// decoder can reconstruct it.
    fn forward(&self, value: T, prediction: T) -> (T, T, bool);
    /// Reconstructs a value.
    fn inverse(&self, prediction: T, residual: T) -> T;
    /// The value to store for an exception.
    fn exact(value: T, bound: f64) -> T;
}

/// Steps relative to the prediction: most residuals of smooth fields are zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Free<T> {
    step: T,
    inverse: T,
}

/// Steps on the lattice of the bound (see [`crate::stage::quantize`]), to which values and predictions
/// are rounded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fixed<T> {
    step: T,
    inverse: T,
}

/// Largest magnitude of a residual and of a lattice point.
const MAX_STEPS: f64 = 32766.0;

impl<T: Float> Steps<T> for Free<T> {
    fn new(step: f64) -> Self {
        Self {
            step: T::from_f64(step),
            inverse: T::from_f64(1.0 / step),
        }
    }

    fn step_for(bound: f64) -> Option<f64> {
        let step = <T as Real>::round_down(2.0 * bound).to_f64();
        quantize::normal::<T>(step).then_some(step)
    }

    #[inline(always)]
    fn forward(&self, value: T, prediction: T) -> (T, T, bool) {
        let difference = Real::sub(value, prediction);
        let rounded = Real::add(Real::mul(difference, self.inverse), <T as Real>::ROUNDER);
        let residual = Real::sub(rounded, <T as Real>::ROUNDER);
        (rounded, self.inverse(prediction, residual), true)
    }

    #[inline(always)]
    fn inverse(&self, prediction: T, residual: T) -> T {
        Real::add(prediction, Real::mul(residual, self.step))
    }

    fn exact(value: T, _bound: f64) -> T {
        value
    }
}

impl<T: Float> Fixed<T> {
    /// The nearest lattice point.
    #[inline(always)]
    fn point(&self, value: T) -> T {
        let rounded = Real::add(Real::mul(value, self.inverse), <T as Real>::ROUNDER);
        Real::sub(rounded, <T as Real>::ROUNDER)
    }
}

impl<T: Float> Steps<T> for Fixed<T> {
    fn new(step: f64) -> Self {
        Self {
            step: T::from_f64(step),
            inverse: quantize::inverse(step),
        }
    }

    fn step_for(bound: f64) -> Option<f64> {
        quantize::step::<T>(bound).filter(|&step| quantize::normal::<T>(step))
    }

    #[inline(always)]
    fn forward(&self, value: T, prediction: T) -> (T, T, bool) {
        let (from, to) = (self.point(prediction), self.point(value));
        let residual = Real::sub(to, from);
        let good = (Real::add(from, residual) == to) & (Real::abs(to) <= T::from_f64(MAX_STEPS));
        let rounded = Real::add(residual, <T as Real>::ROUNDER);
        (rounded, Real::mul(to, self.step), good)
    }

    #[inline(always)]
    fn inverse(&self, prediction: T, residual: T) -> T {
        Real::mul(Real::add(self.point(prediction), residual), self.step)
    }

    fn exact(value: T, bound: f64) -> T {
        match quantize::step::<T>(bound) {
            Some(step) => {
                Quantizer::<T, f64>::new(step, 0, T::FARTHEST, bound, &FillValues::NONE).snap(value)
            }
            None => value,
        }
    }
}

/// Quantizes residuals, with every value checked against the bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice<T, S> {
    steps: S,
    step: f64,
    bound: f64,
    proof: Proof<T>,
}

impl<T: Float, S: Steps<T>> Lattice<T, S> {
    /// The lattice for a bound; `None` if the bound is too small or too large.
    pub fn new(bound: f64) -> Option<Self> {
        let step = S::step_for(bound)?;
        let proof = Proof::<T>::new(bound);
        (proof.limit().to_f64() > 0.0).then(|| Self {
            steps: S::new(step),
            step,
            bound,
            proof,
        })
    }

    /// The step, which is all that the decoder needs.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The residual of a value, and whether it may be used.
    #[inline(always)]
    fn residual(&self, value: T, prediction: T) -> (u16, bool) {
        let (rounded, decoded, good) = self.steps.forward(value, prediction);
        let residual = Real::sub(rounded, <T as Real>::ROUNDER);
        let near = self.proof.holds(value, decoded);
        let small = Real::abs(residual) <= T::from_f64(MAX_STEPS);
        (
            <u16 as Word>::truncate(rounded.to_word()).zigzag(),
            near & small & good,
        )
    }

    /// Computes the residuals of a unit; false if at least one value is an exception.
    #[inline(always)]
    fn residuals(&self, values: &[T; UNIT], near: &[T; UNIT], out: &mut [u16; UNIT]) -> bool {
        // As wide as the elements, so that both use the same number of vector lanes.
        let mut bad = T::Order::default();
        for ((out, &value), &prediction) in out.iter_mut().zip(values).zip(near) {
            let (residual, good) = self.residual(value, prediction);
            *out = residual;
            bad = bad.or(T::Order::truncate(u64::from(!good)));
        }
        bad == T::Order::default()
    }

    /// Finds the exceptions of a unit and clears their residuals.
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

/// Sends the residuals of a chunk to `sink`; false if there are too many exceptions.
pub(crate) fn forward<T: Float, R: Steps<T>, S: Sink>(
    values: &[T],
    halving: Halving,
    lattice: &Lattice<T, R>,
    coarse: &[T],
    level: Level,
    exceptions: &mut Exceptions,
    sink: &mut S,
) -> bool {
    let most = max_exception_bytes(size_of_val(values));
    let mut predictor = Predictor::new(halving, coarse);
    sink.restart::<u16>(units(values.len()));
    exceptions.clear();
    level.run(
        #[inline(always)]
        || {
            let mut residuals = Aligned::<u16>::default();
            for_each_unit(
                values,
                #[inline(always)]
                |index, unit, valid| {
                    memory::prefetch(unit, quantize::PREFETCH_BYTES);
                    let near = predictor.unit();
                    if !lattice.residuals(unit, near, &mut residuals.0) {
                        let excepted = lattice.except(unit, near, valid, &mut residuals.0);
                        if excepted.contains(&true) {
                            let stored = |x| R::exact(x, lattice.bound);
                            exceptions.push_unit(index, unit, &excepted, stored);
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

/// Decodes residuals into `out`; the caller restores exceptions.
pub(crate) fn inverse<T: Float, R: Steps<T>, S: Fetch>(
    halving: Halving,
    steps: R,
    coarse: &[T],
    context: &Context,
    source: &mut S,
    out: &mut [T],
) -> Result<()> {
    let mut predictor = Predictor::new(halving, coarse);
    let streaming = context.streaming;
    let done = context.simd().run(
        #[inline(always)]
        || {
            let (units, rest) = out.as_chunks_mut::<UNIT>();
            for unit in units {
                if streaming {
                    let mut decoded = Aligned::<T>::default();
                    restore_unit(&mut predictor, source, steps, &mut decoded.0)?;
                    memory::copy_streaming(&decoded.0, unit);
                } else {
                    restore_unit(&mut predictor, source, steps, unit)?;
                }
            }
            if !rest.is_empty() {
                let mut decoded = Aligned::<T>::default();
                restore_unit(&mut predictor, source, steps, &mut decoded.0)?;
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

/// Decodes the next unit.
#[inline(always)]
fn restore_unit<T: Float, R: Steps<T>, S: Fetch>(
    predictor: &mut Predictor<'_, T>,
    source: &mut S,
    steps: R,
    out: &mut [T; UNIT],
) -> Result<()> {
    let mut residuals = Aligned::<u16>::default();
    source.unit(&mut residuals.0)?;
    let near = predictor.unit();
    for ((out, &residual), &near) in out.iter_mut().zip(&residuals.0).zip(near) {
        let residual = <T as Real>::from_i64(residual.unzigzag().signed());
        *out = steps.inverse(near, residual);
    }
    Ok(())
}

/// Estimated cost per unit, from a sample of units.
pub(crate) fn sampled_cost<T: Float, R: Steps<T>, E: Estimate>(
    values: &[T],
    halving: Halving,
    lattice: &Lattice<T, R>,
    coarse: &[T],
    level: Level,
) -> u64 {
    let Dims { nz, ny, nx } = halving.dims;
    let mut estimate = E::default();
    let mut predictor = Predictor::new(halving, coarse);
    // Four times as many as usual: small samples would miss rare features.
    let count = E::samples(4 * units(values.len()));
    for i in 0..count {
        let at = scattered_place(values.len(), count, i);
        // Sample even and odd positions along z and y equally often.
        let (z, y, x) = (at / (nx * ny), at / nx % ny, at % nx);
        let parity = |at: usize, odd: usize, n: usize| (at & !1 | odd & 1).min(n - 1);
        let at = (parity(z, i, nz) * ny + parity(y, i >> 1, ny)) * nx + x;
        let Some(unit) = values[at..].first_chunk() else {
            continue;
        };
        let mut residuals = [0; UNIT];
        level.run(
            #[inline(always)]
            || lattice.residuals(unit, predictor.unit_at(at), &mut residuals),
        );
        estimate.add(level, &residuals);
    }
    estimate.cost() / count as u64
}
