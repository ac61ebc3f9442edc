//! Frames piece by piece: slabs coded by the threads that hold them, in any order.
//!
//! [`Writer::begin`](super::Writer::begin) takes the coded slabs in order. Whole arrays go the
//! same way: [`super::Writer::frame`] codes their slabs itself.

use super::advice::Advisor;
use super::coding::{Coded, Coding};
use super::frame::FrameHeader;
use super::grid::{Grid, extents};
use super::reader::place_chunk;
use super::record::{HEADER, Kind, Record};
use crate::array::{FoundFill, View, chunk_fill, display, gather};
use crate::bound::{BoundKind, Tolerance};
use crate::codec::{self, ChunkShape, Context, Params};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::fill::Fill;
use crate::options::Options;
use crate::simd::Level;
use std::ops::Range;

/// Fewer chunks than this have nothing in common.
const MANY: usize = 4;

/// This many values tell enough of a frame.
const ENOUGH: usize = 1 << 18;

/// What the frames of a series have in common: shape, cutting, codec and guarantee.
#[derive(Clone)]
pub struct FramePlan {
    header: FrameHeader,
    coding: Coding,
}

impl FramePlan {
    /// Frames of this shape that give this guarantee; it replaces the bound of the options, which
    /// is recorded as the bound asked for.
    pub fn new<T: Element>(
        shape: &[usize],
        tolerance: Tolerance,
        options: &Options,
    ) -> Result<Self> {
        let mut entry = options.check()?;
        // The codec asked for says how to cut, also where another one does the work.
        let chunks = entry.chunks;
        let mut params = options.params.clone();
        if tolerance == Tolerance::Lossless && !entry.offers(BoundKind::Lossless) {
            // A bound of zero asks for exact values, which every user of any codec may do.
            entry = codec::by_name(codec::DEFAULT)?;
            params = Params::default();
        }
        let grid = match &options.chunk {
            Some(chunk) => Grid::new(shape, chunk, T::SIZE)?,
            None => match chunks {
                ChunkShape::Slab => Grid::automatic(shape, T::SIZE)?,
                ChunkShape::Box => Grid::boxes(shape, T::SIZE)?,
            },
        };
        Self::of(FrameHeader {
            element: T::TYPE,
            grid,
            codec: entry.info.id,
            params,
            asked: options.bound,
            tolerance,
            fill: options.fill,
            metadata: options.metadata.clone().unwrap_or_default(),
            writer: concat!("ebz ", env!("CARGO_PKG_VERSION")).into(),
            common: Vec::new(),
        })
    }

    /// The plan of a frame that exists.
    pub(super) fn of(header: FrameHeader) -> Result<Self> {
        Ok(Self {
            coding: Coding::of(&header)?,
            header,
        })
    }

    /// The same with other marks of missing data than the options say, such as those that
    /// [`ValueScan::fill`](crate::ValueScan::fill) found.
    pub fn with_fill(mut self, fill: Fill) -> Self {
        self.header.fill = fill;
        self
    }

    /// What marks missing data in a chunk that looks for it itself.
    fn missing_in<T: Element>(&self, values: &[T]) -> FoundFill {
        let (fill, tolerance) = (self.header.fill, self.header.tolerance);
        match fill.is_auto() && tolerance != Tolerance::Lossless {
            true => chunk_fill(values, &fill.values()),
            false => FoundFill::default(),
        }
    }

    /// What the file says about a frame.
    pub fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// Number of slabs: runs of chunks that hold a contiguous part of the array.
    pub fn slabs(&self) -> usize {
        self.header.grid.slabs()
    }

    /// The most bytes of what the chunks have in common.
    pub(super) fn most_in_common(&self) -> usize {
        match self.header.grid.chunks() {
            0..MANY => 0,
            _ => self.coding.entry.common,
        }
    }

    /// Where chunks hear of each other, if that is of use to the codec.
    pub(super) fn advisor(&self) -> Option<Advisor> {
        let grid = &self.header.grid;
        (self.coding.entry.advises && grid.chunks() > 1).then(|| Advisor::new(grid))
    }

    /// The box of the whole array.
    pub(super) fn whole(&self) -> Vec<Range<usize>> {
        self.header
            .shape()
            .iter()
            .map(|&extent| 0..extent)
            .collect()
    }

    /// The box of the array that a slab holds.
    pub fn slab_region(&self, slab: usize) -> Vec<Range<usize>> {
        self.header.grid.slab_region(slab)
    }

    /// Number of values of a slab.
    pub(super) fn slab_len(&self, slab: usize) -> usize {
        extents(&self.slab_region(slab)).iter().product()
    }

    /// The numbers of a slab's chunks.
    pub(super) fn chunks_of(&self, slab: usize) -> Range<usize> {
        let per_slab = self.header.grid.chunks_per_slab();
        slab * per_slab..(slab + 1) * per_slab
    }

    /// The box of a slab, if the frame has it and `shape` is its shape.
    fn check<T: Element>(&self, slab: usize, shape: Option<&[usize]>) -> Result<Vec<Range<usize>>> {
        if T::TYPE != self.header.element || slab >= self.slabs() {
            return Err(Error::invalid(format!(
                "there is no slab {slab} of {} values in a frame of {} slabs of {} values",
                T::TYPE,
                self.slabs(),
                self.header.element
            )));
        }
        let region = self.slab_region(slab);
        let expected = extents(&region);
        match shape {
            Some(shape) if shape != expected => Err(Error::invalid(format!(
                "slab {slab} has shape {}, not {}",
                display(&expected),
                display(shape)
            ))),
            _ => Ok(region),
        }
    }
}

/// A coded slab: complete records, one per chunk.
#[derive(Debug, Default)]
pub struct EncodedSlab {
    pub(super) frame: u32,
    pub(super) slab: usize,
    pub(super) records: Vec<u8>,
    /// Bodies of these records: length, and whether the chunk is raw.
    pub(super) chunks: Vec<(u64, bool)>,
    /// What chunks that look for it themselves found to mark missing data.
    pub(super) found: FoundFill,
}

impl EncodedSlab {
    /// The records.
    pub fn bytes(&self) -> &[u8] {
        &self.records
    }
}

/// Codes slabs; each thread has one of its own, which keeps its buffers.
pub struct SlabCoder {
    context: Context,
}

impl SlabCoder {
    /// A coder whose kernels use these instructions.
    pub fn new(simd: Level) -> Self {
        Self {
            context: Context::new(simd),
        }
    }

    /// Codes a slab of frame number `frame`, replacing what `out` holds but keeping its memory.
    pub fn encode<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        values: &View<'_, T>,
        out: &mut EncodedSlab,
    ) -> Result<()> {
        self.encode_advised(plan, frame, slab, values, None, out)
    }

    /// The same with advice from the chunks before.
    pub(super) fn encode_advised<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        values: &View<'_, T>,
        advisor: Option<&Advisor>,
        out: &mut EncodedSlab,
    ) -> Result<()> {
        let _duty = advisor.map(|advisor| advisor.duty(plan.chunks_of(slab)));
        let outer = plan.check::<T>(slab, Some(values.shape()))?;
        out.frame = frame;
        out.slab = slab;
        out.records.clear();
        out.chunks.clear();
        out.found = FoundFill::default();
        let chunks = plan.chunks_of(slab);
        if chunks.len() == 1 {
            return self.encode_chunk(plan, values, frame, chunks.start as u32, advisor, out);
        }
        for chunk in chunks {
            let region = plan.header.grid.region(chunk);
            let part = values.part(&region, &outer);
            self.encode_chunk(plan, &part, frame, chunk as u32, advisor, out)?;
        }
        Ok(())
    }

    /// Finds what the chunks of a frame have in common from its first slab, before any slab is
    /// coded. It makes files smaller but need not be done.
    pub fn prepare<T: Element>(
        &mut self,
        plan: &mut FramePlan,
        first_slab: &View<'_, T>,
    ) -> Result<()> {
        let outer = plan.check::<T>(0, Some(first_slab.shape()))?;
        let mut common = Vec::new();
        if plan.most_in_common() > 0 {
            let view = first_slab.part(&corner(&outer), &outer);
            let mut gathered = self.context.take::<Vec<T>>();
            let values = contiguous(&view, &mut gathered);
            let mut task = plan.header.task(view.shape());
            task.fill = task.fill.and(plan.missing_in(values).values)?;
            let entry = plan.coding.entry;
            entry.prepare(values, &task, &mut self.context, &mut common)?;
            self.context.put_back(gathered);
        }
        if common.len() <= plan.most_in_common() {
            plan.header.common = common;
        }
        plan.coding = Coding::of(&plan.header)?;
        Ok(())
    }

    /// Appends the record of one chunk.
    fn encode_chunk<T: Element>(
        &mut self,
        plan: &FramePlan,
        view: &View<'_, T>,
        frame: u32,
        number: u32,
        advisor: Option<&Advisor>,
        out: &mut EncodedSlab,
    ) -> Result<()> {
        let mut gathered = self.context.take::<Vec<T>>();
        let values = contiguous(view, &mut gathered);
        let mut task = plan.header.task(view.shape());
        let found = plan.missing_in(values);
        task.fill = task.fill.and(found.values)?;
        out.found.join(&found);
        let ask = || plan.coding.entry.advise(values, &task, &mut self.context);
        let advice = match advisor {
            Some(advisor) => advisor.advice(number as usize, ask)?,
            None => None,
        };
        task.advice = advice.as_ref();
        let records = &mut out.records;
        let start = records.len();
        let body = start + HEADER;
        records.resize(body, 0);
        plan.coding
            .encode(values, &task, &mut self.context, records)?;
        let raw: &[u8] = bytemuck::cast_slice(values);
        let shrunk = records.len() - body < raw.len();
        if !shrunk && plan.coding.entry.info.id != codec::RAW {
            records.truncate(body);
            records.extend_from_slice(raw);
        }
        let kind = if shrunk { Kind::Coded } else { Kind::Raw };
        Record::seal(kind, frame, number, records, start);
        out.chunks.push(((records.len() - body) as u64, !shrunk));
        self.context.put_back(gathered);
        Ok(())
    }

    /// Verifies the records of a slab of frame number `frame` and decodes them into contiguous
    /// memory of the slab's shape.
    pub fn decode<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        mut records: &[u8],
        out: &mut [T],
    ) -> Result<()> {
        let outer = plan.check::<T>(slab, None)?;
        if out.len() != extents(&outer).iter().product::<usize>() {
            return Err(Error::invalid(format!(
                "slab {slab} has shape {}, which is not {} values",
                display(&extents(&outer)),
                out.len()
            )));
        }
        let ends = || Error::truncated(format!("the records of slab {slab} end too early"));
        for chunk in plan.chunks_of(slab) {
            let (header, rest) = records.split_first_chunk::<HEADER>().ok_or_else(ends)?;
            let unverified = Record::read(header)?;
            let length = usize::try_from(unverified.record.length).map_err(|_| ends())?;
            let (body, rest) = rest.split_at_checked(length).ok_or_else(ends)?;
            records = rest;
            let record = unverified.verify(body)?;
            record.expect_chunk(frame, chunk)?;
            let region = plan.header.grid.region(chunk);
            let coded = Coded { record, body };
            place_chunk(
                &plan.coding,
                &coded,
                &region,
                &outer,
                &mut self.context,
                out,
            )?;
        }
        Ok(())
    }
}

/// The beginning of a box, with few enough values: its longest axis is halved until it is.
fn corner(whole: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut corner = whole.to_vec();
    while extents(&corner).iter().product::<usize>() > ENOUGH {
        if let Some(longest) = corner.iter_mut().max_by_key(|axis| axis.len()) {
            longest.end = longest.start + longest.len().div_ceil(2);
        }
    }
    corner
}

/// The values of a view, gathered where they are not contiguous.
fn contiguous<'a, T: Element>(view: &View<'a, T>, gathered: &'a mut Vec<T>) -> &'a [T] {
    let shape = view.shape();
    view.as_slice().unwrap_or_else(|| {
        gathered.resize(shape.iter().product(), T::default());
        let layout = &view.layout;
        gather(view.data, shape, &layout.strides, layout.offset, gathered);
        gathered
    })
}

impl<'a, T: Element> View<'a, T> {
    /// The box `inner` of a view that holds the box `outer` of an array.
    pub(super) fn part(&self, inner: &[Range<usize>], outer: &[Range<usize>]) -> View<'a, T> {
        let mut part = self.clone();
        part.layout.shape = extents(inner);
        let starts = inner.iter().zip(outer).zip(&self.layout.strides);
        let offset = starts.fold(self.layout.offset as isize, |at, ((i, o), stride)| {
            at + (i.start - o.start) as isize * stride
        });
        part.layout.offset = offset as usize;
        part
    }
}
