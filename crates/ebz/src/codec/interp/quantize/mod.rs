//! In-place quantization of a row against its prediction, and its inverse.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::escape::Escape;
use super::geometry::lanes;
use super::number::{Number, Step};
use super::pack::Taps;
use crate::simd::Level as Isa;

/// The prediction and the position of successive rows.
#[derive(Clone, Copy)]
pub(super) struct Prediction<T> {
    /// Interpolations to sum, from [`Buffers::inner`]; the first `axis_count` are used.
    pub(super) axes: [Taps<T>; 3],
    pub(super) axis_count: usize,
    /// Packet mode: the interpolation between planes, from [`Buffers::outer`].
    pub(super) base: Option<Taps<T>>,
    /// Start of the first row, and distance between rows.
    pub(super) start: usize,
    pub(super) pitch: usize,
    /// Values of a row.
    pub(super) count: usize,
    pub(super) rows: usize,
}

/// The buffers of a pyramid that a row is read from and written to.
pub(super) struct Buffers<'a, T> {
    /// Values, or in packet mode differences, that rows are predicted from.
    pub(super) inner: &'a mut [T],
    /// Packet mode: the values, original before and reconstructed after coding.
    pub(super) outer: Option<&'a mut [T]>,
    pub(super) magnitudes: &'a mut [u8],
}

impl<T> Buffers<'_, T> {
    /// The values.
    pub(super) fn values(&self) -> &[T] {
        self.outer.as_deref().unwrap_or(self.inner)
    }

    fn values_mut(&mut self) -> &mut [T] {
        self.outer.as_deref_mut().unwrap_or(self.inner)
    }
}

/// The rows being coded: their residuals in whole segments, and the original values in the encoder.
#[derive(Default)]
pub(super) struct Rows<T> {
    pub(super) residuals: Vec<i16>,
    pub(super) original: Vec<T>,
}

impl<T: Number> Rows<T> {
    /// Makes room for this many lanes.
    pub(super) fn reserve(&mut self, lanes: usize) {
        if self.residuals.len() < lanes {
            self.residuals.resize(lanes, 0);
            self.original.resize(lanes, T::default());
        }
    }
}

/// Calls the kernel compiled for the number of axes, with or without a base.
#[cfg(target_arch = "x86_64")]
macro_rules! for_axes {
    ($prediction:ident, $kernel:ident($($argument:expr),*)) => {
        match ($prediction.axis_count, $prediction.base.is_some()) {
            (0, false) => avx2::$kernel::<T, 0, false>($($argument),*),
            (1, false) => avx2::$kernel::<T, 1, false>($($argument),*),
            (2, false) => avx2::$kernel::<T, 2, false>($($argument),*),
            (_, false) => avx2::$kernel::<T, 3, false>($($argument),*),
            (0, true) => avx2::$kernel::<T, 0, true>($($argument),*),
            (1, true) => avx2::$kernel::<T, 1, true>($($argument),*),
            (_, true) => avx2::$kernel::<T, 2, true>($($argument),*),
        }
    };
}

impl<T: Number> Prediction<T> {
    /// Lanes of a row.
    pub(super) fn width(&self) -> usize {
        lanes(self.count)
    }

    /// The prediction of one of the rows.
    pub(super) fn row(&self, row: usize) -> Self {
        Self {
            axes: self.axes.map(|taps| taps.row(row)),
            base: self.base.map(|taps| taps.row(row)),
            start: self.start + row * self.pitch,
            rows: 1,
            ..*self
        }
    }

    /// Quantizes the rows; returns whether every value satisfies the bound.
    #[inline(always)]
    pub(super) fn quantize(
        &self,
        isa: Isa,
        step: Step<T>,
        buffers: &mut Buffers<'_, T>,
        rows: &mut Rows<T>,
    ) -> bool {
        match isa.avx2() {
            // SAFETY: the level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Some(_) => unsafe { for_axes!(self, quantize(self, step, buffers, rows)) },
            _ => portable::quantize(self, step, buffers, rows),
        }
    }

    /// Reconstructs the rows from their residuals, without magnitudes.
    #[inline(always)]
    pub(super) fn dequantize(
        &self,
        isa: Isa,
        step: T,
        buffers: &mut Buffers<'_, T>,
        residuals: &[i16],
    ) {
        match isa.avx2() {
            // SAFETY: the level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Some(_) => unsafe { for_axes!(self, dequantize(self, step, buffers, residuals)) },
            _ => portable::dequantize(self, step, buffers, residuals),
        }
    }

    /// Inserts an escaped value into the first row, in which lane `i` contains the prediction.
    pub(super) fn escape(&self, i: usize, escape: Escape<T>, buffers: &mut Buffers<'_, T>) {
        let finite = |v: T| if v.is_finite() { v } else { T::default() };
        let at = self.start + i;
        if !escape.excluded {
            buffers.inner[at] = match &self.base {
                Some(base) => escape.value - base.single(buffers.values(), i),
                None => escape.value,
            };
            buffers.values_mut()[at] = escape.value;
        }
        buffers.inner[at] = finite(buffers.inner[at]);
        let value = &mut buffers.values_mut()[at];
        *value = finite(*value);
    }
}
