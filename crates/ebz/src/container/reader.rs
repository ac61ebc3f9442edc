//! Random-access reading: any frame, any region, several threads.

use super::file_header::{FILE_HEADER_BYTES, size_and_previous_index};
use super::index::{self, FramePlace, FramePlaces, Place, Places};
use super::limits::{self, Limits};
use super::record::{Kind, MAX_HEADER_BYTES, Record};
use super::source::Source;
use super::trailing::{early_end, trailing_bytes};
use crate::array::{Array, PerAxis, ViewMut, display, scatter};
use crate::chunk::{ChunkCoder, Engine, FrameHeader, FramePlan, SharedEngine, extents, intersect};
use crate::element::{Element, with_type};
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::Level;
use crate::workspace::Context;
use smallvec::SmallVec;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Minimum size of the output to bypass the caches.
const MIN_STREAMING_BYTES: usize = 16 << 20;
/// Maximum size of a chunk whose scratch buffers, a small multiple of it, are cached for the next
/// read.
const MAX_CACHED_CHUNK_BYTES: usize = 32 << 20;

/// A complete `.ebz` file.
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    size: u64,
    /// Offset of the index record.
    index: u64,
    unfinished: bool,
    frames: FramePlaces,
    limits: Limits,
    threads: usize,
    simd: Level,
    engine: SharedEngine,
}

impl Reader<File> {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_source(File::open(path)?)
    }
}

impl<S: Source> Reader<S> {
    /// Opens any source, for example a byte slice.
    pub fn from_source(source: S) -> Result<Self> {
        let (size, previous) = size_and_previous_index(&source)?;
        let mut scratch = Vec::new();
        let place = match previous {
            0 => index::last(&source, size)?,
            offset => Some(index::at(&source, size, offset)?),
        };
        let place = match place {
            Some(place) => place,
            None => {
                return Err(match early_end(&source, FILE_HEADER_BYTES as u64, size)? {
                    Some(end) => trailing_bytes(end),
                    None => Error::truncated(
                        "the end of the file is missing: its writer was interrupted or is still \
                         writing; `ebz recover` saves the complete chunks",
                    ),
                });
            }
        };
        let mut reader = Self {
            source,
            size,
            index: place.offset,
            unfinished: previous > 0,
            frames: FramePlaces::new(),
            limits: Limits::default(),
            threads: 0,
            simd: Level::detect(),
            engine: SharedEngine::default(),
        };
        let (record, body) = reader.record(place, &mut scratch)?;
        reader.frames = index::read_frames(body, record.frame, place.offset)?;
        reader.check_order(place.offset)?;
        Ok(reader)
    }

    /// The frames must be contiguous up to the index, except for earlier indexes between them, so
    /// that sequential readers see the same frames.
    fn check_order(&self, index: u64) -> Result<()> {
        let mut at = FILE_HEADER_BYTES as u64;
        let mut scratch = Vec::new();
        let mut skip_indexes = |mut at: u64, until: u64| {
            while at < until {
                let known = (until - at).min(MAX_HEADER_BYTES as u64) as usize;
                let header = self.source.fetch(at, known, &mut scratch)?;
                let found = Record::read(header)?.ok_or_else(index::mismatch)?;
                if found.record.kind != Kind::Index {
                    return Err(index::mismatch());
                }
                at = Place::new(at, &found.record).end();
            }
            match at == until {
                true => Ok(()),
                false => Err(index::mismatch()),
            }
        };
        for frame in &self.frames {
            skip_indexes(at, frame.header.offset)?;
            at = frame.end();
        }
        skip_indexes(at, index)
    }

    /// Sets the memory limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the number of threads; 0 means all cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the instruction set for the kernels.
    pub fn simd(mut self, level: Level) -> Self {
        self.simd = level;
        self
    }

    /// Sets the engine that decodes chunks; does not affect the output.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = engine.into();
        self
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Size of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether an append was in progress, or had been interrupted, when the file was opened. The
    /// reader then sees the previous frames.
    pub fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    pub(super) fn index_offset(&self) -> u64 {
        self.index
    }

    pub(super) fn frame_places(&self) -> &[FramePlace] {
        &self.frames
    }

    /// A frame of the file.
    pub fn frame(&self, number: usize) -> Result<Frame<'_, S>> {
        let place = self.frames.get(number).ok_or_else(|| {
            Error::invalid(format!(
                "no frame {number}: the file has {}",
                self.frames.len()
            ))
        })?;
        let mut scratch = Vec::new();
        self.limits.check_header(place.header.length)?;
        let expect = |record: Record, kind| {
            (record.kind == kind && record.frame as usize == number && record.number == 0)
                .then_some(())
                .ok_or_else(|| Error::corrupt(format!("the index does not match frame {number}")))
        };
        let (record, body) = self.record(place.header, &mut scratch)?;
        expect(record, Kind::Frame)?;
        let header = FrameHeader::read_from(body)?;
        let count = header.grid.chunks();
        let end = match place.end {
            Some(end) => {
                let (record, body) = self.record(end, &mut scratch)?;
                expect(record, Kind::End)?;
                Some(body)
            }
            None => None,
        };
        let chunks = index::read_chunks(number as u32, place, count, end)?;
        let stored = chunks.iter().map(|chunk| chunk.length).max();
        Ok(Frame {
            reader: self,
            number: number as u32,
            header,
            chunks,
            largest: stored.unwrap_or(0),
        })
    }

    /// Reads the first array.
    pub fn read<T: Element>(&self) -> Result<Array<T>> {
        self.frame(0)?.read()
    }

    /// Reads a region of the first array.
    pub fn region<T: Element>(&self, region: &[Range<usize>]) -> Result<Array<T>> {
        self.frame(0)?.region(region)
    }

    /// Reads and verifies a record.
    fn record<'a>(&'a self, place: Place, scratch: &'a mut Vec<u8>) -> Result<(Record, &'a [u8])> {
        if place.end() > self.size {
            return Err(beyond_end());
        }
        self.limits.check(place.record_len())?;
        let bytes = self
            .source
            .fetch(place.offset, place.record_len() as usize, scratch)?;
        let unverified = Record::read(bytes)?
            .filter(|found| {
                (found.header as u64, found.record.length) == (place.header, place.length)
            })
            .ok_or_else(index::mismatch)?;
        let body = &bytes[unverified.header..];
        Ok((unverified.verify(body)?, body))
    }
}

/// An array in a file.
#[derive(Debug)]
pub struct Frame<'a, S> {
    reader: &'a Reader<S>,
    number: u32,
    header: FrameHeader,
    chunks: Places,
    /// Length of the longest chunk body.
    largest: u64,
}

impl<S: Source> Frame<'_, S> {
    /// The metadata of the array.
    pub fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// Size of the chunks in the file, with their record headers.
    pub fn stored_bytes(&self) -> u64 {
        let lengths = self.chunks.iter().map(|p| p.record_len());
        lengths.fold(0, u64::saturating_add)
    }

    /// The plan for decoding slabs with a [`SlabCoder`](super::SlabCoder).
    pub fn plan(&self) -> Result<FramePlan> {
        FramePlan::of(self.header.clone())
    }

    /// The byte range of a slab's records in the file.
    pub fn slab_bytes(&self, slab: usize) -> Result<Range<u64>> {
        let chunks = match self.header.grid.slabs() {
            slabs if slab < slabs => self.header.grid.chunks_of(slab),
            _ => 0..0,
        };
        let places = self.chunks.get(chunks).unwrap_or_default();
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return Err(Error::invalid(format!("no slab {slab}")));
        };
        if first.offset > last.end() || last.end() > self.reader.size {
            return Err(beyond_end());
        }
        Ok(first.offset..last.end())
    }

    /// Size of each chunk in the file, without record headers.
    pub fn chunk_bytes(&self) -> impl Iterator<Item = u64> + '_ {
        self.chunks.iter().map(|p| p.length)
    }

    /// Byte ranges of the chunks that intersect a region, for sources that prefetch.
    pub fn places(&self, region: &[Range<usize>]) -> Result<Vec<Range<u64>>> {
        self.check_region(region)?;
        let grid = &self.header.grid;
        if region.iter().any(Range::is_empty) {
            return Ok(Vec::new());
        }
        let slabs = grid.slabs_touching(region).into_iter();
        let chunks = slabs.flat_map(|slab| grid.chunks_of(slab));
        let touched = |chunk: &usize| {
            let common = intersect(&grid.chunk_box(*chunk), region);
            !common.iter().any(Range::is_empty)
        };
        let places = chunks.filter(touched).map(|chunk| self.chunks[chunk]);
        Ok(places.map(|place| place.offset..place.end()).collect())
    }

    /// Verifies every checksum without decoding.
    pub fn verify(&self) -> Result<()> {
        let mut scratch = Vec::new();
        for (number, place) in self.chunks.iter().enumerate() {
            let (record, _) = self.reader.record(*place, &mut scratch)?;
            record.chunk(self.number, number, &[])?;
        }
        Ok(())
    }

    /// Reads the whole array.
    pub fn read<T: Element>(&self) -> Result<Array<T>> {
        self.region(&self.header.grid.whole())
    }

    /// Reads a region; only the chunks that intersect it are read.
    pub fn region<T: Element>(&self, region: &[Range<usize>]) -> Result<Array<T>> {
        self.check::<T>(region)?;
        let shape = extents(region);
        let bytes = self.region_bytes(region);
        self.reader.limits.check_array(bytes)?;
        let mut values = limits::zeroed(shape.iter().product())?;
        self.read_slabs(region, &mut values, bytes)?;
        Array::new(values, &shape)
    }

    /// Reads the whole array into the caller's memory.
    pub fn read_into<T: Element>(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        self.region_into(&self.header.grid.whole(), out)
    }

    /// Reads a region into the caller's memory.
    pub fn region_into<T: Element>(
        &self,
        region: &[Range<usize>],
        out: &mut ViewMut<'_, T>,
    ) -> Result<()> {
        self.check::<T>(region)?;
        let shape = extents(region);
        if *out.shape() != *shape {
            return Err(Error::invalid(format!(
                "the output has shape {}, but the data has {}",
                display(out.shape()),
                display(&shape)
            )));
        }
        if let Some(values) = out.as_mut_slice() {
            return self.read_slabs(region, values, 0);
        }
        let layout = out.layout.clone();
        let data = &mut *out.data;
        self.each_slab(region, |part, values: &[T]| {
            let start = part.iter().zip(region).zip(&layout.strides);
            let origin = start.fold(layout.offset as isize, |at, ((p, r), stride)| {
                at + (p.start - r.start) as isize * stride
            });
            let shape = extents(part);
            scatter(values, data, &shape, &layout.strides, origin as usize);
            Ok(())
        })
    }

    /// Writes a region as raw little-endian values in C order, with memory for a few chunks.
    pub fn write_region(
        &self,
        region: &[Range<usize>],
        out: &mut (dyn Write + Send),
    ) -> Result<()> {
        with_type!(self.header.element, T => self.write_region_as::<T>(region, out))
    }

    fn write_region_as<T: Element>(
        &self,
        region: &[Range<usize>],
        out: &mut (dyn Write + Send),
    ) -> Result<()> {
        self.check::<T>(region)?;
        self.each_slab(region, |_, values: &[T]| {
            Ok(out.write_all(bytemuck::cast_slice(values))?)
        })
    }

    /// Checks element type and region.
    fn check<T: Element>(&self, region: &[Range<usize>]) -> Result<()> {
        if T::TYPE != self.header.element {
            return Err(Error::invalid(format!(
                "the array has {} values, not {}",
                self.header.element,
                T::TYPE
            )));
        }
        self.check_inside(region)
    }

    /// Checks that a region lies within the array and the limits, for callers that allocate its
    /// memory themselves.
    pub fn check_region(&self, region: &[Range<usize>]) -> Result<()> {
        self.check_inside(region)?;
        self.reader.limits.check_array(self.region_bytes(region))
    }

    /// Raw bytes of a region.
    fn region_bytes(&self, region: &[Range<usize>]) -> u64 {
        let values: usize = region.iter().map(Range::len).product();
        values as u64 * self.header.element.size() as u64
    }

    fn check_inside(&self, region: &[Range<usize>]) -> Result<()> {
        let shape = self.header.shape();
        let inside = |(r, &n): (&Range<usize>, &usize)| r.start <= r.end && r.end <= n;
        if region.len() != shape.len() || !region.iter().zip(shape).all(inside) {
            return Err(Error::invalid(format!(
                "the region exceeds the array of shape {}",
                display(shape)
            )));
        }
        Ok(())
    }

    /// Decodes a region into contiguous memory, of which `held` bytes were allocated for this read.
    fn read_slabs<T: Element>(
        &self,
        region: &[Range<usize>],
        out: &mut [T],
        held: u64,
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let grid = &self.header.grid;
        let plan = &self.plan()?;
        let slabs = grid.slabs_touching(region);
        // Fresh memory is cleared page by page as it is written, and stays in the caches for that.
        let streaming = held == 0 && size_of_val(out) >= MIN_STREAMING_BYTES;
        let mut workers = self.workers(slabs.len(), held, 0, streaming)?;
        let mut rest = out;
        let mut slabs = slabs.into_iter();
        parallel::unordered(
            &mut workers,
            |_| {
                Ok(slabs.next().map(|slab| {
                    let part = intersect(&grid.slab_box(slab), region);
                    let length = part.iter().map(Range::len).product();
                    let (head, tail) = std::mem::take(&mut rest).split_at_mut(length);
                    rest = tail;
                    (slab, part, head)
                }))
            },
            |worker, (slab, part, out)| self.decode_slab(plan, worker, slab, &part, out),
        )?;
        self.cache_scratch(workers.into_iter().next());
        Ok(())
    }

    /// Decodes a region slab by slab; calls `emit` in order.
    fn each_slab<T: Element>(
        &self,
        region: &[Range<usize>],
        mut emit: impl FnMut(&[Range<usize>], &[T]) -> Result<()> + Send,
    ) -> Result<()> {
        if region.iter().any(|r| r.is_empty()) {
            return Ok(());
        }
        let grid = &self.header.grid;
        let plan = &self.plan()?;
        let slabs = grid.slabs_touching(region);
        let slab = limits::slab_memory(grid, region, T::SIZE);
        let mut workers: Vec<_> = self
            .workers(slabs.len(), 0, slab, false)?
            .into_iter()
            .map(|worker| (worker, PerAxis::new(), Vec::new()))
            .collect();
        let mut slabs = slabs.into_iter();
        parallel::ordered(
            &mut workers,
            |_| Ok(slabs.next()),
            |(worker, part, values), slab| {
                *part = intersect(&grid.slab_box(slab), region);
                limits::resize(values, part.iter().map(Range::len).product())?;
                self.decode_slab(plan, worker, slab, part, values)
            },
            |(_, part, values)| emit(part, values),
        )?;
        self.cache_scratch(workers.into_iter().next().map(|(worker, ..)| worker));
        Ok(())
    }

    /// Caches the scratch buffers of one worker for the next read on this thread, unless they are
    /// large.
    fn cache_scratch(&self, worker: Option<Worker>) {
        let grid = &self.header.grid;
        let chunk = grid.chunk_len(0) * self.header.element.size();
        if let Some(worker) = worker.filter(|_| chunk <= MAX_CACHED_CHUNK_BYTES) {
            worker.coder.context.cache();
        }
    }

    /// Creates workers, at most one per job and as many as fit into memory beside the `held` bytes
    /// of the output; each needs memory for a chunk and for `slab` bytes of values.
    fn workers(
        &self,
        jobs: usize,
        held: u64,
        slab: u64,
        streaming: bool,
    ) -> Result<SmallVec<[Worker; 1]>> {
        let threads = parallel::threads(self.reader.threads).min(jobs).max(1);
        let chunk = limits::chunk_memory(&self.header.grid, self.header.element);
        let each = chunk.saturating_add(self.largest).saturating_add(slab);
        let threads = self.reader.limits.workers(threads, held, each)?;
        // The other threads are new, so only one context can be reused.
        let first = std::iter::once_with(|| Context::cached(self.reader.simd));
        let others = std::iter::repeat_with(|| Context::new(self.reader.simd));
        let worker = |context| Worker::new(context, streaming);
        Ok(first.chain(others).take(threads).map(worker).collect())
    }

    /// Decodes the intersection of a slab with `part` into contiguous memory of that shape.
    fn decode_slab<T: Element>(
        &self,
        plan: &FramePlan,
        worker: &mut Worker,
        slab: usize,
        part: &[Range<usize>],
        out: &mut [T],
    ) -> Result<()> {
        let grid = &self.header.grid;
        for number in grid.chunks_of(slab) {
            let region = grid.chunk_box(number);
            let overlap = intersect(&region, part);
            if overlap.iter().any(|r| r.is_empty()) {
                continue;
            }
            let (record, body) = self.reader.record(self.chunks[number], &mut worker.bytes)?;
            let body = record.chunk(self.number, number, body)?;
            let engine = &*self.reader.engine;
            worker.coder.decode(engine, plan, number, body, part, out)?;
        }
        Ok(())
    }
}

/// Buffers of one worker thread.
struct Worker {
    coder: ChunkCoder,
    bytes: Vec<u8>,
}

impl Worker {
    fn new(mut context: Context, streaming: bool) -> Self {
        context.streaming = streaming;
        let coder = ChunkCoder { context };
        Self {
            coder,
            bytes: Vec::new(),
        }
    }
}

fn beyond_end() -> Error {
    Error::corrupt("the index points beyond the end of the file")
}
