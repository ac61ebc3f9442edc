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
