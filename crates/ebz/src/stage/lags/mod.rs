//! Prediction by differences at lags: the Lorenzo predictor on the flat sequence of a chunk.
//!
//! The residual is the product of (1 − shift by lag) over a chosen set of lags {1, nx, nx·ny},
//! applied to the sequence in storage order with zeros before its start. With all three lags this
//! is the 3-D Lorenzo residual, except that the neighbour to the left of a row's first value is
//! the last value of the row before. Nothing needs padding, any extents work, and the inverse is
//! exact modulo the word size.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(test)]
mod tests;

use super::UNIT;
use crate::element::word::Word;
use crate::request::Dims;
use crate::simd::Level;

/// A set of the lags 1 (bit 0), nx (bit 1) and nx·ny (bit 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lags(pub u8);

impl Lags {
    /// Every set that makes sense for these extents; the first one is the default.
    pub fn candidates(dims: Dims) -> impl Iterator<Item = Self> {
        let most = match dims.axes() {
            1 => 0b001,
            2 => 0b011,
            _ => 0b111,
        };
        (0..=most).rev().map(Self)
    }

    /// Whether a lag belongs to the set.
    pub fn has(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
}

/// The lags of a chunk by axis, fastest first.
pub(crate) fn distances(dims: Dims) -> [usize; 3] {
    [1, dims.nx, dims.nx * dims.ny]
}

/// Numbers in front of a unit: as many as keep the unit at the start of a cache line.
const FRONT: usize = 32;

/// A unit of numbers with the last number of the unit before right in front of it.
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
        self.0
            .last_chunk_mut()
            .expect("there is a unit behind the front")
    }

    /// The last number before the unit.
    #[inline(always)]
    pub fn last(&self) -> W {
        self.0[FRONT - 1]
    }

    /// Makes way for the next unit.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.0[FRONT - 1] = self.0[FRONT + UNIT - 1];
    }

    /// Differences of neighbours.
    #[inline(always)]
    fn differences(&self, out: &mut [W; UNIT]) {
        let pairs = self.0[FRONT..].iter().zip(&self.0[FRONT - 1..]);
        for (out, (number, before)) in out.iter_mut().zip(pairs) {
            *out = number.sub(*before);
        }
    }
}

/// Differences of a chunk, unit by unit. Every stage writes to where the next one keeps its past.
#[derive(Debug, Default)]
pub(crate) struct Differences<W> {
    along_x: bool,
    row: History<W>,
    plane: History<W>,
}

impl<W: Word> Differences<W> {
    /// Starts a chunk.
    pub fn start(&mut self, lags: Lags, dims: Dims) {
        let [_, row, plane] = distances(dims);
        self.along_x = lags.has(0);
        self.row.start(if lags.has(1) { row } else { 0 });
        self.plane.start(if lags.has(2) { plane } else { 0 });
    }

    /// Turns the next unit of numbers into zigzag residuals.
    #[inline(always)]
    pub fn forward(&mut self, numbers: &Numbers<W>, residuals: &mut [W; UNIT]) {
        let Self {
            along_x,
            row,
            plane,
        } = self;
        let along_x = |out: &mut [W; UNIT]| match along_x {
            true => numbers.differences(out),
            false => out.copy_from_slice(&numbers.0[FRONT..]),
        };
        match (row.lag > 0, plane.lag > 0) {
            (true, true) => {
                along_x(row.next());
                row.difference(plane.next());
                plane.difference(residuals);
            }
            (true, false) => {
                along_x(row.next());
                row.difference(residuals);
            }
            (false, true) => {
                along_x(plane.next());
                plane.difference(residuals);
            }
            (false, false) => along_x(residuals),
        }
        for residual in residuals.iter_mut() {
            *residual = residual.zigzag();
        }
    }

    /// Turns the next unit of zigzag residuals back into numbers, which are filled in.
    #[inline(always)]
    pub fn inverse(&mut self, level: Level, residuals: &mut [W; UNIT], numbers: &mut Numbers<W>) {
        let Self {
            along_x,
            row,
            plane,
        } = self;
        for residual in residuals.iter_mut() {
            *residual = residual.unzigzag();
        }
        let mut sums: &[W; UNIT] = residuals;
        if plane.lag > 0 {
            sums = plane.sum(sums);
        }
        if row.lag > 0 {
            sums = row.sum(sums);
        }
        match along_x {
            true => prefix_sum(level, numbers.last(), sums, numbers.unit()),
            false => *numbers.unit() = *sums,
        }
        numbers.advance();
    }
}

/// Sums up a unit from `last` on.
#[inline(always)]
fn prefix_sum<W: Word>(level: Level, mut last: W, unit: &[W; UNIT], sums: &mut [W; UNIT]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = level.avx2() {
        let narrow = bytemuck::try_cast_ref(unit).ok();
        if let Some((unit, sums)) = narrow.zip(bytemuck::try_cast_mut(sums).ok()) {
            return match level {
                Level::Avx512(avx512) => avx512::prefix_sum(avx512, last.part(0), unit, sums),
                _ => avx2::prefix_sum(avx2, last.part(0), unit, sums),
            };
        }
        let wide = bytemuck::try_cast_ref(unit).ok();
        if let Some((unit, sums)) = wide.zip(bytemuck::try_cast_mut(sums).ok()) {
            return avx2::prefix_sum_u32(avx2, last.signed() as u32, unit, sums);
        }
    }
    let _ = level;
    for (sum, number) in sums.iter_mut().zip(unit) {
        last = last.add(*number);
        *sum = last;
    }
}

/// The numbers of one lag back: a window that slides over the sequence.
#[derive(Debug, Default)]
struct History<W> {
    /// 0 if the lag is not in use.
    lag: usize,
    /// Where the numbers one lag before the current unit are.
    at: usize,
    /// Where the window starts in the buffer: such that units begin at cache lines.
    start: usize,
    buffer: Vec<W>,
}

impl<W: Word> History<W> {
    fn start(&mut self, lag: usize) {
        self.lag = lag;
        if lag > 0 {
            const LINE: usize = 64;
            // Longer windows are moved less often, shorter ones stay in the cache.
            let length = lag + (3 * lag).clamp(16 * UNIT, 1 << 20).next_multiple_of(UNIT);
            let length = length + UNIT + LINE / size_of::<W>();
            if self.buffer.len() < length {
                self.buffer.resize(length, W::default());
            }
            // One unit before the first, where `next` will move on from.
            self.start = self.buffer[lag..].as_ptr().align_offset(LINE);
            self.at = self.start;
            self.buffer[self.at + UNIT..self.at + UNIT + lag].fill(W::default());
        }
    }

    /// Slides on by one unit; returns the place for its numbers.
    #[inline(always)]
    fn next(&mut self) -> &mut [W; UNIT] {
        let end = self.at + UNIT + self.lag;
        if end + UNIT > self.buffer.len() {
            self.buffer.copy_within(self.at + UNIT..end, self.start);
            self.at = self.start;
        } else {
            self.at += UNIT;
        }
        self.now()
    }

    #[inline(always)]
    fn now(&mut self) -> &mut [W; UNIT] {
        self.buffer[self.at + self.lag..]
            .as_chunks_mut::<UNIT>()
            .0
            .first_mut()
            .expect("room for a unit")
    }

    /// The current unit minus what lies one lag before it.
    #[inline(always)]
    fn difference(&self, out: &mut [W; UNIT]) {
        let before = &self.buffer[self.at..self.at + UNIT];
        let now = &self.buffer[self.at + self.lag..self.at + self.lag + UNIT];
        for ((out, now), before) in out.iter_mut().zip(now).zip(before) {
            *out = now.sub(*before);
        }
    }

    /// Slides on by one unit, whose numbers are `unit` plus what lies one lag before them.
    #[inline(always)]
    fn sum(&mut self, unit: &[W; UNIT]) -> &[W; UNIT] {
        self.next();
        let (at, lag) = (self.at, self.lag);
        // Pieces as long as the lag need only what lies before them.
        for (piece, start) in unit
            .chunks(lag.min(UNIT))
            .zip((at..).step_by(lag.min(UNIT)))
        {
            let (before, now) = self.buffer[start..].split_at_mut(lag);
            for ((now, number), before) in now.iter_mut().zip(piece).zip(before) {
                *now = number.add(*before);
            }
        }
        self.now()
    }
}
