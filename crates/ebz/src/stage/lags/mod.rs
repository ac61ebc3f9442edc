//! Prediction by differences at lags: the Lorenzo predictor on the flat sequence of a chunk.
//!
//! The residual is the product of (1 − shift by lag) over a chosen set of lags {1, nx, nx·ny},
//! applied to the sequence in storage order with zeros before its start. With all three lags this
//! is the 3-D Lorenzo residual, except that the left neighbour of a row's first value is the last
//! value of the previous row. No padding is needed, any extents work, and the inverse is exact in
//! wrapping arithmetic.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod kernel;
mod ring;

#[cfg(test)]
mod tests;

use super::UNIT;
use crate::element::word::Word;
use crate::request::Dims;
use crate::simd::Level;
use kernel::{Buffers, Vector};
use ring::Ring;

/// A set of the lags 1 (bit 0), nx (bit 1) and nx·ny (bit 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lags(pub u8);

impl Lags {
    /// Every useful set for these extents, the default first.
    pub fn candidates(dims: Dims) -> impl Iterator<Item = Self> {
        let most = match dims.axes() {
            1 => 0b001,
            2 => 0b011,
            _ => 0b111,
        };
        (0..=most).rev().map(Self)
    }

    /// Whether the set contains the lag of an axis.
    pub fn has(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
}

/// The lags of a chunk by axis, fastest axis first.
pub(crate) fn distances(dims: Dims) -> [usize; 3] {
    [1, dims.nx, dims.nx * dims.ny]
}

/// Words in front of a unit, as many as keep it aligned to a cache line.
const FRONT: usize = 32;

/// A unit of integers, preceded by the last integer of the previous unit.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Numbers<W>([W; FRONT + UNIT]);

impl<W: Word> Default for Numbers<W> {
    fn default() -> Self {
        Self([W::default(); FRONT + UNIT])
    }
}

impl<W: Word> Numbers<W> {
    /// The unit.
    #[inline(always)]
    pub fn unit(&mut self) -> &mut [W; UNIT] {
        self.0.last_chunk_mut().expect("the array ends with a unit")
    }

    /// The last integer of the previous unit.
    #[inline(always)]
    pub fn last(&self) -> W {
        self.0[FRONT - 1]
    }

    /// Moves on to the next unit.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.0[FRONT - 1] = self.0[FRONT + UNIT - 1];
    }
}

/// Computes the differences of a chunk unit by unit.
#[derive(Debug)]
pub(crate) struct Differences<W> {
    lags: Lags,
    row: Ring<W>,
    plane: Ring<W>,
}

impl<W: Word> Default for Differences<W> {
    fn default() -> Self {
        Self {
            lags: Lags(0),
            row: Ring::default(),
            plane: Ring::default(),
        }
    }
}

impl<W: Word> Differences<W> {
    /// Starts a chunk.
    pub fn start(&mut self, lags: Lags, dims: Dims) {
        let [_, row, plane] = distances(dims);
        self.lags = lags;
        self.row.start(if lags.has(1) { row } else { 0 });
        self.plane.start(if lags.has(2) { plane } else { 0 });
    }

    fn allows_vectors(&self) -> bool {
        self.row.allows_vectors() && self.plane.allows_vectors()
    }

    #[inline(always)]
    fn unit<'a>(
        &'a mut self,
        numbers: &'a mut Numbers<W>,
        residuals: &'a mut [W; UNIT],
    ) -> Buffers<'a, W> {
        Buffers {
            numbers: &mut numbers.0,
            residuals,
            row: self.row.window(),
            plane: self.plane.window(),
        }
    }

    /// Computes the zigzag residuals of the next unit.
    #[inline(always)]
    pub fn forward(&mut self, level: Level, numbers: &mut Numbers<W>, residuals: &mut [W; UNIT]) {
        if !self.allows_vectors() {
            return self.forward_short(numbers, residuals);
        }
        run::<W, true>(level, self.lags, self.unit(numbers, residuals));
        self.row.advance();
        self.plane.advance();
    }

    /// Reconstructs the next unit from its zigzag residuals.
    #[inline(always)]
    pub fn inverse(&mut self, level: Level, residuals: &mut [W; UNIT], numbers: &mut Numbers<W>) {
        if !self.allows_vectors() {
            return self.inverse_short(residuals, numbers);
        }
        run::<W, false>(level, self.lags, self.unit(numbers, residuals));
        self.row.advance();
        self.plane.advance();
        numbers.advance();
    }

    /// [`Self::forward`] for rows shorter than a vector.
    fn forward_short(&mut self, numbers: &Numbers<W>, residuals: &mut [W; UNIT]) {
        let before = match self.lags.has(0) {
            true => &numbers.0[FRONT - 1..],
            false => &[W::default(); UNIT],
        };
        let pairs = numbers.0[FRONT..].iter().zip(before);
        for (residual, (number, before)) in residuals.iter_mut().zip(pairs) {
            *residual = number.sub(*before);
        }
        self.row.difference(residuals);
        self.plane.difference(residuals);
        for residual in residuals.iter_mut() {
            *residual = residual.zigzag();
        }
    }

    /// [`Self::inverse`] for rows shorter than a vector.
    fn inverse_short(&mut self, residuals: &[W; UNIT], numbers: &mut Numbers<W>) {
        let mut last = numbers.last();
        let unit = numbers.unit();
        *unit = residuals.map(Word::unzigzag);
        self.plane.sum(unit);
        self.row.sum(unit);
        if self.lags.has(0) {
            for number in unit {
                last = last.add(*number);
                *number = last;
            }
        }
        numbers.advance();
    }
}

/// Processes a unit with the vectors of a level.
fn run<W: Word, const FORWARD: bool>(level: Level, lags: Lags, mut unit: Buffers<'_, W>) {
    #[cfg(target_arch = "x86_64")]
    match (level, size_of::<W>()) {
        (Level::Avx512(avx512), 2) => {
            return avx512.run(
                #[inline(always)]
                || by_lags::<u16, avx512::Narrow, FORWARD>(avx512, lags, &mut unit.cast()),
            );
        }
        (Level::Avx2(avx2), 2) => {
            return avx2.run(
                #[inline(always)]
                || by_lags::<u16, avx2::Narrow, FORWARD>(avx2, lags, &mut unit.cast()),
            );
        }
        (_, 4) => {
            if let Some(avx2) = level.avx2() {
                return avx2.run(
                    #[inline(always)]
                    || by_lags::<u32, avx2::Wide, FORWARD>(avx2, lags, &mut unit.cast()),
                );
            }
        }
        _ => {}
    }
    level.run(
        #[inline(always)]
        || by_lags::<W, [W; 16], FORWARD>((), lags, &mut unit),
    );
}

#[inline(always)]
fn by_lags<W: Word, V: Vector<W>, const FORWARD: bool>(
    token: V::Token,
    lags: Lags,
    unit: &mut Buffers<'_, W>,
) {
    macro_rules! pass {
        ($lags:literal) => {
            match FORWARD {
                true => kernel::forward::<W, V, $lags>(token, unit),
                false => kernel::inverse::<W, V, $lags>(token, unit),
            }
        };
    }
    match lags.0 {
        0 => pass!(0),
        1 => pass!(1),
        2 => pass!(2),
        3 => pass!(3),
        4 => pass!(4),
        5 => pass!(5),
        6 => pass!(6),
        _ => pass!(7),
    }
}
