//! Quantization with a checked bound: k = round(x / step), x′ = k · step.
//!
//! The lattice depends only on the bound. Its origin is 0; a chunk far from 0 subtracts an integer,
//! its base, from all coordinates. A lattice point decodes to the same bits in every chunk, width and
//! arithmetic: its product with the step is exact, or rounded once. So decompressed data is already
//! on the lattice, and compressing it again does not change it.
//!
//! Adding 1.5 · 2^(mantissa bits) rounds: the sum has no fraction bits left, and its low bits are k
//! in two's complement. Fused multiply-add must not be used.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use super::proof::Proof;
use super::{Aligned, UNIT};
use crate::element::Float;
use crate::element::real::{Real, Via};
use crate::element::word::Word;
use crate::fill::{FillValues, TypedFill};
use crate::simd::{Level, memory};

/// Prefetch distance. Measured; the optimum is flat.
pub(super) const PREFETCH_BYTES: usize = 4096;

/// The step of the lattice for a bound and elements `T`: twice the bound, rounded down to few
/// significant bits; `None` if it or its reciprocal would be subnormal or infinite.
pub(crate) fn step<T: Real>(bound: f64) -> Option<f64> {
    let dropped = f64::MANTISSA_DIGITS - T::STEP_BITS;
    let step = f64::from_bits((2.0 * bound).to_bits() >> dropped << dropped);
    normal::<f64>(step).then_some(step)
}

/// Whether a step and its reciprocal are normal numbers in the arithmetic `F`.
pub(crate) fn normal<F: Real>(step: f64) -> bool {
    (F::LEAST..=1.0 / F::LEAST).contains(&step)
}

/// Quantization of a chunk, with every value checked against the bound.
pub(crate) trait Scale<T> {
    /// The parameters of the decoder.
    fn step(&self) -> f64;
    fn base(&self) -> f64;
    /// Quantizes a unit; false if at least one value cannot be quantized.
    fn forward<W: Word>(&self, values: &[T; UNIT], q: &mut [W; UNIT]) -> bool;
    /// The same; also updates the range of all points so far where that is free, and prefetches.
    #[inline(always)]
    fn forward_with_range<W: Word>(
        &self,
        level: Level,
        values: &[T; UNIT],
        q: &mut [W; UNIT],
        range: &mut PointRange,
    ) -> bool {
        let _ = level;
        *range = PointRange::UNKNOWN;
        memory::prefetch(values, PREFETCH_BYTES);
        self.forward(values, q)
    }
    /// Which values of a unit can be quantized.
    fn accepted<W: Word>(&self, values: &[T; UNIT]) -> [bool; UNIT];
    /// The quantizer for 16-bit coordinates in the arithmetic of the values, if it needs neither base nor fill values.
    fn plain(&self) -> Option<Plain<T>>
    where
        T: Real,
    {
        None
    }
}

/// The smallest and the largest lattice point so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PointRange {
    pub min: f64,
    pub max: f64,
}

impl PointRange {
    pub const EMPTY: Self = Self {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
    };
    pub const UNKNOWN: Self = Self {
        min: f64::NEG_INFINITY,
        max: f64::INFINITY,
    };

    /// Intervals that contain the smallest and the largest value, if known.
    pub fn values(self, step: f64) -> Option<[(f64, f64); 2]> {
        let around = |point: f64| ((point - 1.0) * step, (point + 1.0) * step);
        let known = self.min.is_finite() && self.max.is_finite();
        known.then(|| [around(self.min), around(self.max)])
    }

    /// The range for the bits of the smallest and the largest sum with the rounder.
    #[inline(always)]
    pub fn of_sums<T: Real>(min: T::Order, max: T::Order) -> Self {
        let point = |bits: T::Order| T::from_word(bits.unsigned()).to_f64() - T::ROUNDER.to_f64();
        Self {
            min: point(min),
            max: point(max),
        }
    }

    /// Extends the range.
    #[inline(always)]
    pub fn join(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Fills `q` with the coordinates that `one` returns; false if it rejects a value.
#[inline(always)]
pub(super) fn quantize_unit<T: Float, W: Word>(
    values: &[T; UNIT],
    q: &mut [W; UNIT],
    one: impl Fn(T) -> (W, bool),
) -> bool {
    // As wide as the elements, so that both use the same number of vector lanes.
    let mut bad = T::Order::default();
    for (q, &x) in q.iter_mut().zip(values) {
        let (coordinate, good) = one(x);
        *q = coordinate;
        bad = bad.or(T::Order::truncate(u64::from(!good)));
    }
    bad == T::Order::default()
}

/// Which values of a unit pass a test.
#[inline(always)]
pub(super) fn accepted<T: Float>(values: &[T; UNIT], passes: impl Fn(T) -> bool) -> [bool; UNIT] {
    let mut good = [false; UNIT];
    for (good, &x) in good.iter_mut().zip(values) {
        *good = passes(x);
    }
    good
}

/// Quantizer of a chunk, for elements `T` with arithmetic `F`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantizer<T, F> {
    /// Spacing of lattice points.
    step: F,
    /// 1 / step, rounded towards 0.
    inverse: F,
    proof: Proof<T>,
    /// The lattice point of q = 0: q = k − base.
    base: F,
    base_bits: u64,
    /// Largest |q|.
    most: F,
    /// Values that must not be quantized.
    fill: TypedFill<T>,
    work: Work,
}

/// The work that a quantizer does per value, in order of increasing cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Neither base nor fill values.
    Plain,
    OneFill,
    ManyFills,
}

// Const parameters of `Quantizer::one`.
const PLAIN: u8 = Work::Plain as u8;
const ONE_FILL: u8 = Work::OneFill as u8;
const MANY_FILLS: u8 = Work::ManyFills as u8;

impl<T: Float + Via<F>, F: Real> Quantizer<T, F> {
    /// The lattice with the [`step`] of a bound, which is a normal number in `F`, for |q| up to
    /// `most`. |base| + most is at most [`Real::FARTHEST`] of `T`, and small enough to round in `F`.
    ///
    /// x′ − x is exact: for k = 0 it is −x; otherwise x and x′ are within a factor of 2 of each other,
    /// because `inverse` is rounded towards 0, so that k = ±1 implies |x| ≥ step / 2.
    ///
    /// x′ quantizes to itself: it differs from k · step by a rounding error, and so does its quotient;
    /// up to `FARTHEST` the sum of both is less than half a step.
    pub fn new(step: f64, base: i64, most: i64, bound: f64, fill: &FillValues) -> Self {
        // Values beyond the lattice have no coordinate, and nothing decodes to them.
        let fill = &fill.within(1.001 * step * (base.unsigned_abs() as f64 + most as f64 + 1.0));
        Self {
            step: F::from_f64(step),
            inverse: inverse(step),
            proof: Proof::of_exact_differences(bound),
            base: F::from_f64(base as f64),
            base_bits: base.cast_unsigned(),
            most: F::from_f64(most as f64),
            fill: fill.typed(T::from_f64),
            work: match fill.as_slice().len() {
                0 if base == 0 => Work::Plain,
                0 | 1 => Work::OneFill,
                _ => Work::ManyFills,
            },
        }
    }

    /// Lattice point of `x` (in the low bits), its value, and whether `x` may be quantized to it.
    #[inline(always)]
    fn point<const WORK: u8>(&self, x: T) -> (u64, T, bool) {
        let rounded = <T as Via<F>>::widen(x).mul(self.inverse).add(F::ROUNDER);
        let k = rounded.sub(F::ROUNDER);
        let q = match WORK {
            PLAIN => k,
            _ => k.sub(self.base),
        };
        let decoded = <T as Via<F>>::narrow(k.mul(self.step));
        let good = self.proof.holds(x, decoded) & (q.abs() <= self.most);
        // Fill values must not be quantized, nor may other values decode to one.
        let ordinary = match WORK {
            PLAIN => true,
            ONE_FILL => (x != self.fill.first()) & (decoded != self.fill.first()),
            _ => !self.fill.contains(x) & !self.fill.contains(decoded),
        };
        (rounded.to_word(), decoded, good & ordinary)
    }

    /// Coordinate of `x`, and whether it may be used.
    #[inline(always)]
    fn one<W: Word, const WORK: u8>(&self, x: T) -> (W, bool) {
        let (bits, _, good) = self.point::<WORK>(x);
        let bits = match WORK {
            PLAIN => bits,
            _ => bits.wrapping_sub(self.base_bits),
        };
        (W::truncate(bits), good)
    }

    /// `x` rounded to the lattice, or `x` itself if it cannot be quantized.
    #[inline(always)]
    pub fn snap(&self, x: T) -> T {
        let (_, decoded, good) = self.point::<MANY_FILLS>(x);
        if good { decoded } else { x }
    }

    /// Reconstructs a unit from its coordinates.
    #[inline(always)]
    pub fn inverse<W: Word>(step: F, base: F, q: &[W; UNIT], values: &mut [T; UNIT]) {
        if base.to_f64() == 0.0 {
            for (value, q) in values.iter_mut().zip(q) {
                *value = <T as Via<F>>::narrow(F::from_i64(q.signed()).mul(step));
            }
        } else {
            for (value, q) in values.iter_mut().zip(q) {
                *value = <T as Via<F>>::narrow(F::from_i64(q.signed()).add(base).mul(step));
            }
        }
    }
}

/// A quantizer in the arithmetic of the values without base and fill values, which needs fewer comparisons.
#[derive(Clone, Copy, Default)]
pub(crate) struct Plain<T: Real> {
    pub inverse: T,
    pub step: T,
    /// Limits of the statistics of a [`Unit`].
    pub min: T::Order,
    pub max: T::Order,
    pub error: T::Order,
}

/// Statistics that tell whether all values of a unit can be quantized. They are bit patterns, which
/// order positive numbers correctly, with NaN and negative numbers above them.
struct Unit {
    /// The smallest and the largest sum with the rounder, positive if the coordinate is in range.
    min: u32,
    max: u32,
    /// The largest |x′ − x|.
    error: u32,
}

impl<T: Real> Plain<T> {
    /// The same if it is in single precision.
    #[inline(always)]
    fn single(&self) -> Option<Plain<f32>> {
        let bits = |bits: T::Order| bits.unsigned() as u32;
        (size_of::<T>() == 4).then(|| Plain {
            inverse: self.inverse.to_f64() as f32,
            step: self.step.to_f64() as f32,
            min: bits(self.min),
            max: bits(self.max),
            error: bits(self.error),
        })
    }
}

impl Plain<f32> {
    pub const ROUNDER: f32 = <f32 as Real>::ROUNDER;

    /// Quantizes a unit.
    #[inline(always)]
    fn unit(&self, level: Level, values: &[f32; UNIT], q: &mut [u16; UNIT]) -> Unit {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(avx2) => avx2::unit(avx2, self, values, q),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(avx512) => avx512::unit(avx512, self, values, q),
            _ => self.unit_portable(values, q),
        }
    }

    /// Whether all values of a unit can be quantized.
    #[inline(always)]
    fn accepts(&self, unit: &Unit) -> bool {
        unit.error <= self.error && unit.min >= self.min && unit.max <= self.max
    }

    #[inline(always)]
    fn unit_portable(&self, values: &[f32; UNIT], q: &mut [u16; UNIT]) -> Unit {
        memory::prefetch(values, PREFETCH_BYTES);
        let (mut min, mut max, mut error) = (u32::MAX, 0, 0);
        for (q, &x) in q.iter_mut().zip(values) {
            let rounded = x * self.inverse + Self::ROUNDER;
            let decoded = (rounded - Self::ROUNDER) * self.step;
            min = min.min(rounded.to_bits());
            max = max.max(rounded.to_bits());
            error = error.max((decoded - x).abs().to_bits());
            *q = rounded.to_bits() as u16;
        }
        Unit { min, max, error }
    }
}

/// [`Quantizer::inverse`] for 16-bit coordinates in the arithmetic of the values, with non-temporal
/// stores if `streaming`.
#[inline(always)]
pub(crate) fn narrow_values<T: Float>(
    level: Level,
    (step, base): (f64, f64),
    q: &[u16; UNIT],
    values: &mut [T; UNIT],
    streaming: bool,
) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(avx2), Ok(values)) = (level.avx2(), bytemuck::try_cast_mut(&mut *values)) {
        return avx2::values(avx2, (step as f32, base as f32), q, values, streaming);
    }
    let (step, base) = (T::from_f64(step), T::from_f64(base));
    streamed(level, values, streaming, |values| {
        Quantizer::<T, T>::inverse(step, base, q, values);
    });
}

/// Fills a unit, with non-temporal stores if `streaming`.
#[inline(always)]
pub(crate) fn streamed<T: Float>(
    level: Level,
    values: &mut [T; UNIT],
    streaming: bool,
    fill: impl FnOnce(&mut [T; UNIT]),
) {
    if streaming {
        let mut buffer = Aligned::<T>::default();
        fill(&mut buffer.0);
        memory::stream(level, &buffer.0, values);
    } else {
        fill(values);
    }
}

/// 1 / step, rounded towards 0.
pub(crate) fn inverse<F: Real>(step: f64) -> F {
    F::round_down((1.0 / step).next_down())
}

impl<T: Float + Via<F>, F: Real> Scale<T> for Quantizer<T, F> {
    fn step(&self) -> f64 {
        self.step.to_f64()
    }

    fn base(&self) -> f64 {
        self.base.to_f64()
    }

    #[inline(always)]
    fn forward<W: Word>(&self, values: &[T; UNIT], q: &mut [W; UNIT]) -> bool {
        macro_rules! unit {
            ($work:ident) => {
                quantize_unit(
                    values,
                    q,
                    #[inline(always)]
                    |x| self.one::<W, $work>(x),
                )
            };
        }
        match self.work {
            Work::Plain => unit!(PLAIN),
            Work::OneFill => unit!(ONE_FILL),
            Work::ManyFills => unit!(MANY_FILLS),
        }
    }

    #[inline(always)]
    fn forward_with_range<W: Word>(
        &self,
        level: Level,
        values: &[T; UNIT],
        q: &mut [W; UNIT],
        range: &mut PointRange,
    ) -> bool {
        if let Some(plain) = self.plain().and_then(|plain| plain.single())
            && let (Ok(values), Ok(q)) = (
                bytemuck::try_cast_ref(values),
                bytemuck::try_cast_mut(&mut *q),
            )
        {
            let unit = plain.unit(level, values, q);
            range.join(PointRange::of_sums::<f32>(unit.min, unit.max));
            return plain.accepts(&unit);
        }
        *range = PointRange::UNKNOWN;
        memory::prefetch(values, PREFETCH_BYTES);
        self.forward(values, q)
    }

    #[inline(always)]
    fn accepted<W: Word>(&self, values: &[T; UNIT]) -> [bool; UNIT] {
        macro_rules! unit {
            ($work:ident) => {
                accepted(
                    values,
                    #[inline(always)]
                    |x| self.one::<W, $work>(x).1,
                )
            };
        }
        match self.work {
            Work::Plain => unit!(PLAIN),
            Work::OneFill => unit!(ONE_FILL),
            Work::ManyFills => unit!(MANY_FILLS),
        }
    }

    #[inline(always)]
    fn plain(&self) -> Option<Plain<T>> {
        if self.work != Work::Plain || size_of::<T>() != size_of::<F>() {
            return None;
        }
        let bits = |word: u64| T::Order::truncate(word);
        Some(Plain {
            inverse: T::from_f64(self.inverse.to_f64()),
            step: T::from_f64(self.step.to_f64()),
            min: bits(F::ROUNDER.sub(self.most).to_word()),
            max: bits(F::ROUNDER.add(self.most).to_word()),
            error: bits(self.proof.limit().to_word()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lattice points near 0, near the largest coordinates, and near the end of the lattice.
    fn points<T: Float>() -> impl Iterator<Item = i64> {
        let centres = [
            0,
            1 << 10,
            1 << 15,
            1 << 20,
            T::FARTHEST / 3,
            T::FARTHEST - 40,
        ];
        centres
            .into_iter()
            .flat_map(|c| (c..=c + 40).flat_map(|k| [k, -k]))
    }

    fn points_decode_identically<T: Float>(bounds: &[f64]) {
        for &bound in bounds {
            let step = step::<T>(bound).unwrap();
            assert!(step <= 2.0 * bound && step > 1.99 * bound);
            let whole = Quantizer::<T, f64>::new(step, 0, T::FARTHEST, bound, &FillValues::NONE);
            for k in points::<T>() {
                let value = T::from_f64(k as f64 * step);
                if !value.is_finite() {
                    continue;
                }
                assert_eq!(whole.snap(value).to_word(), value.to_word(), "{bound} {k}");
                // The decoders of 16-bit coordinates with a base, and of 32-bit ones.
                let base = k - k % 30_000;
                let mut out = [T::default(); UNIT];
                let q = [u16::truncate((k - base).cast_unsigned()); UNIT];
                if normal::<T>(step) {
                    let (step, base) = (T::from_f64(step), T::from_f64(base as f64));
                    Quantizer::<T, T>::inverse(step, base, &q, &mut out);
                    assert_eq!(out[0].to_word(), value.to_word(), "{bound} {k}");
                }
                let q = [u32::truncate((k - base).cast_unsigned()); UNIT];
                Quantizer::<T, f64>::inverse(step, base as f64, &q, &mut out);
                assert_eq!(out[0].to_word(), value.to_word(), "{bound} {k}");
            }
        }
    }

    #[test]
    fn lattice_points_decode_identically_in_every_mode() {
        let bounds = [1.0, 0.1, 0.01, 1.0 / 3.0, 0.999, 1e-30, 3e-45, 7e36];
        points_decode_identically::<f32>(&bounds);
        points_decode_identically::<f64>(&bounds);
        points_decode_identically::<f64>(&[1e-300, 1e290]);
    }

    /// Units of random bits, and of values around the largest coordinates: the fast path for single
    /// precision agrees with the definition for one value.
    #[test]
    fn plain_units_match_the_definition() {
        let mut state = 5u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 32) as u32
        };
        for bound in [1e-3, 0.7, 1e-30, 3e30] {
            let step = step::<f32>(bound).unwrap();
            let most = 32766;
            let lattice = Quantizer::<f32, f32>::new(step, 0, most, bound, &FillValues::NONE);
            for round in 0..3000 {
                let wild = random() % 3 == 0;
                let reach = if round % 2 == 0 { 100.0 } else { 1.0 };
                let values: [f32; UNIT] = std::array::from_fn(|i| match random() {
                    r if wild && r % 64 == 0 => f32::from_bits(random()),
                    r if wild && i == 7 => {
                        [f32::NAN, -f32::NAN, f32::INFINITY, -0.0][r as usize % 4]
                    }
                    r => {
                        let point = f64::from(r) / 2f64.powi(31) - 1.0;
                        (point * (most as f64 + 1.0) / reach * step) as f32
                    }
                });
                let expected = values.map(|x| lattice.one::<u16, MANY_FILLS>(x));
                for level in Level::available() {
                    let (mut q, mut range) = ([0u16; UNIT], PointRange::EMPTY);
                    let good = lattice.forward_with_range(level, &values, &mut q, &mut range);
                    assert_eq!(good, expected.iter().all(|(_, good)| *good), "{values:?}");
                    for ((q, (expected, good)), x) in q.iter().zip(expected).zip(values) {
                        assert!(q == &expected || !good, "{x}");
                    }
                    if good {
                        let points = q.map(|q| f64::from(q.cast_signed()));
                        let min = points.into_iter().fold(f64::INFINITY, f64::min);
                        let max = points.into_iter().fold(f64::NEG_INFINITY, f64::max);
                        assert_eq!(range, PointRange { min, max });
                    }
                }
            }
        }
    }

    fn narrow_values_match_the_definition<T: Float>() {
        let step = step::<T>(0.013).unwrap();
        let q: [u16; UNIT] = std::array::from_fn(|i| (i * 257 + i / 3) as u16);
        for (base, streaming) in [
            (0.0, false),
            (0.0, true),
            (70_000.0, false),
            (70_000.0, true),
        ] {
            let mut expected = [T::default(); UNIT];
            let lattice = (T::from_f64(step), T::from_f64(base));
            Quantizer::<T, T>::inverse(lattice.0, lattice.1, &q, &mut expected);
            let mut memory = [T::default(); UNIT + 16];
            for offset in 0..16 {
                for level in Level::available() {
                    let values = memory[offset..].first_chunk_mut().unwrap();
                    narrow_values(level, (step, base), &q, values, streaming);
                    memory::end_streaming();
                    assert_eq!(*values, expected, "{base} {offset} {level:?}");
                }
            }
        }
    }

    #[test]
    fn narrow_values_match_at_every_level_and_alignment() {
        narrow_values_match_the_definition::<f32>();
        narrow_values_match_the_definition::<f64>();
    }

    #[test]
    fn extreme_bounds_have_no_lattice() {
        assert_eq!(step::<f64>(1e-310), None);
        assert_eq!(step::<f64>(f64::MAX), None);
        assert!(!normal::<f32>(1e-40));
    }
}
