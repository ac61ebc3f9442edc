//! The plan of a frame: shape, chunk grid, codec and tolerance, shared by all chunks.

use super::body::{Body, Form, Target, Values};
use super::constant;
use super::grid::{Grid, dims, extents};
use crate::array::{FoundFill, PerAxis, chunk_fill, display, is_known_fill, may_have_fill};
use crate::bound::{Bound, BoundKind, Tolerance};
use crate::clip::{Clip, ValueLimits};
use crate::codec::{self, ChunkShape, Context, Dims, Entry, Params, Task};
use crate::element::{Element, ElementType, with_type};
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues};
use crate::options::Options;
use crate::simd::Level;
use std::ops::Range;

/// The metadata of an array in a file.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FrameHeader {
    /// Element type.
    pub element: ElementType,
    /// The chunk grid.
    #[serde(skip)]
    pub grid: Grid,
    /// Codec id.
    pub codec: u16,
    /// Codec parameters.
    pub params: Params,
    /// The bound that the user asked for.
    pub asked: Bound,
    /// The error bound that every value meets.
    pub tolerance: Tolerance,
    /// The fill values; with [`Fill::is_auto`], each chunk detected further ones itself.
    pub fill: Fill,
    /// Limits that decoded values respect.
    pub clip: Option<ValueLimits>,
    /// Whether exact zeros stay exactly zero.
    pub keep_zeros: bool,
    /// User metadata.
    pub metadata: serde_json::Value,
    /// Version of the writer.
    pub writer: WriterVersion,
}

/// The version of the library that wrote a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterVersion(pub [u32; 3]);

impl WriterVersion {
    /// The running version.
    const THIS: Self = Self([
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
    ]);
}

const fn number(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => 0,
    }
}

impl std::fmt::Display for WriterVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "ebz {major}.{minor}.{patch}")
    }
}

impl serde::Serialize for WriterVersion {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FrameHeader {
    /// Extents of the array, slowest axis first.
    pub fn shape(&self) -> &[usize] {
        self.grid.shape()
    }

    /// Uncompressed size of the array.
    pub fn raw_bytes(&self) -> usize {
        self.shape().iter().product::<usize>() * self.element.size()
    }
}

/// A frame header with its codec: everything needed to encode and decode chunks.
#[derive(Debug, Clone)]
pub struct FramePlan {
    header: FrameHeader,
    entry: &'static Entry,
}

impl FramePlan {
    /// A plan for frames of this shape and tolerance. The bound in the options is only recorded as
    /// the one asked for.
    pub fn new<T: Element>(
        shape: &[usize],
        tolerance: Tolerance,
        options: &Options,
    ) -> Result<Self> {
        options.check()?;
        let mut entry = codec::by_name(&options.codec)?;
        // The requested codec determines the chunk shape even if another one does the work.
        let chunks = entry.chunks;
        let mut params = options.params.clone();
        if tolerance == Tolerance::Lossless && !entry.offers(BoundKind::Lossless) {
            // A bound of zero means lossless, which must work with every codec.
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
        let header = FrameHeader {
            element: T::TYPE,
            grid,
            codec: entry.info.id,
            params,
            asked: options.bound,
            tolerance,
            fill: options.fill,
            clip: options.clip.limits(tolerance),
            keep_zeros: options.keep_zeros && tolerance != Tolerance::Lossless,
            metadata: options.metadata.clone().unwrap_or_default(),
            writer: WriterVersion::THIS,
        };
        Ok(Self { header, entry })
    }

    /// The plan of an existing frame.
    pub(crate) fn of(header: FrameHeader) -> Result<Self> {
        let entry = codec::by_id(header.codec)?;
        Ok(Self { header, entry })
    }

    /// Replaces the fill values of the options, for example by those of
    /// [`ValueScan::fill`](crate::ValueScan::fill).
    pub fn with_fill(mut self, fill: Fill) -> Self {
        self.header.fill = fill;
        self
    }

    /// Replaces the limits of the options, for example by those resolved from the range of all
    /// values ([`Clip::resolve`]).
    pub fn with_clip(mut self, clip: Clip) -> Self {
        self.header.clip = clip.limits(self.header.tolerance);
        self
    }

    /// The same with another bound of the same kind.
    pub(crate) fn with_bound(&self, bound: f64) -> Self {
        let mut plan = self.clone();
        plan.header.tolerance = Tolerance::Abs(bound);
        plan
    }

    /// Values that must be preserved exactly, besides detected fill values.
    fn exact_values(&self) -> Result<FillValues> {
        let zero = if self.header.keep_zeros {
            FillValues::from(0.0)
        } else {
            FillValues::NONE
        };
        self.header.fill.values().and(zero)
    }

    /// Whether a chunk must be stored raw because the decoder would clamp fill values in it; an
    /// error if values other than fill values lie outside of the limits.
    pub(super) fn exceeds_limits<T: Element>(&self, values: &[T]) -> Result<bool> {
        let Some(limits) = self.header.clip else {
            return Ok(false);
        };
        let fill = self.header.fill.values().typed(T::from_f64);
        let mut any = false;
        for x in limits.conflicts(self.header.tolerance, values) {
            any = true;
            let found = self.header.fill.is_auto() && is_known_fill(x.to_f64(), Some(T::TYPE));
            if !fill.contains(x) && !found {
                return Err(Error::invalid(format!(
                    "the array contains {x}, which is outside of the limits {limits}: use wider limits, or \
                     clip data"
                )));
            }
        }
        Ok(any)
    }

    /// Detects fill values in a chunk, if enabled.
    fn detect_fill<T: Element>(&self, level: Level, values: &[T]) -> FoundFill {
        let (fill, tolerance) = (self.header.fill, self.header.tolerance);
        let exact = tolerance == Tolerance::Lossless || self.entry.info.id == codec::RAW;
        match fill.is_auto() && !exact {
            true => chunk_fill(level, values, &fill.values()),
            false => FoundFill::default(),
        }
    }

    /// The frame header.
    pub fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        self.header.grid.chunks()
    }

    /// Number of slabs: runs of chunks that hold a contiguous part of the array.
    pub fn slabs(&self) -> usize {
        self.header.grid.slabs()
    }

    /// The box of the array that a slab covers.
    pub fn slab_region(&self, slab: usize) -> Vec<Range<usize>> {
        self.header.grid.slab_box(slab).into_vec()
    }

    /// Number of values of a slab.
    pub(crate) fn slab_len(&self, slab: usize) -> usize {
        self.header
            .grid
            .slab_box(slab)
            .iter()
            .map(Range::len)
            .product()
    }

    /// Indices of the chunks of a slab.
    pub(crate) fn chunks_of(&self, slab: usize) -> Range<usize> {
        self.header.grid.chunks_of(slab)
    }

    /// The box that a slab covers; an error if the frame has no such slab or `shape` is not its
    /// shape.
    pub(crate) fn check<T: Element>(
        &self,
        slab: usize,
        shape: Option<&[usize]>,
    ) -> Result<PerAxis<Range<usize>>> {
        if T::TYPE != self.header.element || slab >= self.slabs() {
            return Err(Error::invalid(format!(
                "no slab {slab} of {} values in a frame of {} slabs of {} values",
                T::TYPE,
                self.slabs(),
                self.header.element
            )));
        }
        let region = self.header.grid.slab_box(slab);
        let expected = extents(&region);
        match shape {
            Some(shape) if *shape != *expected => Err(Error::invalid(format!(
                "slab {slab} has shape {}, not {}",
                display(&expected),
                display(shape)
            ))),
            _ => Ok(region),
        }
    }

    /// Appends the body of a chunk: constant if all values are identical, otherwise encoded, or raw
    /// if that is not larger.
    pub(super) fn encode_chunk(
        &self,
        chunk: Values<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<(Form, FoundFill)> {
        let mut task = self.base_task(chunk.chunk)?;
        let mut found;
        let start = out.len();
        with_type!(self.header.element, T => {
            let values: &[T] = bytemuck::try_cast_slice(chunk.bytes).map_err(|_| misaligned())?;
            if let Some(value) = constant::forward(values) {
                out.extend_from_slice(bytemuck::bytes_of(&value));
                return Ok((Form::Constant, FoundFill::default()));
            }
            // Detect fill values before encoding; or afterwards, and only if the extremes that the
            // codec reports (for f32 and f64) leave it open. A chunk after one with fill values is likely
            // to have some too.
            let reported = self.entry.tells_extremes && T::SIZE >= 4;
            let deferred = reported && task.fill.is_empty() && !context.found_fill;
            found = match deferred {
                true => FoundFill::default(),
                false => self.detect_fill(context.simd(), values),
            };
            task.fill = task.fill.and(found.values)?;
            context.extremes = None;
            self.entry.encode(values, &task, context, out)?;
            if deferred && may_have_fill(context.extremes.take()) {
                found = self.detect_fill(context.simd(), values);
                if !found.values.is_empty() {
                    task.fill = found.values;
                    out.truncate(start);
                    self.entry.encode(values, &task, context, out)?;
                }
            }
            context.found_fill = !found.values.is_empty();
        });
        if out.len() - start < chunk.bytes.len() {
            return Ok((Form::Coded, found));
        }
        if self.entry.info.id != codec::RAW {
            out.truncate(start);
            out.extend_from_slice(chunk.bytes);
        }
        Ok((Form::Raw, found))
    }

    /// The codec's task for a chunk and the fill values detected in it; `None` if all values are
    /// identical, so that the body is constant.
    pub fn task(
        &self,
        chunk: Values<'_>,
        context: &Context,
    ) -> Result<Option<(Task<'_>, FoundFill)>> {
        with_type!(self.header.element, T => {
            let values: &[T] = bytemuck::try_cast_slice(chunk.bytes).map_err(|_| misaligned())?;
            if constant::forward(values).is_some() {
                return Ok(None);
            }
            let found = self.detect_fill(context.simd(), values);
            let mut task = self.base_task(chunk.chunk)?;
            task.fill = task.fill.and(found.values)?;
            Ok(Some((task, found)))
        })
    }

    /// The codec's task for a chunk, without detected fill values.
    fn base_task(&self, chunk: usize) -> Result<Task<'_>> {
        Ok(Task {
            dims: self.dims(chunk),
            tolerance: self.header.tolerance,
            fill: self.exact_values()?,
            params: &self.header.params,
        })
    }

    /// Decodes the output of [`Self::encode_chunk`].
    pub(super) fn decode_chunk(&self, chunk: &mut Target<'_>, context: &mut Context) -> Result<()> {
        let Body { form, bytes } = chunk.body;
        with_type!(self.header.element, T => {
            let out: &mut [T] = bytemuck::try_cast_slice_mut(chunk.out).map_err(|_| misaligned())?;
            let entry = match form {
                Form::Constant => return constant::inverse(bytes, out),
                Form::Raw => codec::by_id(codec::RAW)?,
                Form::Coded => self.entry,
            };
            entry.decode(bytes, self.dims(chunk.chunk), context, out)
        })
    }

    /// Extents of a chunk as a codec sees them.
    pub fn dims(&self, chunk: usize) -> Dims {
        dims(&extents(&self.header.grid.chunk_box(chunk)))
    }
}

fn misaligned() -> Error {
    Error::invalid("the memory of a chunk has the wrong size or alignment for its element type")
}
