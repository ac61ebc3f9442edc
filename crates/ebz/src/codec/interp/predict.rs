//! Prediction by interpolation along the odd axes of a class, from reconstructed values.

use super::geometry::Level;
use super::number::Number;
use super::pack::Taps;

/// How a class is predicted: the mean of 1-D interpolations along some of its odd axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Predictor {
    /// Axes used, as bits of the class; no axes predict zero.
    pub(super) axes: u8,
    /// Cubic rather than linear.
    pub(super) cubic: bool,
    /// Predicts half of the interpolated value.
    pub(super) half: bool,
}

impl Predictor {
    /// Bits of [`Predictor::code`].
    pub(super) const CODE_BITS: u32 = 5;

    /// The predictor of classes too small for a choice.
    pub(super) fn fallback(class: usize) -> Self {
        Self {
            axes: class as u8,
            cubic: true,
            half: false,
        }
    }

    /// The stored code.
    pub(super) fn code(self) -> u32 {
        u32::from(self.axes) | u32::from(self.cubic) << 3 | u32::from(self.half) << 4
    }

    /// From a stored code; axes that are not odd in the class are ignored.
    pub(super) fn from_code(code: u32, class: usize) -> Self {
        Self {
            axes: (code & 7) as u8 & class as u8,
            cubic: code & 8 != 0,
            half: code & 16 != 0,
        }
    }

    /// Weight of each axis.
    pub(super) fn weight<T: Number>(self) -> T {
        let scale = if self.half { 0.5 } else { 1.0 };
        T::from_f64(scale / f64::from(self.axes.count_ones().max(1)))
    }
}

/// Indices and weights of the samples around the point between samples `j` and `j + 1` of `n`.
pub(super) fn positions(cubic: bool, j: usize, n: usize) -> ([usize; 4], [f64; 4]) {
    let (before, after) = (j >= 1, j + 2 < n);
    if j + 1 >= n {
        // Extrapolate beyond the last sample.
        return match j {
            0 => ([0; 4], [0.0, 1.0, 0.0, 0.0]),
            _ if cubic && j >= 2 => ([j - 2, j - 1, j, j], [0.375, -1.25, 1.875, 0.0]),
            _ => ([j, j - 1, j, j], [0.0, -0.5, 1.5, 0.0]),
        };
    }
    match (cubic, before, after) {
        (true, true, true) => ([j - 1, j, j + 1, j + 2], CUBIC),
        (true, true, false) => ([j - 1, j, j + 1, j + 1], [-0.125, 0.75, 0.375, 0.0]),
        (true, false, true) => ([j, j, j + 1, j + 2], [0.0, 0.375, 0.75, -0.125]),
        _ => ([j, j, j + 1, j + 1], LINEAR),
    }
}

const CUBIC: [f64; 4] = [-0.0625, 0.5625, 0.5625, -0.0625];
const LINEAR: [f64; 4] = [0.0, 0.5, 0.5, 0.0];

/// The neighbours of a row of `class` along one odd axis (0 = z, 1 = y, 2 = x).
#[inline(always)]
pub(super) fn taps<T: Number>(
    level: &Level,
    class: usize,
    axis: usize,
    (cubic, weight): (bool, T),
    (z, y): (usize, usize),
) -> Taps<T> {
    let from = &level.classes[class ^ (4 >> axis)];
    let (starts, weights) = match axis {
        0 => {
            let (at, weights) = positions(cubic, z, from.extents[0]);
            (at.map(|z| from.row(z, y)), weights)
        }
        1 => {
            let (at, weights) = positions(cubic, y, from.extents[1]);
            (at.map(|y| from.row(z, y)), weights)
        }
        _ => {
            let start = from.row(z, y);
            let starts = [start - 1, start, start + 1, start + 2];
            (starts, if cubic { CUBIC } else { LINEAR })
        }
    };
    Taps {
        starts,
        weights: weights.map(|w| T::from_f64(w) * weight),
        pitch: from.y_pitch,
    }
}

/// Number of rows from `y` on whose neighbours along y, `count` in all, are at the same distances.
pub(super) fn rows_alike(cubic: bool, y: usize, count: usize) -> usize {
    let (first, margin) = if cubic { (1, 2) } else { (0, 1) };
    match count.saturating_sub(margin) {
        end if y >= first && y < end => end - y,
        _ => 1,
    }
}

/// Extrapolates a row at both ends, so that interpolation along x needs no special cases.
///
/// Linear and cubic interpolation then give the same as [`positions`] for the other axes. `even`:
/// the last odd point has no neighbour to its right.
pub(super) fn extend<T: Number>(buffer: &mut [T], start: usize, count: usize, even: bool) {
    let [two, three, six, ten] = [2.0, 3.0, 6.0, 10.0].map(T::from_f64);
    let at = |i: usize| buffer[start + i];
    let last = at(count - 1);
    let (left, right) = if count >= 3 {
        let (b, c) = (at(count - 2), at(count - 3));
        let left = three * at(0) - three * at(1) + at(2);
        let right = if even {
            [two * last - b, ten * b - three * last - six * c]
        } else {
            [three * last - three * b + c; 2]
        };
        (left, right)
    } else if count == 2 && even {
        (at(0), [two * last - at(0); 2])
    } else {
        (at(0), [last; 2])
    };
    buffer[start - 1] = left;
    buffer[start + count] = right[0];
    buffer[start + count + 1] = right[1];
}
