//! Rows of a chunk whose axes may have been put into another order.

use super::geometry::Extents;

/// The row at (z, y), gathered into `copy` unless its values are adjacent.
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

/// Lets `fill` write the row at (z, y), by way of `copy` unless its values are adjacent.
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

/// A chunk whose rows have adjacent values, and how far apart neighbours are: a copy in `copy`, with the
/// axes in order, unless it is that already.
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
    each_place(extents, strides, |at, place| copy[at] = values[place]);
    (copy, in_order(extents))
}

/// The way back of [`gather`].
pub(super) fn scatter<T: Copy>(copy: &[T], extents: Extents, strides: Extents, values: &mut [T]) {
    each_place(extents, strides, |at, place| values[place] = copy[at]);
}

/// How far apart neighbours are if the axes are in order.
pub(super) fn in_order(extents: Extents) -> Extents {
    [extents[1] * extents[2], extents[2], 1]
}

/// Calls `f` with the place of each value in order and in the chunk, in tiles that have few cache lines
/// on either side.
#[inline(always)]
fn each_place(extents: Extents, strides: Extents, mut f: impl FnMut(usize, usize)) {
    const TILE: usize = 16;
    let steps = in_order(extents);
    // The slower axis along which values are adjacent in the chunk, and the other.
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
