//! How a grid is cut: planes along the slowest axis, and slabs of a few planes each.

use ebz::{Error, Result, element_count};
use std::ops::Range;

/// Raw bytes of a slab that the library aims at: what is decoded should still be in the cache when
/// the stencil comes to it.
const SEGMENT_BYTES: usize = 2 << 20;

/// Extents of a grid of `f64`, and the planes that are coded together.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Layout {
    shape: Vec<usize>,
    slab: usize,
}

impl Layout {
    /// Slabs of `slab` planes, or of about 2 MiB.
    pub fn new(shape: &[usize], slab: Option<usize>) -> Result<Self> {
        let values = element_count(shape)?;
        if values == 0 || shape.is_empty() || slab == Some(0) {
            return Err(Error::invalid(
                "a grid needs at least one plane and one value: give extents of at least 1",
            ));
        }
        let bytes = values / shape[0] * size_of::<f64>();
        // Enough slabs to share them among threads.
        let most = (shape[0] / 32).max(2);
        let slab = slab
            .unwrap_or((SEGMENT_BYTES / bytes).clamp(2, most))
            .min(shape[0]);
        Ok(Self {
            shape: shape.to_vec(),
            slab,
        })
    }

    /// Extents, slowest axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Planes of the grid.
    pub fn planes(&self) -> usize {
        self.shape[0]
    }

    /// Values of a plane.
    pub fn plane_len(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// Planes per slab; the last one may have fewer.
    pub fn slab_planes(&self) -> usize {
        self.slab
    }

    /// Bytes of a full slab.
    pub fn slab_bytes(&self) -> usize {
        self.slab * self.plane_len() * size_of::<f64>()
    }

    /// Bytes of the grid.
    pub fn bytes(&self) -> u64 {
        (self.planes() * self.plane_len() * size_of::<f64>()) as u64
    }

    /// Number of slabs.
    pub fn slabs(&self) -> usize {
        self.planes().div_ceil(self.slab)
    }

    /// The planes of a slab.
    pub fn planes_of(&self, slab: usize) -> Range<usize> {
        slab * self.slab..((slab + 1) * self.slab).min(self.planes())
    }

    /// The slabs that hold these planes.
    pub fn slabs_of(&self, planes: &Range<usize>) -> Range<usize> {
        planes.start / self.slab..planes.end.div_ceil(self.slab)
    }

    /// Extents of a chunk for the codec.
    pub(super) fn chunk(&self) -> Vec<usize> {
        let mut chunk = self.shape.clone();
        chunk[0] = self.slab;
        chunk
    }

    /// Planes in at most so many ranges of whole slabs, of nearly the same size.
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
