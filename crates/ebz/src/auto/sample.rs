//! Samples: boxes spread over an array.

use crate::array::{View, gather};
use crate::element::Element;
use crate::favor::Favor;

/// The number of boxes grows with that of the arrays along leading axes, up to this factor.
const MAX_ARRAYS: usize = 4;

/// Number and size of the boxes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Maximum number of values of a box.
    values: usize,
    boxes: usize,
}

impl Extent {
    /// Large enough that codecs mostly compare as on whole chunks, and small enough to take
    /// 1 to 2 % of the encoding time of 64 MiB, which is longer if only the ratio counts.
    /// Arrays with masks need more boxes to be represented.
    pub const fn usual(favor: Favor, masked: bool) -> Self {
        let boxes = match (favor, masked) {
            (Favor::Speed | Favor::Balanced, false) => 2,
            _ => 8,
        };
        Self {
            values: 1 << 14,
            boxes,
        }
    }

    /// Fewer and larger boxes, for arrays that compress so well that the fixed costs of a chunk
    /// matter.
    pub const fn large(favor: Favor, masked: bool) -> Self {
        Self {
            values: 1 << 16,
            boxes: Self::usual(favor, masked).boxes / 2,
        }
    }

    /// Boxes like small chunks, for an array of this many values that is itself not much larger.
    pub const fn whole_chunks(values: usize) -> Option<Self> {
        if values > 1 << 21 {
            return None;
        }
        Some(Self {
            values: 1 << 18,
            boxes: 1,
        })
    }
}

/// The values of the boxes, concatenated.
pub(super) struct Sample<T> {
    shape: Vec<usize>,
    values: Vec<T>,
    /// Number of values of the array.
    whole: usize,
}

impl<T: Element> Sample<T> {
    /// A sample of an array; the whole array if that is not larger.
    pub fn of(view: &View<'_, T>, extent: Extent) -> Self {
        let whole = view.shape().iter().product();
        let shape = box_shape(view.shape(), extent.values);
        let length: usize = shape.iter().product();
        // The arrays along leading axes may be different quantities.
        let inner = view.shape().len().saturating_sub(3);
        let arrays: usize = view.shape()[..inner].iter().product();
        let boxes = match length == whole {
            true => 1,
            false => extent.boxes * arrays.clamp(1, MAX_ARRAYS),
        };
        let mut values = vec![T::default(); boxes * length];
        let layout = &view.layout;
        for (number, out) in values.chunks_exact_mut(length.max(1)).enumerate() {
            let axes = view.shape().iter().zip(&shape).zip(&layout.strides);
            let offset = axes.enumerate().fold(
                layout.offset as isize,
                |at, (axis, ((&extent, &part), stride))| {
                    at + place(number, axis, extent - part) as isize * stride
                },
            );
            gather(view.data, &shape, &layout.strides, offset as usize, out);
        }
        Self {
            shape,
            values,
            whole,
        }
    }

    /// Extents of a box.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values of each box.
    pub fn boxes(&self) -> impl Iterator<Item = &[T]> {
        let length: usize = self.shape.iter().product();
        self.values.chunks_exact(length.max(1))
    }

    /// All values.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Bytes of all values.
    pub fn raw_bytes(&self) -> u64 {
        size_of_val(&self.values[..]) as u64
    }

    /// Fraction of the values of the array; boxes may overlap in small arrays.
    pub fn share(&self) -> f64 {
        (self.values.len() as f64 / self.whole.max(1) as f64).min(1.0)
    }
}

/// Extents of a box: the longest of the last three axes is halved until the box is small enough.
fn box_shape(shape: &[usize], most: usize) -> Vec<usize> {
    let inner = shape.len().saturating_sub(3);
    let mut part: Vec<usize> = shape.to_vec();
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
