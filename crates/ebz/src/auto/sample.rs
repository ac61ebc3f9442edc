//! Samples: boxes spread over an array.

use crate::array::View;
use crate::element::Element;
use crate::error::Result;

/// A box of at most `most` values, as a view; the whole array if that is not larger. Boxes of other numbers
/// lie elsewhere.
pub(super) fn part<'a, T: Element>(
    view: &View<'a, T>,
    most: usize,
    number: usize,
) -> Result<View<'a, T>> {
    let shape = box_shape(view.shape(), most);
    let layout = &view.layout;
    let axes = view.shape().iter().zip(&shape).zip(&layout.strides);
    let offset = axes.enumerate().fold(
        layout.offset as isize,
        |at, (axis, ((&extent, &part), stride))| {
            at + place(number, axis, extent - part) as isize * stride
        },
    );
    View::strided(view.data, &shape, &layout.strides, offset as usize)
}

/// Extents of a box: the longest of the last three axes is halved until the box is small enough.
fn box_shape(shape: &[usize], most: usize) -> Vec<usize> {
    let mut part: Vec<usize> = shape.to_vec();
    if part.iter().product::<usize>() <= most {
        return part;
    }
    // The arrays along leading axes may be different quantities.
    let inner = shape.len().saturating_sub(3);
    part[..inner].fill(1);
    while part.iter().product::<usize>() > most {
        // Allow rows to be twice as long as the other axes.
        let rows = shape.len() - 1;
        let weight = |axis: usize| part[axis].saturating_mul(if axis == rows { 1 } else { 2 });
        let longest = (inner..shape.len()).rev().max_by_key(|&axis| weight(axis));
        let axis = longest.unwrap_or(rows);
        part[axis] = part[axis].div_ceil(2);
    }
    part
}

/// Start of a box along an axis where it can be shifted by `free` values: multiples of irrational
/// numbers modulo one (in units of 2⁻³²), which are evenly distributed.
fn place(number: usize, axis: usize, free: usize) -> usize {
    const STEPS: [u64; 4] = [0xc13f_a9a9, 0x91e1_0da5, 0xd1b5_4a33, 0x9e37_79b9];
    let fraction = (STEPS[axis % 4] * (2 * number as u64 + 1) / 2 + (1 << 30)) & 0xffff_ffff;
    ((u128::from(fraction) * (free as u128 + 1)) >> 32) as usize
}
