//! Rows of a chunk whose axes may be permuted.

use super::geometry::Extents;

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
    values: &'a [T],
    extents: Extents,
    strides: Extents,
    copy: &'a mut Vec<T>,
) -> (&'a [T], Extents) {
    if strides[2] == 1 {
        return (values, strides);
    }
    copy.resize(values.len(), T::default());
    each_index(extents, strides, |at, place| copy[at] = values[place]);
    (copy, contiguous_strides(extents))
}

/// The inverse of [`gather`].
pub(super) fn scatter<T: Copy>(copy: &[T], extents: Extents, strides: Extents, values: &mut [T]) {
    each_index(extents, strides, |at, place| values[place] = copy[at]);
}

/// Strides of a contiguous array in C order.
pub(super) fn contiguous_strides(extents: Extents) -> Extents {
    [extents[1] * extents[2], extents[2], 1]
}

/// Calls `f` with the index of each value in the copy and in the chunk, in tiles that touch few
/// cache lines on either side.
#[inline(always)]
fn each_index(extents: Extents, strides: Extents, mut f: impl FnMut(usize, usize)) {
    const TILE: usize = 16;
    let steps = contiguous_strides(extents);
    // The slow axis with the smaller stride in the chunk, and the other.
    let (inner, outer) = if strides[0] < strides[1] {
        (0, 1)
    } else {
        (1, 0)
    };
    for o in 0..extents[outer] {
        let (at, place) = (o * steps[outer], o * strides[outer]);
        for first in (0..extents[inner]).step_by(TILE) {
            for first_x in (0..extents[2]).step_by(TILE) {
                for x in first_x..extents[2].min(first_x + TILE) {
                    for i in first..extents[inner].min(first + TILE) {
                        f(
                            at + i * steps[inner] + x,
                            place + i * strides[inner] + x * strides[2],
                        );
                    }
                }
            }
        }
    }
}
