//! Rows of a chunk whose axes may be permuted.

use super::geometry::Extents;
use super::kernel::{Kernel, launch};
use super::pack::{load, store};
use crate::simd::Level as Isa;

/// The row at (z, y), gathered into `copy` unless it is contiguous.
pub(super) fn read<'a, T: Copy>(
    values: &'a [T],
    extents: Extents,
    strides: Extents,
    (z, y): (usize, usize),
    copy: &mut Vec<T>,
) -> Option<&'a [T]> {
    let start = z * strides[0] + y * strides[1];
    if strides[2] == 1 {
        return Some(&values[start..start + extents[2]]);
    }
    copy.clear();
    copy.extend((0..extents[2]).map(|x| values[start + x * strides[2]]));
    None
}

/// Writes the row at (z, y) with `fill`, through `copy` unless it is contiguous.
pub(super) fn write<T: Copy + Default>(
    values: &mut [T],
    extents: Extents,
    strides: Extents,
    (z, y): (usize, usize),
    copy: &mut Vec<T>,
    fill: &mut dyn FnMut(&mut [T]),
) {
    let start = z * strides[0] + y * strides[1];
    if strides[2] == 1 {
        return fill(&mut values[start..start + extents[2]]);
    }
    copy.resize(extents[2], T::default());
    fill(copy);
    for (x, &value) in copy.iter().enumerate() {
        values[start + x * strides[2]] = value;
    }
}

/// A chunk with contiguous rows, and its strides: the chunk itself, or a transposed copy in `copy`.
pub(super) fn gather<'a, T: Copy + Default>(
    isa: Isa,
    values: &'a [T],
    extents: Extents,
    strides: Extents,
    copy: &'a mut Vec<T>,
) -> (&'a [T], Extents) {
    if strides[2] == 1 {
        return (values, strides);
    }
    copy.resize(values.len(), T::default());
    let steps = contiguous_strides(extents);
    let (inner, outer) = slow_axes(strides);
    for o in 0..extents[outer] {
        let kernel = Transpose {
            from: &values[o * strides[outer]..],
            from_pitch: strides[2],
            to: &mut copy[o * steps[outer]..],
            to_pitch: steps[inner],
            extents: [extents[2], extents[inner]],
        };
        launch(isa, kernel);
    }
    (copy, steps)
}

/// The inverse of [`gather`].
pub(super) fn scatter<T: Copy + Default>(
    isa: Isa,
    copy: &[T],
    extents: Extents,
    strides: Extents,
    values: &mut [T],
) {
    let steps = contiguous_strides(extents);
    let (inner, outer) = slow_axes(strides);
    for o in 0..extents[outer] {
        let kernel = Transpose {
            from: &copy[o * steps[outer]..],
            from_pitch: steps[inner],
            to: &mut values[o * strides[outer]..],
            to_pitch: strides[2],
            extents: [extents[inner], extents[2]],
        };
        launch(isa, kernel);
    }
}

/// Strides of a contiguous array in C order.
pub(super) fn contiguous_strides(extents: Extents) -> Extents {
    [extents[1] * extents[2], extents[2], 1]
}

/// The slow axis whose values are adjacent in the chunk, and the other.
fn slow_axes(strides: Extents) -> (usize, usize) {
    if strides[0] < strides[1] {
        (0, 1)
    } else {
        (1, 0)
    }
}

/// Transposes a matrix whose rows and columns have the given extents.
struct Transpose<'a, T> {
    from: &'a [T],
    from_pitch: usize,
    to: &'a mut [T],
    to_pitch: usize,
    extents: [usize; 2],
}

impl<T: Copy + Default> Kernel for Transpose<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A tile reads and writes whole cache lines.
        const TILE: usize = 16;
        let [rows, columns] = self.extents;
        for row in (0..rows).step_by(TILE) {
            for column in (0..columns).step_by(TILE) {
                let from = &self.from[row * self.from_pitch + column..];
                let to = &mut self.to[column * self.to_pitch + row..];
                let (high, wide) = (TILE.min(rows - row), TILE.min(columns - column));
                if high < TILE || wide < TILE {
                    for r in 0..high {
                        for c in 0..wide {
                            to[c * self.to_pitch + r] = from[r * self.from_pitch + c];
                        }
                    }
                    continue;
                }
                let mut tile = [[T::default(); TILE]; TILE];
                for r in 0..TILE {
                    let line: [T; TILE] = load(from, r * self.from_pitch);
                    for (column, value) in tile.iter_mut().zip(line) {
                        column[r] = value;
                    }
                }
                for (c, line) in tile.into_iter().enumerate() {
                    store(to, c * self.to_pitch, line);
                }
            }
        }
    }
}
