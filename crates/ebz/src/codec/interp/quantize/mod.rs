//! In-place quantization of a row against its prediction, and its inverse.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::escape::Escape;
use super::number::{Number, Step};
use super::pack::Taps;
use crate::simd::Level as Isa;

/// The prediction and the position of a row.
#[derive(Clone, Copy)]
pub(super) struct Prediction<T> {
    /// Interpolations to sum, from [`Buffers::inner`]; the first `axis_count` are used.
    pub(super) axes: [Taps<T>; 3],
    pub(super) axis_count: usize,
    /// Packet mode: the interpolation between planes, from [`Buffers::outer`].
    pub(super) base: Option<Taps<T>>,
    pub(super) start: usize,
    pub(super) count: usize,
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

/// The row being coded: its residuals, and the original values in the encoder.
#[derive(Default)]
pub(super) struct Row<T> {
    pub(super) residuals: Vec<i16>,
    pub(super) original: Vec<T>,
}

impl<T: Number> Row<T> {
    /// Resizes the buffers for a row.
    pub(super) fn resize(&mut self, lanes: usize) {
        self.residuals.resize(lanes, 0);
        self.original.resize(lanes, T::default());
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
    /// Quantizes the row; returns whether every value satisfies the bound.
    #[inline(always)]
    pub(super) fn quantize(
        &self,
        isa: Isa,
        step: Step<T>,
        buffers: &mut Buffers<'_, T>,
        row: &mut Row<T>,
    ) -> bool {
        match isa.avx2() {
            // SAFETY: the level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Some(_) => unsafe { for_axes!(self, quantize(self, step, buffers, row)) },
            _ => portable::quantize(self, step, buffers, row),
        }
    }

    /// Reconstructs the row from its residuals.
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

    /// Inserts an escaped value into its row, in which lane `i` contains the prediction.
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
