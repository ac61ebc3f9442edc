//! Prediction by differences at lags: the Lorenzo predictor on the flat sequence of a chunk.
//!
//! The residual is the product of (1 − shift by lag) over a chosen set of lags {1, nx, nx·ny},
//! applied to the sequence in storage order with zeros before its start. With all three lags this
//! is the 3-D Lorenzo residual, except that the neighbour to the left of a row's first value is
//! the last value of the row before. Nothing needs padding, any extents work, and the inverse is
//! exact modulo the word size.

#[cfg(target_arch = "x86_64")]
mod avx2;

use super::UNIT;
use super::word::Word;
use crate::codec::Dims;
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

/// Differences of a chunk, unit by unit.
#[derive(Debug, Default)]
pub(crate) struct Differences<W> {
    /// The last value before the unit, for lag 1.
    last: W,
    along_x: bool,
    row: History<W>,
    plane: History<W>,
}

impl<W: Word> Differences<W> {
    /// Starts a chunk.
    pub fn start(&mut self, lags: Lags, dims: Dims) {
        let [_, row, plane] = distances(dims);
        self.last = W::default();
        self.along_x = lags.has(0);
        self.row.start(if lags.has(1) { row } else { 0 });
        self.plane.start(if lags.has(2) { plane } else { 0 });
    }

    /// Turns the next unit of numbers into zigzag residuals, in place.
    #[inline(always)]
    pub fn forward(&mut self, unit: &mut [W; UNIT]) {
        if self.along_x {
            let before = std::mem::replace(&mut self.last, unit[UNIT - 1]);
            let numbers = *unit;
            for i in 1..UNIT {
                unit[i] = numbers[i].sub(numbers[i - 1]);
            }
            unit[0] = numbers[0].sub(before);
        }
        self.row.forward(unit);
        self.plane.forward(unit);
        for residual in unit.iter_mut() {
            *residual = residual.zigzag();
        }
    }

    /// Turns the next unit of zigzag residuals back into numbers, in place.
    #[inline(always)]
    pub fn inverse(&mut self, level: Level, unit: &mut [W; UNIT]) {
        for residual in unit.iter_mut() {
            *residual = residual.unzigzag();
        }
        self.plane.inverse(unit);
        self.row.inverse(unit);
        if self.along_x {
            prefix_sum(level, &mut self.last, unit);
        }
    }
}

/// Sums up a unit from `last` on, which becomes the last sum.
#[inline(always)]
fn prefix_sum<W: Word>(level: Level, last: &mut W, unit: &mut [W; UNIT]) {
    #[cfg(target_arch = "x86_64")]
    if let (Level::Avx2, Ok(last), Ok(unit)) = (
        level,
        bytemuck::try_cast_mut::<W, u16>(last),
        bytemuck::try_cast_mut::<[W; UNIT], [u16; UNIT]>(unit),
    ) {
        return avx2::prefix_sum(level, last, unit);
    }
    let _ = level;
    for number in unit.iter_mut() {
        *last = last.add(*number);
        *number = *last;
    }
}

/// The numbers of one lag back: a window that slides over the sequence.
#[derive(Debug, Default)]
struct History<W> {
    /// 0 if the lag is not in use.
    lag: usize,
    /// Where the numbers one lag before the next unit start.
    at: usize,
    window: Vec<W>,
}

impl<W: Word> History<W> {
    fn start(&mut self, lag: usize) {
        self.lag = lag;
        self.at = 0;
        if lag > 0 {
            // Longer windows are moved less often, shorter ones stay in the cache.
            let length = lag + (3 * lag).clamp(16 * UNIT, 1 << 20).next_multiple_of(UNIT);
            if self.window.len() < length {
                self.window.resize(length, W::default());
            }
            self.window[..lag].fill(W::default());
        }
    }

    /// Slides on by one unit; returns the numbers from one lag before it to its end.
    #[inline(always)]
    fn advance(&mut self) -> &mut [W] {
        let needed = self.lag + UNIT;
        if self.at + needed > self.window.len() {
            self.window.copy_within(self.at..self.at + self.lag, 0);
            self.at = 0;
        }
        let start = self.at;
        self.at += UNIT;
        &mut self.window[start..start + needed]
    }

    #[inline(always)]
    fn forward(&mut self, unit: &mut [W; UNIT]) {
        if self.lag == 0 {
            return;
        }
        let lag = self.lag;
        let window = self.advance();
        window[lag..].copy_from_slice(unit);
        for (number, before) in unit.iter_mut().zip(&window[..UNIT]) {
            *number = number.sub(*before);
        }
    }

    #[inline(always)]
    fn inverse(&mut self, unit: &mut [W; UNIT]) {
        if self.lag == 0 {
            return;
        }
        let lag = self.lag;
        let window = self.advance();
        if lag >= UNIT {
            let (before, now) = window.split_at_mut(lag);
            for ((number, before), now) in unit.iter_mut().zip(before).zip(now) {
                *number = number.add(*before);
                *now = *number;
            }
        } else {
            for (i, number) in unit.iter_mut().enumerate() {
                *number = number.add(window[i]);
                window[lag + i] = *number;
            }
        }
    }
}
