//! Contexts: how large the residuals around a value are, from earlier rows and classes only.
//!
//! In: magnitudes of residuals that the decoder already has. Out: per lane the number of a
//! context, and the sum that it was made from. Nothing comes from the same row, so a whole row is
//! coded at once.

#[cfg(target_arch = "x86_64")]
mod avx2;

use crate::codec::interp::kernel::Kernel;
use crate::codec::interp::pack::{each, load, store};
use crate::simd::Level as Isa;
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
    /// What is around each segment.
    pub(super) activity: Vec<Activity>,
}

/// What is around a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Activity {
    /// Zeros only.
    Quiet,
    /// Small residuals.
    Small,
    /// Residuals so large that some lanes send low bits.
    Large,
}

impl Contexts {
    /// Makes room for a row.
    pub(super) fn resize(&mut self, lanes: usize, kind: usize) {
        self.kind = kind;
        self.numbers.resize(lanes, 0);
        self.sums.resize(lanes, 0);
        self.activity.resize(lanes / LANES, Activity::Quiet);
    }
}

/// Computes the contexts of `count` values.
pub(super) fn classify(isa: Isa, around: &Around<'_>, count: usize, out: &mut Contexts) {
    match isa {
        // SAFETY: a level exists only where the machine has its instructions.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) | Isa::Avx512(_) => unsafe { avx2::classify(around, count, out) },
        _ => portable(around, count, out),
    }
}

fn portable(around: &Around<'_>, count: usize, out: &mut Contexts) {
    let base = out.kind * BINS;
    let large = low_bit_floors(out.kind)[0];
    let segments = out.activity.iter_mut().enumerate();
    for (segment, activity) in segments {
        *activity = Activity::Quiet;
        for i in segment * LANES..(segment + 1) * LANES {
            let add = u8::saturating_add;
            let mut sum = add(around.up[i + 1], around.back[i]);
            sum = add(sum, sum);
            sum = add(sum, add(around.up[i], around.up[i + 2]));
            sum = add(sum, add(around.back[i + 1], around.beyond[i]));
            let sides = &around.sides[..around.side_count];
            let near = sides.iter().fold(0, |near, side| add(near, side[i]));
            sum = add(sum, if around.double { add(near, near) } else { near });
            let bin = FLOORS.iter().filter(|&&floor| sum >= floor).count();
            let idle = i >= count;
            out.sums[i] = if idle { 0 } else { sum };
            out.numbers[i] = if idle { CONTEXTS } else { base + bin } as u8;
            if !idle && sum > 0 {
                let here = if sum >= large {
                    Activity::Large
                } else {
                    Activity::Small
                };
                *activity = here.max(*activity);
            }
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
            store(out, at, each(residuals, magnitude));
        }
    }
}
