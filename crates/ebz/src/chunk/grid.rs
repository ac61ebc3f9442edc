//! How an array is split into chunks.

use crate::array::{PerAxis, contiguous_strides, display, element_count};
use crate::codec::Dims;
use crate::error::{Error, Result};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::ops::Range;

/// Raw size of automatically chosen chunks.
const TARGET_CHUNK_BYTES: usize = 2 << 20;
/// Maximum number of values of an automatically chosen box.
const MAX_BOX_VALUES: usize = (8 << 20) / 5;

/// Maximum raw size of a chunk, which readers must be able to hold.
pub(crate) const MAX_CHUNK_BYTES: usize = 1 << 30;

/// An array split into chunks, numbered in C order.
///
/// A *slab* is a run of chunks that together hold a contiguous part of the array. Chunks of whole
/// rows and planes, the default, are slabs by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    shape: PerAxis<usize>,
    chunk: PerAxis<usize>,
    /// Chunks along each axis.
    counts: PerAxis<usize>,
    /// First axis along which a chunk is longer than 1; slabs are cut along it.
    split: usize,
}

impl Grid {
    /// A grid with chunks of the given extents.
    pub fn new(shape: &[usize], chunk: &[usize], element_size: usize) -> Result<Self> {
        element_count(shape)?;
        if chunk.len() != shape.len() || chunk.contains(&0) {
            return Err(Error::invalid(format!(
                "chunks of {} for an array of shape {}: give one extent of at least 1 per axis",
                display(chunk),
                display(shape)
            )));
        }
        let chunk: PerAxis<_> = chunk
            .iter()
            .zip(shape)
            .map(|(&c, &s)| c.min(s.max(1)))
            .collect();
        let bytes = element_count(&chunk)?.saturating_mul(element_size);
        if bytes > MAX_CHUNK_BYTES {
            return Err(Error::invalid(format!(
                "chunks of {} have {bytes} bytes: the maximum is {MAX_CHUNK_BYTES}",
                display(&chunk)
            )));
        }
        let counts: PerAxis<_> = shape
            .iter()
            .zip(&chunk)
            .map(|(&s, &c)| s.div_ceil(c))
            .collect();
        let split = (0..shape.len())
            .find(|&axis| chunk[axis] > 1)
            .unwrap_or(shape.len().saturating_sub(1));
        let grid = Self {
            shape: shape.into(),
            chunk,
            counts,
            split,
        };
        if u32::try_from(grid.chunks()).is_err() {
            return Err(Error::invalid(
                "more than 2^32 chunks: choose larger chunks".to_string(),
            ));
        }
        Ok(grid)
    }

    /// A grid of contiguous chunks of about 2 MiB, all of nearly the same size.
    pub fn automatic(shape: &[usize], element_size: usize) -> Result<Self> {
        element_count(shape)?;
        let target = TARGET_CHUNK_BYTES / element_size;
        let mut chunk: PerAxis<_> = smallvec![1; shape.len()];
        let mut inner = 1usize;
        for axis in (0..shape.len()).rev() {
            let extent = shape[axis].max(1);
            // Exceed the target for at least four planes: the first plane of a chunk compresses
            // badly.
            let most = (target / inner).max(if inner <= 2 * target { 4 } else { 1 });
            let parts = extent.div_ceil(most);
            chunk[axis] = extent.div_ceil(parts);
            if parts > 1 && chunk[axis] > 4 {
                // Whole blocks for codecs with blocks of 4 per axis.
                chunk[axis] = chunk[axis].next_multiple_of(4);
            }
            inner *= chunk[axis];
            if parts > 1 {
                break;
            }
        }
        Self::new(shape, &chunk, element_size)
    }

    /// A grid of boxes of about 2²⁰ values: the longest of the last three axes is halved until the
    /// box fits. Chunks have extent 1 along further axes, unless that would make them tiny.
    pub fn boxes(shape: &[usize], element_size: usize) -> Result<Self> {
        element_count(shape)?;
        let mut chunk: PerAxis<_> = smallvec![1; shape.len()];
        let inner = shape.len().saturating_sub(3);
        for axis in inner..shape.len() {
            chunk[axis] = shape[axis].max(1);
        }
        let bytes = |chunk: &[usize]| chunk.iter().fold(element_size, |n, &c| n.saturating_mul(c));
        while bytes(&chunk) > element_size.saturating_mul(MAX_BOX_VALUES) {
            // Rows may be twice as long as the other axes.
            let rows = shape.len() - 1;
            let weight = |axis: usize| chunk[axis].saturating_mul(if axis == rows { 1 } else { 2 });
            let longest = (inner..shape.len()).rev().max_by_key(|&axis| weight(axis));
            let axis = longest.unwrap_or(rows);
            chunk[axis] = chunk[axis].div_ceil(2);
        }
        for axis in (0..inner).rev() {
            let whole = bytes(&chunk).saturating_mul(shape[axis].max(1));
            if whole > TARGET_CHUNK_BYTES / 8 {
                break;
            }
            chunk[axis] = shape[axis].max(1);
        }
        Self::new(shape, &chunk, element_size)
    }

    /// Extents of the array.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Extents of a chunk; the last chunk along an axis may be shorter.
    pub fn chunk(&self) -> &[usize] {
        &self.chunk
    }

    /// The box of the whole array.
    pub(crate) fn whole(&self) -> PerAxis<Range<usize>> {
        self.shape.iter().map(|&n| 0..n).collect()
    }

    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        self.counts.iter().product()
    }

    /// Number of slabs.
    pub fn slabs(&self) -> usize {
        match self.chunks() {
            0 => 0,
            _ => self.counts.iter().take(self.split + 1).product(),
        }
    }

    /// Chunks per slab.
    pub(crate) fn chunks_per_slab(&self) -> usize {
        self.counts.iter().skip(self.split + 1).product()
    }

    /// Indices of the chunks of a slab.
    pub(crate) fn chunks_of(&self, slab: usize) -> Range<usize> {
        let per_slab = self.chunks_per_slab();
        slab * per_slab..(slab + 1) * per_slab
    }

    /// The box of the array that a chunk covers.
    pub fn region(&self, chunk: usize) -> Vec<Range<usize>> {
        self.chunk_box(chunk).into_vec()
    }

    /// [`Grid::region`] without an allocation.
    pub(crate) fn chunk_box(&self, chunk: usize) -> PerAxis<Range<usize>> {
        if self.chunks() == 1 {
            return self.whole();
        }
        let mut rest = chunk;
        let mut region: PerAxis<_> = smallvec![0..0; self.shape.len()];
        for axis in (0..self.shape.len()).rev() {
            let start = rest % self.counts[axis] * self.chunk[axis];
            rest /= self.counts[axis];
            region[axis] = start..(start + self.chunk[axis]).min(self.shape[axis]);
        }
        region
    }

    /// The box of the array that a slab covers.
    pub(crate) fn slab_box(&self, slab: usize) -> PerAxis<Range<usize>> {
        let mut region = self.chunk_box(slab * self.chunks_per_slab());
        for (range, &extent) in region.iter_mut().zip(&self.shape).skip(self.split + 1) {
            *range = 0..extent;
        }
        region
    }

    /// The slabs that intersect a non-empty box, in order.
    pub(crate) fn slabs_touching(&self, region: &[Range<usize>]) -> SmallVec<[usize; 4]> {
        let mut slabs = smallvec![0];
        for (axis, range) in region.iter().enumerate().take(self.split + 1) {
            let first = range.start / self.chunk[axis];
            let last = (range.end - 1) / self.chunk[axis];
            slabs = slabs
                .iter()
                .flat_map(|s| (first..=last).map(move |i| s * self.counts[axis] + i))
                .collect();
        }
        slabs
    }

    /// Number of values in a chunk.
    pub fn chunk_len(&self, chunk: usize) -> usize {
        self.chunk_box(chunk).iter().map(Range::len).product()
    }

    /// Numbers of values that chunks have, each with how many chunks have it: a few of them, even if
    /// there are billions of chunks.
    pub(crate) fn chunk_lens(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let mut lens = BTreeMap::from([(1, 1)]);
        for (&extent, &chunk) in self.shape.iter().zip(&self.chunk) {
            let mut longer = BTreeMap::new();
            for (len, count) in lens {
                for (len, count) in [
                    (len * chunk, count * (extent / chunk)),
                    (len * (extent % chunk), count),
                ] {
                    if len * count > 0 {
                        *longer.entry(len).or_insert(0) += count;
                    }
                }
            }
            lens = longer;
        }
        lens.into_iter()
    }
}

/// Extents of a box as a codec sees them.
pub(crate) fn dims(extents: &[usize]) -> Dims {
    let axes = extents.len();
    let at = |back: usize| axes.checked_sub(back).map_or(1, |axis| extents[axis]);
    Dims {
        nz: extents[..axes.saturating_sub(2)].iter().product(),
        ny: at(2),
        nx: at(1),
    }
}

/// Extents of a box.
pub(crate) fn extents(region: &[Range<usize>]) -> PerAxis<usize> {
    region.iter().map(Range::len).collect()
}

/// The intersection of two boxes.
pub(crate) fn intersect(a: &[Range<usize>], b: &[Range<usize>]) -> PerAxis<Range<usize>> {
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            let start = a.start.max(b.start);
            start..a.end.min(b.end).max(start)
        })
        .collect()
}

/// Offset of the first element of `inner` in a contiguous array that holds the box `outer`.
pub(crate) fn origin(inner: &[Range<usize>], outer: &[Range<usize>]) -> usize {
    let strides = contiguous_strides(&extents(outer));
    inner
        .iter()
        .zip(outer)
        .zip(strides)
        .map(|((i, o), stride)| (i.start - o.start) * stride as usize)
        .sum()
}
