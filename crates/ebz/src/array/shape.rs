//! Shapes: extents of the axes, slowest first.

use crate::error::{Error, Result};
use smallvec::{SmallVec, smallvec};

/// Maximum number of axes.
pub const MAX_AXES: usize = 16;

/// One item per axis; on the heap only beyond four axes, because an allocation takes as long as encoding a few hundred
/// values.
pub(crate) type PerAxis<T> = SmallVec<[T; 4]>;

/// Number of elements of this shape; an error if it has too many axes or elements.
pub fn element_count(shape: &[usize]) -> Result<usize> {
    if shape.len() > MAX_AXES {
        return Err(Error::invalid(format!(
            "{} axes: at most {MAX_AXES} are supported",
            shape.len()
        )));
    }
    // Keeps byte counts and signed offsets from overflowing.
    const MAX_ELEMENTS: usize = isize::MAX as usize / 16;
    let mut count: usize = 1;
    let mut nonzero: usize = 1;
    for &extent in shape {
        count = count.saturating_mul(extent);
        nonzero = nonzero.saturating_mul(extent.max(1));
    }
    if nonzero > MAX_ELEMENTS {
        return Err(Error::invalid(format!(
            "an array of shape {} has more elements than this machine can address",
            display(shape)
        )));
    }
    Ok(count)
}

/// Strides, in elements, of a contiguous array.
pub(crate) fn contiguous_strides(shape: &[usize]) -> PerAxis<isize> {
    let mut strides = smallvec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
    }
    strides
}

/// A shape in the form `100x500x500`.
pub(crate) fn display(shape: &[usize]) -> String {
    let extents: Vec<_> = shape.iter().map(usize::to_string).collect();
    extents.join("x")
}
