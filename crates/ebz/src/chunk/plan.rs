//! What the chunks of a frame share: shape, cutting, codec and guarantee.

use super::body::{Body, Form, Target, Values};
use super::constant;
use super::grid::{Grid, dims, extents};
use crate::array::{FoundFill, chunk_fill, display, is_known_fill, may_have_fill};
use crate::bound::{Bound, BoundKind, Tolerance};
use crate::clip::{Clip, ValueLimits};
use crate::codec::{self, ChunkShape, Context, Dims, Entry, Params, Task};
use crate::element::{Element, ElementType, with_type};
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues};
use crate::options::Options;
use crate::simd::Level;
use std::ops::Range;

/// Everything that a file says about one of its arrays.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FrameHeader {
    /// Type of the elements.
    pub element: ElementType,
    /// How the array is cut into chunks.
    #[serde(skip)]
    pub grid: Grid,
    /// Number of the codec.
    pub codec: u16,
    /// Parameters of the codec.
    pub params: Params,
    /// The bound that the user asked for.
    pub asked: Bound,
    /// The guarantee that holds for every value.
    pub tolerance: Tolerance,
    /// The values that mark missing data; those that are still to be found are what each chunk
    /// found on its own.
    pub fill: Fill,
    /// Limits of the values, where there are any.
    pub clip: Option<ValueLimits>,
    /// Whether zeros stayed exactly zero.
    pub keep_zeros: bool,
    /// What the user keeps with the array.
    pub metadata: serde_json::Value,
    /// The version of the writer.
    pub writer: WriterVersion,
}

/// The version of the library that wrote a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterVersion(pub [u32; 3]);

impl WriterVersion {
    /// This one.
    fn this() -> Self {
        let mut numbers = env!("CARGO_PKG_VERSION").split('.');
        Self([(); 3].map(|()| numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0)))
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

    /// Bytes of the array before compression.
    pub fn raw_bytes(&self) -> usize {
        self.shape().iter().product::<usize>() * self.element.size()
    }
}

/// A frame's header with its codec at hand: all that is needed to encode and decode its chunks.
#[derive(Debug, Clone)]
pub struct FramePlan {
    header: FrameHeader,
    entry: &'static Entry,
}

impl FramePlan {
    /// Frames of this shape that give this guarantee; it replaces the bound of the options, which
    /// is recorded as the bound asked for.
    pub fn new<T: Element>(
        shape: &[usize],
        tolerance: Tolerance,
        options: &Options,
    ) -> Result<Self> {
        options.check()?;
        let mut entry = codec::by_name(&options.codec)?;
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
            writer: WriterVersion::this(),
        };
        Ok(Self { header, entry })
    }

    /// The plan of a frame that exists.
    pub(crate) fn of(header: FrameHeader) -> Result<Self> {
        let entry = codec::by_id(header.codec)?;
        Ok(Self { header, entry })
    }

    /// The same with other marks of missing data than the options say, such as those that
    /// [`ValueScan::fill`](crate::ValueScan::fill) found.
    pub fn with_fill(mut self, fill: Fill) -> Self {
        self.header.fill = fill;
        self
    }

    /// The same with other limits than the options say, such as those that follow from the range of
    /// all values ([`Clip::resolve`]).
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

    /// The values that must come back exactly, whatever each chunk finds besides.
    fn kept_values(&self) -> Result<FillValues> {
        let zero = if self.header.keep_zeros {
            FillValues::from(0.0)
        } else {
            FillValues::NONE
        };
        self.header.fill.values().and(zero)
    }

    /// Whether a chunk must be stored as it is, since decoders would take values that mark missing
    /// data for errors beyond a limit; an error if there are other values beyond it.
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
                    "the array holds {x}, which lies outside of the limits {limits}: give limits that \
                     hold, or clip data"
                )));
            }
        }
        Ok(any)
    }

    /// What marks missing data in a chunk that looks for it itself.
    fn missing_in<T: Element>(&self, level: Level, values: &[T]) -> FoundFill {
        let (fill, tolerance) = (self.header.fill, self.header.tolerance);
        match fill.is_auto() && tolerance != Tolerance::Lossless {
            true => chunk_fill(level, values, &fill.values()),
            false => FoundFill::default(),
        }
    }

    /// What the file says about a frame.
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

    /// The box of the array that a slab holds.
    pub fn slab_region(&self, slab: usize) -> Vec<Range<usize>> {
        self.header.grid.slab_region(slab)
    }

    /// Number of values of a slab.
    pub(crate) fn slab_len(&self, slab: usize) -> usize {
        self.slab_region(slab).iter().map(Range::len).product()
    }

    /// The numbers of a slab's chunks.
    pub(crate) fn chunks_of(&self, slab: usize) -> Range<usize> {
        self.header.grid.chunks_of(slab)
    }

    /// The box of a slab, if the frame has it and `shape` is its shape.
    pub(crate) fn check<T: Element>(
        &self,
        slab: usize,
        shape: Option<&[usize]>,
    ) -> Result<Vec<Range<usize>>> {
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

    /// Appends the body of a chunk: one value where all are the same, otherwise as its codec writes it,
    /// or raw where that is not smaller.
    pub(super) fn encode_chunk(
        &self,
        chunk: Values<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<(Form, FoundFill)> {
        let mut task = self.task_as_named(chunk.chunk)?;
        let mut found;
        let start = out.len();
        with_type!(self.header.element, T => {
            let values: &[T] = bytemuck::try_cast_slice(chunk.bytes).map_err(|_| misfit())?;
            if let Some(value) = constant::forward(values) {
                out.extend_from_slice(bytemuck::bytes_of(&value));
                return Ok((Form::Constant, FoundFill::default()));
            }
            // What marks missing data is looked for first, or where the codec has seen the values, only if
            // there may be something. Other types are not seen as they are; and where one chunk has such
            // data, the next one is likely to have some too.
            let seen = self.entry.tells_extremes && T::SIZE == 4;
            let later = seen && task.fill.is_empty() && !context.found_fill;
            found = match later {
                true => FoundFill::default(),
                false => self.missing_in(context.simd(), values),
            };
            task.fill = task.fill.and(found.values)?;
            context.extremes = None;
            self.entry.encode(values, &task, context, out)?;
            if later && may_have_fill(context.extremes.take()) {
                found = self.missing_in(context.simd(), values);
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

    /// What the codec is to do with a chunk, and what was found in it to mark missing data; `None` where
    /// all values are the same, and its body is one of them.
    pub fn task(
        &self,
        chunk: Values<'_>,
        context: &Context,
    ) -> Result<Option<(Task<'_>, FoundFill)>> {
        with_type!(self.header.element, T => {
            let values: &[T] = bytemuck::try_cast_slice(chunk.bytes).map_err(|_| misfit())?;
            if constant::forward(values).is_some() {
                return Ok(None);
            }
            let found = self.missing_in(context.simd(), values);
            let mut task = self.task_as_named(chunk.chunk)?;
            task.fill = task.fill.and(found.values)?;
            Ok(Some((task, found)))
        })
    }

    /// What the codec is to do with a chunk, but for missing data that nobody named.
    fn task_as_named(&self, chunk: usize) -> Result<Task<'_>> {
        Ok(Task {
            dims: self.dims(chunk),
            tolerance: self.header.tolerance,
            fill: self.kept_values()?,
            params: &self.header.params,
        })
    }

    /// Undoes [`Self::encode_chunk`].
    pub(super) fn decode_chunk(&self, chunk: &mut Target<'_>, context: &mut Context) -> Result<()> {
        let Body { form, bytes } = chunk.body;
        with_type!(self.header.element, T => {
            let out: &mut [T] = bytemuck::try_cast_slice_mut(chunk.out).map_err(|_| misfit())?;
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
        dims(&extents(&self.header.grid.region(chunk)))
    }
}

fn misfit() -> Error {
    Error::invalid("the memory of a chunk does not fit its element type")
}
