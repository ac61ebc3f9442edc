//! Writes the planes of a grid in order.

use super::buffers::Buffers;
use super::checkpoint::Place;
use super::servant::WriteBehind;
use super::{Layout, Moved, Packing};
use crate::io::{AlignedBuffer, BLOCK_BYTES};
use ebz::slab::{EncodedSlab, SlabCoder};
use ebz::{Element, Error, Result, View};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a range of planes of a grid in order.
pub struct Writer<'g, T = f64> {
    pub(super) layout: &'g Layout,
    /// First plane of the range, and its slab.
    pub(super) first: usize,
    pub(super) sink: Sink<'g, T>,
}

pub(super) enum Sink<'g, T> {
    Memory(&'g mut [T]),
    Packed(Encoder<'g, T>, &'g mut [Vec<u8>], &'g Budget),
    RawFile(Segments<'g>),
    PackedFile(Encoder<'g, T>, Segments<'g>),
}

/// Memory limit shared by all compressed slabs.
pub(super) struct Budget {
    pub used: AtomicU64,
    pub limit: u64,
}

/// Encodes slabs to records.
pub(super) struct Encoder<'g, T> {
    packing: &'g Packing,
    frame: u32,
    coder: Option<SlabCoder>,
    buffers: Arc<Buffers>,
    values: Vec<T>,
    records: EncodedSlab,
}

impl<'g, T: Element> Encoder<'g, T> {
    pub fn new(packing: &'g Packing, frame: u32, layout: &Layout, buffers: &Arc<Buffers>) -> Self {
        Self {
            packing,
            frame,
            coder: Some(buffers.coder(packing.simd)),
            buffers: buffers.clone(),
            values: vec![T::default(); layout.slab_planes() * layout.plane_len()],
            records: EncodedSlab::default(),
        }
    }

    fn encode(&mut self, layout: &Layout, slab: usize) -> Result<&[u8]> {
        let mut shape = layout.chunk();
        shape[0] = layout.planes_of(slab).len();
        let values = &self.values[..shape[0] * layout.plane_len()];
        let view = View::new(values, &shape)?;
        if let Some(coder) = &mut self.coder {
            coder.encode(
                &self.packing.plan,
                self.frame,
                slab,
                &view,
                &mut self.records,
            )?;
        }
        Ok(self.records.bytes())
    }
}

impl<T> Drop for Encoder<'_, T> {
    fn drop(&mut self) {
        if let Some(coder) = self.coder.take() {
            self.buffers.give_coder(coder);
        }
    }
}

/// Combines slabs into large requests.
pub(super) struct Segments<'g> {
    behind: WriteBehind,
    /// The rest of the byte range reserved for this writer. It is independent of other writers, so
    /// that equal runs produce equal files.
    region: Range<u64>,
    places: &'g mut [Place],
    /// Slabs with a position, and slabs in the buffer.
    placed: usize,
    waiting: Vec<Range<usize>>,
    buffer: Option<AlignedBuffer>,
    filled: usize,
    size: usize,
}

impl<'g> Segments<'g> {
    pub fn new(
        behind: WriteBehind,
        region: Range<u64>,
        places: &'g mut [Place],
        size: usize,
    ) -> Self {
        Self {
            behind,
            region,
            places,
            placed: 0,
            waiting: Vec::new(),
            buffer: None,
            filled: 0,
            size,
        }
    }

    /// Reserves bytes in this segment or the next.
    fn reserve(&mut self, bytes: usize) -> Result<&mut [u8]> {
        if self.filled > 0 && self.filled + bytes > self.size {
            self.flush()?;
        }
        let buffer = match self.buffer.take() {
            Some(buffer) => buffer,
            None => self.behind.buffer(self.size.max(bytes))?,
        };
        let buffer = self.buffer.insert(buffer);
        Ok(&mut buffer[self.filled..self.filled + bytes])
    }

    /// Adds the slab that was written to the reserved bytes.
    fn complete(&mut self, bytes: usize) {
        self.waiting.push(self.filled..self.filled + bytes);
        self.filled += bytes;
    }

    fn flush(&mut self) -> Result<()> {
        let Some(mut buffer) = self.buffer.take() else {
            return Ok(());
        };
        let length = self.filled.next_multiple_of(BLOCK_BYTES);
        buffer[self.filled..length].fill(0);
        let offset = self.region.start;
        self.region.start += length as u64;
        if self.region.start > self.region.end {
            return Err(Error::invalid("slabs exceed their reserved bytes"));
        }
        for slab in self.waiting.drain(..) {
            self.places[self.placed] = offset + slab.start as u64..offset + slab.end as u64;
            self.placed += 1;
        }
        self.filled = 0;
        self.behind.write(buffer, offset, length)
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()?;
        self.behind.finish()
    }
}

impl<T: Element> Writer<'_, T> {
    /// The memory of a plane, to be filled completely; `at` must not decrease between calls.
    pub fn plane(&mut self, at: usize) -> Result<&mut [T]> {
        let length = self.layout.plane_len();
        let start = (at - self.first) * length;
        let within = at % self.layout.slab_planes() * length;
        match &mut self.sink {
            Sink::Memory(values) => Ok(&mut values[start..start + length]),
            Sink::Packed(encoder, ..) | Sink::PackedFile(encoder, _) => {
                Ok(&mut encoder.values[within..within + length])
            }
            Sink::RawFile(segments) => {
                let slab = self.layout.planes_of(at / self.layout.slab_planes());
                let values = slab.len() * length;
                let reserve = segments.reserve(values * T::SIZE)?;
                let values: &mut [T] = bytemuck::cast_slice_mut(reserve);
                Ok(&mut values[within..within + length])
            }
        }
    }

    /// Marks a plane as filled.
    pub fn written(&mut self, at: usize) -> Result<()> {
        let slab = at / self.layout.slab_planes();
        let planes = self.layout.planes_of(slab);
        if at + 1 < planes.end {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Memory(_) => Ok(()),
            Sink::Packed(encoder, slabs, budget) => {
                let records = encoder.encode(self.layout, slab)?;
                let first = self.first / self.layout.slab_planes();
                budget.store(records, &mut slabs[slab - first])
            }
            Sink::RawFile(segments) => {
                segments.complete(planes.len() * self.layout.plane_len() * T::SIZE);
                Ok(())
            }
            Sink::PackedFile(encoder, segments) => {
                let records = encoder.encode(self.layout, slab)?;
                segments.reserve(records.len())?.copy_from_slice(records);
                segments.complete(records.len());
                Ok(())
            }
        }
    }

    /// Waits until everything is stored.
    pub(super) fn finish(&mut self) -> Result<Moved> {
        let mut moved = Moved::default();
        match &mut self.sink {
            Sink::Memory(_) => (),
            Sink::Packed(_, slabs, _) => {
                moved.written = slabs.iter().map(|slab| slab.len() as u64).sum();
            }
            Sink::RawFile(segments) | Sink::PackedFile(_, segments) => {
                segments.finish()?;
                moved.written = segments.behind.bytes;
                moved.waited_writing = segments.behind.waited;
            }
        }
        Ok(moved)
    }
}

impl Budget {
    /// Replaces a slab, within the memory limit.
    fn store(&self, records: &[u8], slab: &mut Vec<u8>) -> Result<()> {
        let before = slab.capacity() as u64;
        slab.clear();
        if slab.capacity() < records.len() {
            // Some slack, so that slowly growing sizes do not reallocate every time.
            slab.reserve_exact(records.len() + records.len() / 16);
        }
        slab.extend_from_slice(records);
        let grown = slab.capacity() as u64 - before;
        let used = self.used.fetch_add(grown, Ordering::Relaxed) + grown;
        if used > self.limit {
            return Err(Error::LimitExceeded(format!(
                "the compressed grid exceeds its memory limit ({used} of {} bytes): raise the limit, use \
                 a larger bound, or keep it on disk",
                self.limit
            )));
        }
        Ok(())
    }
}
