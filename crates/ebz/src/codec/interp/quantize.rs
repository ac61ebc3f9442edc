//! Quantization of one row against its prediction, and back.

use super::escape::Escape;
use super::kernel::{Kernel, launch};
use super::pack::{Neighbours, Pack, Taps, WIDTH, each, in_groups, in_groups_mut, predict, zip};
use super::real::{LARGEST, Real, Step};
use crate::simd::Level as Isa;

/// What a row is predicted from.
#[derive(Clone, Copy)]
pub(super) struct Prediction<'a, T> {
    /// Interpolations to add up, in `source`; the first `axis_count` count.
    pub(super) axes: [Taps<T>; 3],
    pub(super) axis_count: usize,
    pub(super) source: &'a [T],
    /// In packet mode, what the row is a difference to, in `values`.
    pub(super) base: Option<Taps<T>>,
    pub(super) values: &'a [T],
}

/// A row on its way: residuals, the reconstruction that neighbours are predicted from, and the
/// values that the decoder gives out. The last two differ in packet mode only.
#[derive(Default)]
pub(super) struct Row<T> {
    pub(super) residuals: Vec<i16>,
    pub(super) inner: Vec<T>,
    pub(super) outer: Vec<T>,
}

impl<T: Real> Row<T> {
    /// Makes room for a row.
    pub(super) fn resize(&mut self, lanes: usize) {
        self.residuals.resize(lanes, 0);
        self.inner.resize(lanes, T::default());
        self.outer.resize(lanes, T::default());
    }
}

/// Launches the kernel that is compiled for the number of axes, and for a base or none.
macro_rules! launch_for {
    ($prediction:ident, $isa:ident, $kernel:ident { $($field:ident),* }) => {{
        macro_rules! go {
            ($axes:literal, $base:literal) => {
                launch($isa, $kernel::<T, $axes, $base> { prediction: $prediction, $($field),* })
            };
        }
        match ($prediction.axis_count, $prediction.base.is_some()) {
            (0, false) => go!(0, false),
            (1, false) => go!(1, false),
            (2, false) => go!(2, false),
            (_, false) => go!(3, false),
            (0, true) => go!(0, true),
            (1, true) => go!(1, true),
            (_, true) => go!(2, true),
        }
    }};
}

impl<'a, T: Real> Prediction<'a, T> {
    /// Quantizes `values`; says whether every one of them satisfies the bound.
    pub(super) fn quantize(&self, isa: Isa, step: Step<T>, values: &[T], row: &mut Row<T>) -> bool {
        launch_for!(self, isa, Quantize { step, values, row })
    }

    /// Reconstructs `count` values from their residuals.
    pub(super) fn dequantize(&self, isa: Isa, step: T, count: usize, row: &mut Row<T>) {
        launch_for!(self, isa, Dequantize { step, count, row })
    }

    /// The rows that `groups` groups are predicted from.
    #[inline(always)]
    fn neighbours<const AXES: usize, const BASE: bool>(
        &self,
        groups: usize,
    ) -> ([Neighbours<'a, T>; 3], Neighbours<'a, T>) {
        let mut axes = [Neighbours::none(); 3];
        for (rows, taps) in axes.iter_mut().zip(&self.axes).take(AXES) {
            *rows = taps.of(self.source, groups);
        }
        let base = match &self.base {
            Some(base) if BASE => base.of(self.values, groups),
            _ => Neighbours::none(),
        };
        (axes, base)
    }
}

struct Quantize<'a, 'b, T, const AXES: usize, const BASE: bool> {
    prediction: &'a Prediction<'b, T>,
    step: Step<T>,
    values: &'a [T],
    row: &'a mut Row<T>,
}

impl<T: Real, const AXES: usize, const BASE: bool> Kernel for Quantize<'_, '_, T, AXES, BASE> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (whole, rest) = self.values.as_chunks::<WIDTH>();
        let groups = self.values.len().div_ceil(WIDTH);
        let (axes, base) = self.prediction.neighbours::<AXES, BASE>(groups);
        self.row.residuals[whole.len() * WIDTH..].fill(0);
        let residuals = in_groups_mut(&mut self.row.residuals, groups);
        let inner = in_groups_mut(&mut self.row.inner, groups);
        let outer = in_groups_mut(&mut self.row.outer, groups);
        let mut bad = [0u32; WIDTH];
        for (at, &values) in whole.iter().enumerate() {
            let group = group::<T, AXES, BASE>(&axes, &base, self.step, at, values);
            residuals[at] = group.residuals;
            inner[at] = group.inner;
            if BASE {
                outer[at] = group.outer;
            }
            bad = zip(bad, group.wrong, |a, b| a | b);
        }
        if !rest.is_empty() {
            let at = whole.len();
            let mut values = [T::default(); WIDTH];
            values[..rest.len()].copy_from_slice(rest);
            let group = group::<T, AXES, BASE>(&axes, &base, self.step, at, values);
            residuals[at][..rest.len()].copy_from_slice(&group.residuals[..rest.len()]);
            inner[at] = group.inner;
            outer[at] = group.outer;
            for (bad, wrong) in bad.iter_mut().zip(group.wrong).take(rest.len()) {
                *bad |= wrong;
            }
        }
        bad.iter().all(|&b| b == 0)
    }
}

/// Quantized values.
struct Group<T> {
    residuals: Pack<i16>,
    inner: Pack<T>,
    outer: Pack<T>,
    /// Which of them miss their bound.
    wrong: Pack<u32>,
}

#[inline(always)]
fn group<T: Real, const AXES: usize, const BASE: bool>(
    axes: &[Neighbours<'_, T>; 3],
    base: &Neighbours<'_, T>,
    step: Step<T>,
    at: usize,
    values: Pack<T>,
) -> Group<T> {
    let most = T::from_i32(i32::from(LARGEST));
    let least = T::from_i32(-i32::from(LARGEST));
    let p = predict::<T, AXES>(axes, at);
    let b = if BASE {
        base.at(at)
    } else {
        [T::default(); WIDTH]
    };
    let target = if BASE {
        zip(values, b, |v, b| v - b)
    } else {
        values
    };
    let steps = zip(target, p, |t, p| (t - p) * step.inverse);
    // Comparisons rather than min and max: NaN becomes `most`.
    let steps = each(steps, |s| if s < most { s } else { most });
    let steps = each(steps, |s| if s > least { s } else { least });
    let shifted = each(steps, |s| s + T::ROUNDING);
    let inner = zip(p, shifted, |p, s| p + (s - T::ROUNDING) * step.size);
    let outer = if BASE {
        zip(b, inner, |b, n| b + n)
    } else {
        inner
    };
    Group {
        residuals: each(shifted, |s| s.rounded() as i16),
        inner,
        outer,
        wrong: zip(values, outer, |v, f| u32::from(step.misses(v - f))),
    }
}

struct Dequantize<'a, 'b, T, const AXES: usize, const BASE: bool> {
    prediction: &'a Prediction<'b, T>,
    step: T,
    count: usize,
    row: &'a mut Row<T>,
}

impl<T: Real, const AXES: usize, const BASE: bool> Kernel for Dequantize<'_, '_, T, AXES, BASE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let groups = self.count.div_ceil(WIDTH);
        let (axes, base) = self.prediction.neighbours::<AXES, BASE>(groups);
        let residuals = in_groups(&self.row.residuals, groups);
        let inner = in_groups_mut(&mut self.row.inner, groups);
        let outer = in_groups_mut(&mut self.row.outer, groups);
        for at in 0..groups {
            let p = predict::<T, AXES>(&axes, at);
            let near = zip(p, residuals[at], |p, q| {
                p + T::from_i32(i32::from(q)) * self.step
            });
            inner[at] = near;
            if BASE {
                outer[at] = zip(base.at(at), near, |b, n| b + n);
            }
        }
    }
}

/// Adds to `costs` what predictions of a row would cost: one entry per set of axes and kind of
/// interpolation, see [`super::choose`].
pub(super) struct Weigh<'a, T> {
    /// Linear and cubic interpolation along each axis, with weight 1, in `source`.
    pub(super) taps: &'a [[Taps<T>; 2]],
    pub(super) source: &'a [T],
    /// What the row is a difference to, and the buffer that it is in.
    pub(super) base: Option<(Taps<T>, &'a [T])>,
    pub(super) values: &'a [T],
    pub(super) inverse: T,
    /// Indexed by scale (whole, half), kind (linear, cubic) and set of axes.
    pub(super) costs: &'a mut [[[u64; 8]; 2]; 2],
}

impl<T: Real> Kernel for Weigh<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let values = self.values.as_chunks::<WIDTH>().0;
        let groups = values.len();
        let mut rows = [[Neighbours::none(); 2]; 3];
        for (rows, taps) in rows.iter_mut().zip(self.taps) {
            *rows = [
                taps[0].of(self.source, groups),
                taps[1].of(self.source, groups),
            ];
        }
        let base = self.base.map(|(taps, from)| taps.of(from, groups));
        let sets = 1usize << self.taps.len();
        let scales = if self.base.is_some() { 2 } else { 1 };
        let add = |a: Pack<T>, b: Pack<T>| zip(a, b, |a, b| a + b);
        for (at, &values) in values.iter().enumerate() {
            let mut target = values;
            if let Some(base) = &base {
                target = zip(target, base.at(at), |v, b| v - b);
            }
            for kind in 0..2 {
                let mut sums = [[T::default(); WIDTH]; 8];
                for (k, rows) in rows.iter().enumerate().take(self.taps.len()) {
                    let part = rows[kind].at(at);
                    for set in 1 << k..2 << k {
                        sums[set] = add(sums[set & !(1 << k)], part);
                    }
                }
                for (set, &sum) in sums.iter().enumerate().take(sets) {
                    for scale in 0..scales {
                        let weight = match (set.count_ones(), scale) {
                            (2, 0) | (0 | 1, 1) => 0.5,
                            (3, 0) => 1.0 / 3.0,
                            (2, 1) => 0.25,
                            (3, 1) => 1.0 / 6.0,
                            _ => 1.0,
                        };
                        let weight = T::from_f64(weight);
                        let bits = zip(target, sum, |t, s| {
                            cost(((t - s * weight) * self.inverse).to_f32())
                        });
                        let bits: u32 = bits.iter().sum();
                        self.costs[scale][kind][set] += u64::from(bits);
                    }
                }
            }
        }
    }
}

/// About log2(1 + 4e²) for a residual of e steps, in 2⁻¹¹ bits, from the bits of the number.
#[inline(always)]
pub(super) fn cost(steps: f32) -> u32 {
    let square = steps * steps;
    let square = if square < 1e9 { square } else { 1e9 };
    ((1.0 + 4.0 * square).to_bits() - 1.0f32.to_bits()) >> 12
}

impl<T: Real> Prediction<'_, T> {
    /// Puts an escaped value into its row, in which lane `i` holds the bare prediction.
    pub(super) fn escape(&self, i: usize, escape: Escape<T>, row: &mut Row<T>) {
        let finite = |v: T| if v.is_finite() { v } else { T::default() };
        if !escape.absent {
            row.outer[i] = escape.value;
            row.inner[i] = match &self.base {
                Some(base) => escape.value - base.single(self.values, i),
                None => escape.value,
            };
        }
        row.inner[i] = finite(row.inner[i]);
        row.outer[i] = finite(row.outer[i]);
    }
}
