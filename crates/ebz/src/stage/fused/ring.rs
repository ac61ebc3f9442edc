//! The history of a lag, overwritten in place.

use crate::stage::{Aligned, UNIT};

/// Minimum lag: shorter ones reach into the current vector.
pub(super) const MIN_LAG: usize = 32;

/// What comes before the start of a chunk.
static ZEROS: Aligned<u16> = Aligned([0; UNIT]);

/// History of one lag: a ring of whole units, in which a value replaces the one that its own unit or
/// the next one used last. The first unit is repeated after the last one, so that reads do not wrap.
#[derive(Debug, Default)]
pub(super) struct Ring {
    units: Vec<Aligned<u16>>,
    /// The lag rounded up to units, 0 if it is not in use.
    size: usize,
    lag: usize,
    /// Position of the current unit.
    at: usize,
    /// Units until there is any history.
    fresh: usize,
}

/// Where a unit is stored, and what it reads. All pointers are to `UNIT` numbers, which are read and
/// written in ascending order, vector by vector: with a lag of less than a unit, numbers that were just written
/// are read.
pub(super) struct Place {
    /// Aligned to a cache line, like `copy`.
    pub now: *mut u16,
    /// One lag before.
    pub before: *const u16,
    /// Where to store the unit too.
    pub copy: Option<*mut u16>,
}

impl Ring {
    /// Starts a chunk; 0 if the lag is not in use. Nothing is cleared that no unit reads.
    pub fn start(&mut self, lag: usize) {
        self.lag = lag;
        self.size = lag.next_multiple_of(UNIT);
        self.at = 0;
        if lag > 0 {
            self.fresh = self.size / UNIT - 1;
            if self.units.len() < self.fresh + 2 {
                self.units.resize(self.fresh + 2, ZEROS);
            }
            self.units[self.fresh] = ZEROS;
        }
    }

    /// The place of the current unit; moves on to the next one. The lag must be in use.
    #[inline(always)]
    pub fn next(&mut self) -> Place {
        debug_assert!(self.at < self.size && self.size < self.units.len() * UNIT);
        let start = self.units.as_mut_ptr().cast::<u16>();
        let gap = self.size - self.lag;
        // In bounds: `at` + UNIT ≤ size, and there are size + UNIT numbers.
        let now = start.wrapping_add(self.at);
        let copy = (self.at == 0 && gap > 0).then_some(start.wrapping_add(self.size));
        let before = if self.fresh > 0 {
            ZEROS.0.as_ptr()
        } else {
            now.wrapping_add(gap).cast_const()
        };
        self.fresh = self.fresh.saturating_sub(1);
        self.at += UNIT;
        if self.at == self.size {
            self.at = 0;
        }
        Place { now, before, copy }
    }
}
