//! The history of a lag.

use crate::element::word::Word;
use crate::stage::UNIT;

/// Minimum lag for vectors: shorter ones reach into the current vector.
const MIN_VECTOR_LAG: usize = 32;

/// History of one lag, as short as possible, so that it stays in the cache.
///
/// For a lag of up to a unit: the previous and the current unit. For longer lags: a ring buffer whose
/// size is the lag rounded up to units, so that an integer is overwritten soon after its last use. The
/// first unit is repeated after the last one, so that reads do not wrap.
#[derive(Debug)]
pub(super) struct Ring<W> {
    /// 0 if the lag is not in use.
    lag: usize,
    size: usize,
    /// Position of the current unit of a long lag.
    at: usize,
    buffer: Vec<W>,
}

/// The part of a ring that the current unit accesses.
pub(super) struct Window<'a, W> {
    pub numbers: &'a mut [W],
    /// Positions of the current unit and of the integers one lag before it.
    pub now: usize,
    pub before: usize,
}

/// Integers in a window.
pub(super) const WINDOW: usize = 2 * UNIT;

impl<W: Word> Default for Ring<W> {
    fn default() -> Self {
        Self {
            lag: 0,
            size: UNIT,
            at: 0,
            buffer: vec![W::default(); WINDOW],
        }
    }
}

impl<W: Word> Ring<W> {
    /// Starts a chunk, with zeros before it.
    pub fn start(&mut self, lag: usize) {
        self.lag = lag;
        self.at = 0;
        self.size = lag.max(1).next_multiple_of(UNIT);
        let length = self.size + UNIT;
        if self.buffer.len() < length {
            self.buffer.resize(length, W::default());
        }
        if lag > 0 {
            self.buffer[..length].fill(W::default());
        }
    }

    /// Whether the lag is long enough to process whole vectors.
    pub fn allows_vectors(&self) -> bool {
        self.lag == 0 || self.lag >= MIN_VECTOR_LAG
    }

    /// The part that the current unit accesses.
    #[inline(always)]
    pub fn window(&mut self) -> Window<'_, W> {
        let near = self.lag <= UNIT;
        Window {
            numbers: &mut self.buffer[self.at..self.at + WINDOW],
            now: if near { UNIT } else { 0 },
            before: self.size - self.lag,
        }
    }

    /// Moves on to the next unit.
    #[inline(always)]
    pub fn advance(&mut self) {
        if self.lag <= UNIT {
            if self.lag > 0 {
                self.buffer.copy_within(UNIT..WINDOW, 0);
            }
            return;
        }
        if self.at == 0 && self.lag < self.size {
            self.buffer.copy_within(..UNIT, self.size);
        }
        self.at += UNIT;
        if self.at == self.size {
            self.at = 0;
        }
    }

    /// Replaces the current unit by its differences, for any lag, and moves on.
    pub fn difference(&mut self, unit: &mut [W; UNIT]) {
        if self.lag == 0 {
            return;
        }
        let Window {
            numbers,
            now,
            before,
        } = self.window();
        let mut old = [W::default(); UNIT];
        if now == 0 {
            old.copy_from_slice(&numbers[before..before + UNIT]);
        }
        numbers[now..now + UNIT].copy_from_slice(unit);
        if now > 0 {
            old.copy_from_slice(&numbers[before..before + UNIT]);
        }
        for (number, old) in unit.iter_mut().zip(old) {
            *number = number.sub(old);
        }
        self.advance();
    }

    /// Inverts [`Self::difference`].
    pub fn sum(&mut self, unit: &mut [W; UNIT]) {
        if self.lag == 0 {
            return;
        }
        let Window {
            numbers,
            now,
            before,
        } = self.window();
        for (i, number) in unit.iter_mut().enumerate() {
            *number = number.add(numbers[before + i]);
            numbers[now + i] = *number;
        }
        self.advance();
    }
}
