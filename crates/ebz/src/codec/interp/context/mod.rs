//! Contexts: the magnitude of the residuals around a value, from earlier rows and classes only.
//!
//! Input: magnitudes of known residuals. Output: a context index per lane, and the sum that it is
//! derived from. Nothing depends on the same row, so a whole row is coded at once.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

use crate::codec::interp::kernel::Kernel;
use crate::codec::interp::pack::{each, load, store};
use crate::simd::Level as Isa;
use crate::stage::rans::LANES;

/// Bins of the sum of neighbouring magnitudes.
pub(super) const BINS: usize = 16;
/// Kinds of rows with contexts of their own.
pub(super) const KINDS: usize = 6;
/// Number of contexts; also the context index of idle lanes.
pub(super) const CONTEXTS: usize = BINS * KINDS;

/// The smallest sum of each bin but the first.
const BIN_THRESHOLDS: [u8; BINS - 1] = [1, 2, 3, 4, 6, 8, 11, 16, 32, 48, 64, 96, 128, 176, 224];

/// The smallest sums at which 1, 2, … low bits are stored raw, for kinds 0 to 2 and again for 3 to
/// 5: the low bits of large residuals are noise.
const LOW_BIT_THRESHOLDS: [[u8; MAX_LOW_BITS]; 3] = [
    [32, 48, 96, 96, 128, 176],
    [48, 96, 176, 176, 224, 255],
    [48, 96, 176, 224, 255, 255],
];
/// Most low bits of a residual that are stored raw.
pub(super) const MAX_LOW_BITS: usize = 6;

/// The low-bit thresholds of a kind.
pub(super) fn low_bit_thresholds(kind: usize) -> &'static [u8; MAX_LOW_BITS] {
    &LOW_BIT_THRESHOLDS[kind % 3]
}

/// Magnitude class of a residual: exact up to 8, then increasingly coarse, at most 31.
#[inline(always)]
pub(super) fn magnitude(residual: i16) -> u8 {
    let a = residual.unsigned_abs();
    (a.min(8) + (a >> 3).min(8) + (a >> 6).min(8) + (a >> 9).min(7)) as u8
}

/// Where the magnitudes of the rows around a row start. Each row is followed by as many lanes as the
/// row has, and by one more at both ends.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// The previous row of the same class.
    pub(super) up: usize,
    /// The row in the previous plane.
    pub(super) back: usize,
    /// A further row next to `back`.
    pub(super) beyond: usize,
    /// Distance to the same rows of the next row.
    pub(super) pitch: usize,
    /// Direct neighbours along the odd axes, two for each; the first `side_count` are used.
    pub(super) sides: [usize; 6],
    pub(super) side_pitches: [usize; 6],
    pub(super) side_count: usize,
    /// Direct neighbours have double weight.
    pub(super) double: bool,
}

impl Around {
    /// Advances to the next row.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.up += self.pitch;
        self.back += self.pitch;
        self.beyond += self.pitch;
        for (side, pitch) in self.sides.iter_mut().zip(self.side_pitches) {
            *side += pitch;
        }
    }
}

/// Contexts of one row.
#[derive(Default)]
pub(super) struct Contexts {
    pub(super) kind: usize,
    pub(super) indices: Vec<u8>,
    pub(super) sums: Vec<u8>,
    /// Activity around each segment.
    pub(super) activity: Vec<Activity>,
}

/// Activity around a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Activity {
    /// All residuals are zero.
    Quiet,
    /// Small residuals.
    Small,
    /// Residuals so large that low bits of some lanes are stored raw.
    Large,
}

impl Contexts {
    /// Resizes the buffers for a row.
    pub(super) fn resize(&mut self, lanes: usize, kind: usize) {
        self.kind = kind;
        self.indices.resize(lanes, 0);
        self.sums.resize(lanes, 0);
        self.activity.resize(lanes / LANES, Activity::Quiet);
    }
}

/// Computes the contexts of `count` values from the magnitudes of all rows.
pub(super) fn classify(
    isa: Isa,
    magnitudes: &[u8],
    around: &Around,
    count: usize,
    out: &mut Contexts,
) {
    match (isa, around.side_count) {
        // SAFETY: a level exists only where the machine has its instructions.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2(_) | Isa::Avx512(_), sides) => unsafe {
            match sides {
                0 => avx2::classify::<0>(magnitudes, around, count, out),
                2 => avx2::classify::<2>(magnitudes, around, count, out),
                4 => avx2::classify::<4>(magnitudes, around, count, out),
                _ => avx2::classify::<6>(magnitudes, around, count, out),
            }
        },
        _ => portable(magnitudes, around, count, out),
    }
}

fn portable(magnitudes: &[u8], around: &Around, count: usize, out: &mut Contexts) {
    let base = out.kind * BINS;
    let large = low_bit_thresholds(out.kind)[0];
    let segments = out.activity.iter_mut().enumerate();
    for (segment, activity) in segments {
        *activity = Activity::Quiet;
        for i in segment * LANES..(segment + 1) * LANES {
            let add = u8::saturating_add;
            let at = |start: usize| magnitudes[start + i];
            let mut sum = add(at(around.up), at(around.back));
            sum = add(sum, sum);
            sum = add(sum, add(at(around.up - 1), at(around.up + 1)));
            sum = add(sum, add(at(around.back + 1), at(around.beyond)));
            let sides = &around.sides[..around.side_count];
            let near = sides.iter().fold(0, |near, &side| add(near, at(side)));
            sum = add(sum, if around.double { add(near, near) } else { near });
            let bin = BIN_THRESHOLDS
                .iter()
                .filter(|&&threshold| sum >= threshold)
                .count();
            let idle = i >= count;
            out.sums[i] = if idle { 0 } else { sum };
            out.indices[i] = if idle { CONTEXTS } else { base + bin } as u8;
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
