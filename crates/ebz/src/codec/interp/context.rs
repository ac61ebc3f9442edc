//! Contexts: how large the residuals around a value are, from earlier rows and classes only.
//!
//! In: magnitudes of residuals that the decoder already has. Out: per lane the number of a
//! context, and the sum that it was made from. Nothing comes from the same row, so a whole row is
//! coded at once.

use super::pack::{load, store, zip};
use crate::simd::Kernel;
use crate::stage::rans::LANES;

/// Sizes of neighbourhood that are told apart.
const BINS: usize = 16;
/// Kinds of rows that are told apart.
pub(super) const KINDS: usize = 6;
/// Number of contexts; also the context of idle lanes.
pub(super) const CONTEXTS: usize = BINS * KINDS;

/// The smallest sum of each bin but the first.
const FLOORS: [u8; BINS - 1] = [1, 2, 3, 4, 6, 8, 11, 16, 32, 48, 64, 96, 128, 176, 224];

/// The smallest sums at which 1, 2, … low bits are sent as they are, for kinds 0 to 2 and again
/// for 3 to 5: where residuals are large, their low bits are noise.
const LOW_BITS: [[u8; MOST_LOW_BITS]; 3] = [
    [32, 48, 96, 96, 128, 176],
    [48, 96, 176, 176, 224, 255],
    [48, 96, 176, 224, 255, 255],
];
/// Most low bits of a residual that are sent as they are.
pub(super) const MOST_LOW_BITS: usize = 6;

/// The low-bit thresholds of a kind.
pub(super) fn low_bit_floors(kind: usize) -> &'static [u8; MOST_LOW_BITS] {
    &LOW_BITS[kind % 3]
}

/// Magnitude class of a residual: exact up to 8, then ever coarser, at most 31.
#[inline(always)]
pub(super) fn magnitude(residual: i16) -> u8 {
    let a = residual.unsigned_abs();
    (a.min(8) + (a >> 3).min(8) + (a >> 6).min(8) + (a >> 9).min(7)) as u8
}

/// Rows of magnitudes around a row, each at least as long as its lanes.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// The row before in the same class, from one lane further left to one further right.
    pub(super) up: &'a [u8],
    /// The row before in the third direction, to one lane further right.
    pub(super) back: &'a [u8],
    /// Another row beyond it.
    pub(super) beyond: &'a [u8],
    /// Direct neighbours along the odd axes; the first `side_count` count.
    pub(super) sides: [&'a [u8]; 6],
    pub(super) side_count: usize,
    /// Neighbours count twice.
    pub(super) double: bool,
}

/// Contexts of one row.
#[derive(Default)]
pub(super) struct Contexts {
    pub(super) kind: usize,
    pub(super) numbers: Vec<u8>,
    pub(super) sums: Vec<u8>,
    /// The largest sum of each segment.
    pub(super) peaks: Vec<u8>,
}

impl Contexts {
    /// Makes room for a row.
    pub(super) fn resize(&mut self, lanes: usize, kind: usize) {
        self.kind = kind;
        self.numbers.resize(lanes, 0);
        self.sums.resize(lanes, 0);
        self.peaks.resize(lanes / LANES, 0);
    }
}

/// Computes the contexts of `count` values.
pub(super) struct Classify<'a> {
    pub(super) around: Around<'a>,
    pub(super) count: usize,
    pub(super) out: &'a mut Contexts,
}

impl Kernel for Classify<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { around, count, out } = self;
        let lanes = out.sums.len();
        let up = &around.up[..lanes + 2];
        let back = &around.back[..lanes + 1];
        let beyond = &around.beyond[..lanes];
        let sides = around.sides.map(|row| &row[..lanes]);
        let base = (out.kind * BINS) as u8;
        for at in (0..lanes).step_by(LANES) {
            let get = |row: &[u8], at: usize| load::<u8, LANES>(row, at);
            let add = |a, b| zip(a, b, u8::saturating_add);
            let mut sum = add(get(up, at + 1), get(back, at));
            sum = add(sum, sum);
            sum = add(sum, add(get(up, at), get(up, at + 2)));
            sum = add(sum, add(get(back, at + 1), get(beyond, at)));
            let mut near = [0; LANES];
            for side in &sides[..around.side_count] {
                near = add(near, get(side, at));
            }
            sum = add(sum, if around.double { add(near, near) } else { near });
            if at + LANES > count {
                for (i, s) in sum.iter_mut().enumerate() {
                    *s = if at + i < count { *s } else { 0 };
                }
            }
            let peak = sum.iter().fold(0, |a, &b| a.max(b));
            out.peaks[at / LANES] = peak;
            store(&mut out.sums, at, sum);
            let mut number = [base; LANES];
            if peak > 0 {
                for floor in FLOORS {
                    number = zip(number, sum, |n, s| n + u8::from(s >= floor));
                }
            }
            if at + LANES > count {
                for (i, n) in number.iter_mut().enumerate() {
                    *n = if at + i < count { *n } else { CONTEXTS as u8 };
                }
            }
            store(&mut out.numbers, at, number);
        }
    }
}

/// Computes the magnitudes of a row of residuals.
pub(super) struct Magnitudes<'a> {
    pub(super) residuals: &'a [i16],
    pub(super) out: &'a mut [u8],
}

impl Kernel for Magnitudes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let out = &mut self.out[..self.residuals.len()];
        for at in (0..self.residuals.len()).step_by(LANES) {
            let residuals: [i16; LANES] = load(self.residuals, at);
            store(out, at, residuals.map(magnitude));
        }
    }
}
