//! How a grid is split: planes along the slowest axis, grouped into slabs.

use ebz::{ElementType, Error, Result, element_count};
use std::ops::Range;

/// Raw size of a slab by default: small enough that decoded values are still in the cache when the
/// stencil reads them.
const TARGET_SLAB_BYTES: usize = 2 << 20;

/// Type and extents of a grid, and the number of planes encoded together.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Layout {
    element: ElementType,
    shape: Vec<usize>,
    slab: usize,
}

impl Layout {
    /// Slabs of `slab` planes, or of about 2 MiB.
    pub fn new(element: ElementType, shape: &[usize], slab: Option<usize>) -> Result<Self> {
        let values = element_count(shape)?;
        if values == 0 || shape.is_empty() || slab == Some(0) {
            return Err(Error::invalid("a grid needs extents of at least 1"));
        }
        let bytes = values / shape[0] * element.size();
        // Enough slabs to distribute among threads.
        let max_planes = (shape[0] / 32).max(2);
        let slab = slab
            .unwrap_or((TARGET_SLAB_BYTES / bytes).clamp(2, max_planes))
            .min(shape[0]);
        Ok(Self {
            element,
            shape: shape.to_vec(),
            slab,
        })
    }

    /// Element type.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Extents, slowest axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of planes.
    pub fn planes(&self) -> usize {
        self.shape[0]
    }

    /// Values per plane.
    pub fn plane_len(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// Planes per slab; the last slab may have fewer.
    pub fn slab_planes(&self) -> usize {
        self.slab
    }

    /// Size of a full slab.
    pub fn slab_bytes(&self) -> usize {
        self.slab * self.plane_len() * self.element.size()
    }

    /// Size of the grid.
    pub fn bytes(&self) -> u64 {
        (self.planes() * self.plane_len() * self.element.size()) as u64
    }

    /// Number of slabs.
    pub fn slabs(&self) -> usize {
        self.planes().div_ceil(self.slab)
    }

    /// The planes of a slab.
    pub fn planes_of(&self, slab: usize) -> Range<usize> {
        slab * self.slab..((slab + 1) * self.slab).min(self.planes())
    }

    /// The slabs that cover these planes.
    pub fn slabs_of(&self, planes: &Range<usize>) -> Range<usize> {
        planes.start / self.slab..planes.end.div_ceil(self.slab)
    }

    /// Chunk extents for the codec.
    pub(super) fn chunk(&self) -> Vec<usize> {
        let mut chunk = self.shape.clone();
        chunk[0] = self.slab;
        chunk
    }

    /// Splits the planes into at most `count` ranges of whole slabs, of nearly equal size.
    pub(super) fn shares(&self, count: usize) -> Vec<Range<usize>> {
        let slabs = self.slabs();
        let count = count.clamp(1, slabs);
        (0..count)
            .map(|i| {
                let (first, end) = (slabs * i / count, slabs * (i + 1) / count);
                self.planes_of(first).start..self.planes_of(end - 1).end
            })
            .collect()
    }
}
