//! Writing: arrays in, records out.
//!
//! Steps of a frame: 1 resolve the bound, 2 frame record, 3 chunk records by several threads in
//! the order of the chunks, 4 end record.

use super::frame::FrameHeader;
use super::grid::{Grid, dims, extents};
use super::index::{self, FramePlace, Place};
use super::reader::Reader;
use super::record::{HEADER, Kind, Record};
use super::{FORMAT_VERSION, SIGNATURE};
use crate::array::{FiniteRange, View, contiguous_strides, gather};
use crate::bound::{Bound, BoundKind, Tolerance};
use crate::codec::{self, ChunkShape, Context, Entry, Params, Task};
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::parallel;
use crate::search;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Writes frames to a file, a pipe or memory.
///
/// Everything written before the process ends is readable: without [`Writer::finish`] a file has
/// no index, but its records are complete up to the last one (see [`super::recover`]).
pub struct Writer<W> {
    out: W,
    options: Options,
    position: u64,
    frames: Vec<FramePlace>,
    workers: Vec<Worker>,
    /// The bound that was last found for a `ratio` or a `psnr`.
    searched: Option<f64>,
}

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct FrameStats {
    /// Bytes of the array.
    pub raw_bytes: u64,
    /// Bytes that the frame takes in the file.
    pub stored_bytes: u64,
    /// Number of chunks.
    pub chunks: usize,
    /// Chunks that did not shrink and are stored raw.
    pub raw_chunks: usize,
    /// The guarantee that holds for every value.
    pub tolerance: Tolerance,
}

/// Buffers of one thread.
struct Worker {
    context: Context,
    /// Bytes of a slab, where the array comes from a stream.
    slab: Vec<u64>,
    /// Records of a slab.
    records: Vec<u8>,
    /// Bodies of these records: length, and whether the chunk is raw.
    chunks: Vec<(u64, bool)>,
}

/// Where the values of a frame come from.
enum Input<'a, T> {
    Memory(View<'a, T>),
    Stream(&'a mut (dyn Read + Send)),
}

impl Writer<File> {
    /// Writes a new file; one of that name is replaced.
    pub fn create(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        Self::new(File::create(path)?, options)
    }

    /// Adds frames to a complete file. Nothing that it holds is touched: if the process ends
    /// early, what was there before can be recovered with what was added.
    pub fn append(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        options.check()?;
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let frames = Reader::from_source(file.try_clone()?)?
            .frame_places()
            .to_vec();
        let position = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            out: file,
            options,
            position,
            frames,
            workers: Vec::new(),
            searched: None,
        })
    }
}

impl<W: Write + Send> Writer<W> {
    /// Writes to anything.
    pub fn new(out: W, options: Options) -> Result<Self> {
        options.check()?;
        let mut writer = Self {
            out,
            options,
            position: 0,
            frames: Vec::new(),
            workers: Vec::new(),
            searched: None,
        };
        let mut head = SIGNATURE.to_vec();
        head.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        head.extend_from_slice(&[0; 6]);
        writer.put(&head)?;
        Ok(writer)
    }

    /// Number of frames so far.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// The options for the frames to come.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Writes an array as the next frame.
    ///
    /// With a `ratio` or `psnr` bound, the search starts from the bound of the frame before, so
    /// that in a series it adapts from frame to frame; every frame records the bound it used.
    pub fn frame<T: Element>(&mut self, view: &View<'_, T>) -> Result<FrameStats> {
        if matches!(self.options.bound, Bound::Ratio(_) | Bound::Psnr(_)) {
            let tolerance = search::tolerance(view, &self.options, self.searched)?;
            if let Tolerance::Abs(bound) = tolerance {
                self.searched = Some(bound);
            }
            return self.write_frame(Input::Memory(view.clone()), view.shape(), tolerance);
        }
        let tolerance = self.options.tolerance(|| {
            let threads = parallel::threads(self.options.threads);
            Ok(range_of(&view.to_contiguous(), self.options.fill, threads).extent())
        })?;
        self.write_frame(Input::Memory(view.clone()), view.shape(), tolerance)
    }

    /// Writes an array whose values come from a stream of little-endian bytes in C order, as the
    /// next frame, in memory for a few chunks. A `range` bound needs the range, which the stream
    /// cannot tell beforehand.
    pub fn frame_from<T: Element>(
        &mut self,
        input: &mut (dyn Read + Send),
        shape: &[usize],
        range: Option<FiniteRange>,
    ) -> Result<FrameStats> {
        let tolerance = self.options.tolerance(|| {
            range.map(FiniteRange::extent).ok_or_else(|| {
                Error::invalid("a range bound on a stream needs the range of its values")
            })
        })?;
        self.write_frame::<T>(Input::Stream(input), shape, tolerance)
    }

    /// Writes the index and hands the output back. A file is complete only then.
    pub fn finish(mut self) -> Result<W> {
        let mut body = Vec::new();
        index::write_frames(&self.frames, self.position, &mut body);
        self.put_record(Kind::Index, self.frames.len(), &body)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_frame<T: Element>(
        &mut self,
        mut input: Input<'_, T>,
        shape: &[usize],
        tolerance: Tolerance,
    ) -> Result<FrameStats> {
        // 1. What the frame is.
        let header = frame_header::<T>(shape, tolerance, &self.options)?;
        let grid = &header.grid;
        let entry = codec::by_id(header.codec)?;
        let number = frame_number(self.frames.len())?;
        let start = self.position;

        // 2. Frame record.
        let mut body = Vec::new();
        header.write_to(&mut body);
        let header_place = self.put_record(Kind::Frame, self.frames.len(), &body)?;

        // 3. Chunk records.
        // Grows as chunks come: a stream may claim any shape.
        let mut places = Vec::new();
        let mut raw_chunks = 0;
        let threads = parallel::threads(self.options.threads)
            .min(grid.slabs())
            .max(1);
        let simd = self.options.simd;
        self.workers
            .resize_with(threads.max(self.workers.len()), || Worker::new(simd));
        let mut slabs = 0..grid.slabs();
        let memory = match &input {
            Input::Memory(view) => Some(view.clone()),
            Input::Stream(_) => None,
        };
        let task = Task {
            dims: dims(&[]),
            tolerance,
            fill: header.fill,
            params: &header.params,
        };
        parallel::ordered(
            &mut self.workers[..threads],
            |worker| {
                let Some(slab) = slabs.next() else {
                    return Ok(None);
                };
                if let Input::Stream(stream) = &mut input {
                    let bytes =
                        extents(&grid.slab_region(slab)).iter().product::<usize>() * T::SIZE;
                    worker.read_slab(*stream, bytes)?;
                }
                Ok(Some(slab))
            },
            |worker, slab| {
                worker.records.clear();
                worker.chunks.clear();
                let raw = std::mem::take(&mut worker.slab);
                let (values, strides, outer) = match &memory {
                    Some(view) => {
                        let whole = shape.iter().map(|&extent| 0..extent).collect();
                        (view.data, view.layout.strides.clone(), whole)
                    }
                    None => {
                        let region = grid.slab_region(slab);
                        let strides = contiguous_strides(&extents(&region));
                        (bytemuck::cast_slice(&raw), strides, region)
                    }
                };
                let offset = memory.as_ref().map_or(0, |view| view.layout.offset);
                let per_slab = grid.chunks_per_slab();
                for chunk in slab * per_slab..(slab + 1) * per_slab {
                    let region = grid.region(chunk);
                    let from = Block {
                        values,
                        strides: &strides,
                        origin: shift(offset, &region, &outer, &strides),
                    };
                    worker.encode(entry, &from, &extents(&region), &task, number, chunk as u32)?;
                }
                worker.slab = raw;
                Ok(())
            },
            |worker| {
                self.out.write_all(&worker.records)?;
                for &(length, raw) in &worker.chunks {
                    let place = Place {
                        offset: self.position,
                        length,
                    };
                    self.position = place.end();
                    places.push(place);
                    raw_chunks += usize::from(raw);
                }
                Ok(())
            },
        )?;

        // 4. End record.
        self.end_frame(header_place, &places)?;
        Ok(FrameStats {
            raw_bytes: header.raw_bytes() as u64,
            stored_bytes: self.position - start,
            chunks: places.len(),
            raw_chunks,
            tolerance,
        })
    }

    /// Writes a frame whose chunks exist as bodies of records; `body` appends one and tells its kind.
    pub(super) fn copy_frame(
        &mut self,
        header: &FrameHeader,
        mut body: impl FnMut(usize, &mut Vec<u8>) -> Result<Kind>,
    ) -> Result<()> {
        let number = frame_number(self.frames.len())?;
        let mut bytes = Vec::new();
        header.write_to(&mut bytes);
        let header_place = self.put_record(Kind::Frame, self.frames.len(), &bytes)?;
        let mut places = Vec::new();
        for chunk in 0..header.grid.chunks() {
            bytes.clear();
            let kind = body(chunk, &mut bytes)?;
            let mut record = vec![0; HEADER];
            record.extend_from_slice(&bytes);
            Record::seal(kind, number, chunk as u32, &mut record, 0);
            places.push(Place {
                offset: self.position,
                length: bytes.len() as u64,
            });
            self.put(&record)?;
        }
        self.end_frame(header_place, &places)
    }

    /// The end record of a frame.
    fn end_frame(&mut self, header: Place, chunks: &[Place]) -> Result<()> {
        let mut body = Vec::new();
        index::write_chunks(chunks, &mut body);
        let end = self.put_record(Kind::End, self.frames.len(), &body)?;
        self.frames.push(FramePlace { header, end });
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn put_record(&mut self, kind: Kind, frame: usize, body: &[u8]) -> Result<Place> {
        let place = Place {
            offset: self.position,
            length: body.len() as u64,
        };
        let mut record = Vec::new();
        Record::write(kind, frame_number(frame)?, body, &mut record);
        self.put(&record)?;
        Ok(place)
    }
}

/// A box of an array in memory.
struct Block<'a, T> {
    values: &'a [T],
    strides: &'a [isize],
    origin: usize,
}

impl Worker {
    fn new(simd: crate::simd::Level) -> Self {
        Self {
            context: Context::new(simd),
            slab: Vec::new(),
            records: Vec::new(),
            chunks: Vec::new(),
        }
    }

    fn read_slab(&mut self, stream: &mut dyn Read, bytes: usize) -> Result<()> {
        self.slab.resize(bytes.div_ceil(8), 0);
        let buffer = &mut bytemuck::cast_slice_mut(&mut self.slab)[..bytes];
        stream
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::invalid(
                    "the input ends before the array does: check the shape and the element type",
                ),
                _ => error.into(),
            })
    }

    /// Appends the record of one chunk.
    fn encode<T: Element>(
        &mut self,
        entry: &Entry,
        from: &Block<'_, T>,
        extents: &[usize],
        task: &Task<'_>,
        frame: u32,
        number: u32,
    ) -> Result<()> {
        let length: usize = extents.iter().product();
        let mut gathered = self.context.take::<Vec<T>>();
        let values = if is_contiguous(extents, from.strides) {
            &from.values[from.origin..from.origin + length]
        } else {
            gathered.resize(length, T::default());
            gather(
                from.values,
                extents,
                from.strides,
                from.origin,
                &mut gathered,
            );
            &gathered[..]
        };
        let task = Task {
            dims: dims(extents),
            ..*task
        };
        let start = self.records.len();
        self.records.resize(start + HEADER, 0);
        entry.encode(values, &task, &mut self.context, &mut self.records)?;
        let raw: &[u8] = bytemuck::cast_slice(values);
        let shrunk = self.records.len() - start - HEADER < raw.len();
        if !shrunk && entry.info.id != codec::RAW {
            self.records.truncate(start + HEADER);
            self.records.extend_from_slice(raw);
        }
        let kind = if shrunk { Kind::Coded } else { Kind::Raw };
        Record::seal(kind, frame, number, &mut self.records, start);
        let body = self.records.len() - start - HEADER;
        self.chunks.push((body as u64, !shrunk));
        self.context.put_back(gathered);
        Ok(())
    }
}

/// The most bytes that an array can take, alone in a file: every chunk stored raw.
pub fn max_compressed_size(
    shape: &[usize],
    element: ElementType,
    options: &Options,
) -> Result<usize> {
    // The lengths of the texts do not depend on the resolved bound; the longest codec choice is
    // found by asking for both.
    let header = |tolerance| match element {
        ElementType::F32 => frame_header::<f32>(shape, tolerance, options),
        ElementType::F64 => frame_header::<f64>(shape, tolerance, options),
    };
    let mut longest = 0;
    let mut frame = Vec::new();
    for tolerance in [Tolerance::Abs(1.0), Tolerance::Lossless] {
        frame.clear();
        header(tolerance)?.write_to(&mut frame);
        longest = longest.max(frame.len());
    }
    let header = header(Tolerance::Lossless)?;
    let chunks = header.grid.chunks();
    let mut index = Vec::new();
    let nowhere = Place {
        offset: 0,
        length: 0,
    };
    let places = FramePlace {
        header: nowhere,
        end: nowhere,
    };
    index::write_frames(&[places], 0, &mut index);
    Ok(16
        + HEADER
        + longest
        + header.raw_bytes()
        + chunks * (HEADER + 16)
        + HEADER
        + HEADER
        + index.len())
}

fn frame_header<T: Element>(
    shape: &[usize],
    tolerance: Tolerance,
    options: &Options,
) -> Result<FrameHeader> {
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
    Ok(FrameHeader {
        element: T::TYPE,
        grid,
        codec: entry.info.id,
        params,
        asked: options.bound,
        tolerance,
        fill: options.fill,
        metadata: options.metadata.clone().unwrap_or_default(),
        writer: concat!("ebz ", env!("CARGO_PKG_VERSION")).into(),
    })
}

fn frame_number(frame: usize) -> Result<u32> {
    u32::try_from(frame).map_err(|_| Error::invalid("a file holds at most 2^32 frames"))
}

/// The finite range of contiguous values, by several threads.
fn range_of<T: Element>(values: &[T], fill: Option<f64>, threads: usize) -> FiniteRange {
    const PIECE: usize = 1 << 20;
    let mut pieces = values.chunks(PIECE);
    let mut ranges = vec![FiniteRange::EMPTY; threads.min(pieces.len()).max(1)];
    // The closures cannot fail, and neither can the whole.
    let _ = parallel::unordered(
        &mut ranges,
        |_| Ok(pieces.next()),
        |range, piece| {
            *range = range.join(FiniteRange::of(piece, fill));
            Ok(())
        },
    );
    ranges
        .into_iter()
        .fold(FiniteRange::EMPTY, FiniteRange::join)
}

/// Where the first element of `region` lies, in memory whose element at `offset` is the first of
/// the box `outer`.
fn shift(
    offset: usize,
    region: &[Range<usize>],
    outer: &[Range<usize>],
    strides: &[isize],
) -> usize {
    let steps = region.iter().zip(outer).zip(strides);
    steps.fold(offset as isize, |at, ((inner, outer), stride)| {
        at + (inner.start - outer.start) as isize * stride
    }) as usize
}

fn is_contiguous(extents: &[usize], strides: &[isize]) -> bool {
    let expected = contiguous_strides(extents);
    (0..extents.len()).all(|axis| extents[axis] <= 1 || strides[axis] == expected[axis])
}
