//! Writing arrays as records.
//!
//! Writing a frame: 1 resolve the bound, 2 write the frame record, 3 encode chunks on several
//! threads and write their records in order, 4 write the end record.

use super::append::{LockedFile, Session};
use super::file_header::FILE_HEADER_BYTES;
use super::index::{self, FramePlace, FramePlaces, Place, Places, frame_number};
use super::record::{Kind, Record};
use super::size::size_of;
use super::slab::{EncodedSlab, seal};
use super::{FORMAT_VERSION, SIGNATURE};
use crate::array::{FoundFill, ValueScan, View};
use crate::auto::{self, Choice};
use crate::bound::{Bound, Tolerance};
use crate::chunk::{
    EncodedChunks, EncodedFrame, Engine, Form, FrameHeader, FramePlan, Input, Pool, Stream,
};
use crate::codec;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::fill::Fill;
use crate::options::Options;
use crate::parallel;
use crate::search::{self, SearchStats};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Maximum raw size of a chunk whose buffers are cached for the next array on this thread: page
/// faults on fresh memory take a twentieth of the time of large arrays and most of that of small
/// ones.
const MAX_CACHED_CHUNK_BYTES: u64 = 16 << 20;

/// Enough for most frame headers and indexes of one frame.
const SHORT_BODY_BYTES: usize = 64;

/// Writes frames to a file, a pipe or memory.
///
/// A file whose writer was killed can be recovered: without [`Writer::finish`] it has no index, but
/// its records are complete up to the last one (see [`super::recover`]).
pub struct Writer<W> {
    out: W,
    options: Options,
    position: u64,
    frames: FramePlaces,
    pool: Pool,
    /// Result of the last search for a `ratio` or `psnr`.
    last: Option<search::Last>,
    /// The append in progress, if any.
    session: Option<Session>,
    /// The memory of the output, if it is memory that can grow: a single thread encodes into it.
    memory: Option<Memory<W>>,
}

type Memory<W> = fn(&mut W) -> &mut Vec<u8>;

/// Statistics of a written frame.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct FrameStats {
    /// Uncompressed size of the array.
    pub raw_bytes: u64,
    /// Size of the frame in the file.
    pub stored_bytes: u64,
    /// Number of chunks.
    pub chunks: usize,
    /// Number of incompressible chunks, stored raw.
    pub raw_chunks: usize,
    /// The error bound that every value meets.
    pub tolerance: Tolerance,
    /// How the search for a `ratio` or `psnr` went.
    pub search: Option<SearchStats>,
    /// Fill values that were detected.
    pub found: FoundFill,
    /// What codec `auto` chose.
    pub choice: Option<Choice>,
}

impl Writer<File> {
    /// Creates a file, replacing an existing one.
    pub fn create(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        Self::new(File::create(path)?, options)
    }

    /// Appends frames to a complete file. Existing frames are not touched.
    ///
    /// The file stays locked until the writer is finished or dropped: other appends wait for it (as
    /// does this call), and readers see the previous frames. A writer dropped without
    /// [`Writer::finish`] leaves a complete file with all complete frames; if the process is
    /// killed, `ebz recover` restores them. [`LockedFile::try_open`] does not wait.
    pub fn append(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        options.check()?;
        Self::append_to(LockedFile::open(path)?, options)
    }

    /// [`Writer::append`] to a file that is already locked.
    pub fn append_to(locked: LockedFile, options: Options) -> Result<Self> {
        let file = locked.file()?;
        let mut writer = Self::continued(file, &locked, options)?;
        writer.session = Some(Session::new(locked));
        Ok(writer)
    }
}

impl<W: Write + Send> Writer<W> {
    /// Writes to any output.
    pub fn new(out: W, options: Options) -> Result<Self> {
        options.check()?;
        let mut writer = Self {
            out,
            options,
            position: 0,
            frames: FramePlaces::new(),
            pool: Pool::default(),
            last: None,
            session: None,
            memory: None,
        };
        let mut head = [0; FILE_HEADER_BYTES];
        head[..8].copy_from_slice(&SIGNATURE);
        head[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        writer.put(&head)?;
        Ok(writer)
    }

    /// Appends frames through the caller's output, which must write to [`LockedFile::file`] only.
    /// The caller ends the append with [`LockedFile::complete`] or [`LockedFile::undo`].
    pub fn continued(out: W, locked: &LockedFile, options: Options) -> Result<Self> {
        options.check()?;
        let reader = locked.reader();
        let last = match reader.frames().checked_sub(1) {
            Some(last) => {
                let frame = reader.frame(last)?;
                search::Last::of(frame.header(), frame.stored_bytes(), &options)
            }
            None => None,
        };
        locked.begin()?;
        Ok(Self {
            out,
            options,
            position: reader.size(),
            frames: reader.frame_places().into(),
            pool: Pool::default(),
            last,
            session: None,
            memory: None,
        })
    }

    /// Writes a single array as a complete stream, with the buffers of the last one on this thread. `memory` is that
    /// of the output, if it has any that can grow.
    #[doc(hidden)]
    pub fn write_one<T: Element>(
        out: W,
        memory: Option<Memory<W>>,
        options: Options,
        view: &View<'_, T>,
    ) -> Result<FrameStats> {
        let simd = options.simd;
        let mut writer = Self::new(out, options)?;
        writer.memory = memory;
        writer.pool = Pool::cached(simd);
        let stats = writer.frame(view)?;
        if stats.raw_bytes <= MAX_CACHED_CHUNK_BYTES * stats.chunks as u64 {
            std::mem::take(&mut writer.pool).cache(simd);
        }
        writer.finish()?;
        Ok(stats)
    }

    /// Sets the engine that encodes chunks; does not affect the output.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.pool.engine = engine.into();
        self
    }

    /// Number of frames so far.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Options for the following frames.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Writes an array as the next frame.
    ///
    /// With a `ratio` or `psnr` bound, the search starts from the result of the previous frame, so
    /// that in a series of similar arrays it takes one or two encodings per frame; every frame
    /// stores the bound it used.
    pub fn frame<T: Element>(&mut self, view: &View<'_, T>) -> Result<FrameStats> {
        let scan = scan_for(&self.options, view);
        if !self.options.is_auto() {
            return self.frame_by_codec(view, scan.as_ref());
        }
        let choice = auto::choose(view, scan.as_ref(), &self.options, &mut self.pool)?;
        let auto = std::mem::replace(&mut self.options.codec, choice.codec.into());
        let stats = self.frame_by_codec(view, scan.as_ref());
        self.options.codec = auto;
        Ok(FrameStats {
            choice: Some(choice),
            ..stats?
        })
    }

    fn frame_by_codec<T: Element>(
        &mut self,
        view: &View<'_, T>,
        scan: Option<&ValueScan>,
    ) -> Result<FrameStats> {
        match self.options.bound {
            Bound::Ratio(_) | Bound::Psnr(_) => self.searched_frame(view),
            _ => self.write_frame(Input::Memory(view), view.shape(), scan),
        }
    }

    /// Writes the best encoding that the search found.
    fn searched_frame<T: Element>(&mut self, view: &View<'_, T>) -> Result<FrameStats> {
        let number = frame_number(self.frames.len())?;
        let (options, pool) = (&self.options, &mut self.pool);
        let found = search::frame(view, options, pool, self.last, &file_size)?;
        let EncodedFrame { plan, runs } = found.frame;
        let mut frame = self.begin(&plan)?;
        for mut run in runs {
            seal(number, &mut run);
            frame.put(&run)?;
        }
        frame.found = found.fill;
        let stats = frame.end()?;
        self.last = Some(found.last);
        Ok(FrameStats {
            search: Some(found.summary),
            ..stats
        })
    }

    /// Writes an array from a stream of little-endian values in C order as the next frame, with
    /// memory for a few chunks. A `range` bound needs a `scan` of all values, made with the `fill`
    /// of the options.
    pub fn frame_from<T: Element>(
        &mut self,
        input: &mut (dyn Read + Send),
        shape: &[usize],
        scan: Option<&ValueScan>,
    ) -> Result<FrameStats> {
        let scan = scan.filter(|_| self.options.needs_range());
        self.write_frame::<T>(Input::Stream(Stream(input)), shape, scan)
    }

    /// Writes the index, which completes the file, and returns the output.
    pub fn finish(mut self) -> Result<W> {
        if self.position > index::MAX_OFFSET {
            return Err(Error::unsupported("a file can have at most 2^48 bytes"));
        }
        let mut body = Vec::with_capacity(SHORT_BODY_BYTES);
        index::write_frames(&self.frames, self.position, &mut body);
        self.put_record(Kind::Index, &body)?;
        self.out.flush()?;
        if let Some(session) = &mut self.session {
            session.finish()?;
        }
        Ok(self.out)
    }

    fn write_frame<T: Element>(
        &mut self,
        input: Input<'_, T>,
        shape: &[usize],
        scan: Option<&ValueScan>,
    ) -> Result<FrameStats> {
        let tolerance = self.options.tolerance(|| {
            let extent = scan.map(|scan| scan.range().extent());
            extent.ok_or_else(|| {
                Error::invalid("a range bound on a stream needs a scan of its values first")
            })
        })?;
        let mut plan = FramePlan::new::<T>(shape, tolerance, &self.options)?;
        let mut found = FoundFill::default();
        if let Some(scan) = scan {
            plan = plan
                .with_fill(scan.fill())
                .with_clip(self.options.clip.resolve(scan.range()));
            found = scan.found();
        }
        let number = frame_number(self.frames.len())?;
        let (threads, simd) = (self.options.threads, self.options.simd);
        let mut pool = std::mem::take(&mut self.pool);
        let mut frame = self.begin(&plan)?;
        // A buffer that stays in the caches is faster for many chunks, unless each of them is only copied.
        let direct = plan.chunks() == 1 || plan.header().codec == codec::RAW;
        if let (Some(memory), true, (_, 1)) =
            (frame.writer.memory, direct, pool.jobs(&plan, threads))
        {
            let memory = std::mem::take(memory(&mut frame.writer.out));
            pool.write_to(memory, number, simd);
        }
        let finish = |run: &mut EncodedChunks| seal(number, run);
        let emit = |run: &mut EncodedChunks| frame.put_run(run);
        let done = pool.encode(&plan, input, (threads, simd), finish, emit);
        if let (Some(memory), Some(written)) = (frame.writer.memory, pool.take_memory()) {
            *memory(&mut frame.writer.out) = written;
        }
        done?;
        frame.found.join(&found);
        let stats = frame.end()?;
        self.pool = pool;
        Ok(stats)
    }

    /// Starts a frame whose slabs are encoded by a [`SlabCoder`](crate::slab::SlabCoder) with frame
    /// number [`Writer::frames`].
    pub fn begin<'w>(&'w mut self, plan: &'w FramePlan) -> Result<FrameWriter<'w, W>> {
        let start = self.position;
        let mut body = Vec::with_capacity(SHORT_BODY_BYTES);
        plan.header().write_to(&mut body);
        let header = self.put_record(Kind::Frame, &body)?;
        Ok(FrameWriter {
            frame: frame_number(self.frames.len())?,
            writer: self,
            plan,
            start,
            header,
            places: Places::new(),
            raw_chunks: 0,
            found: FoundFill::default(),
        })
    }

    /// Writes a frame from existing chunk bodies; `body` appends a body and returns its form.
    pub(super) fn copy_frame(
        &mut self,
        header: &FrameHeader,
        mut body: impl FnMut(usize, &mut Vec<u8>) -> Result<Form>,
    ) -> Result<()> {
        let number = frame_number(self.frames.len())?;
        let mut record = Vec::new();
        header.write_to(&mut record);
        let header_place = self.put_record(Kind::Frame, &record)?;
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for chunk in 0..header.grid.chunks() {
            bytes.clear();
            let form = body(chunk, &mut bytes)?;
            let record = Record::of_chunk(number, chunk, form, bytes.len() as u64);
            places.push(self.put_as(&record, &bytes)?);
        }
        self.end_frame(header_place, &places)
    }

    /// Completes a frame; writes an end record if it has several chunks.
    fn end_frame(&mut self, header: Place, chunks: &[Place]) -> Result<()> {
        let mut place = FramePlace {
            header,
            chunks: chunks.iter().map(|chunk| chunk.record_len()).sum(),
            end: None,
        };
        if chunks.len() > 1 {
            let mut body = Vec::new();
            index::write_chunks(chunks, &mut body);
            place.end = Some(self.put_record(Kind::End, &body)?);
        }
        self.frames.push(place);
        if let Some(session) = &mut self.session {
            session.frame(place, self.position);
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Writes a record of the current frame that is not a chunk.
    fn put_record(&mut self, kind: Kind, body: &[u8]) -> Result<Place> {
        let frame = frame_number(self.frames.len())?;
        self.put_as(&Record::other(kind, frame, body.len() as u64), body)
    }

    fn put_as(&mut self, record: &Record, body: &[u8]) -> Result<Place> {
        let place = Place::new(self.position, record);
        self.put(record.header(body).as_ref())?;
        self.put(body)?;
        Ok(place)
    }
}

/// A frame being written slab by slab.
pub struct FrameWriter<'w, W> {
    writer: &'w mut Writer<W>,
    plan: &'w FramePlan,
    frame: u32,
    start: u64,
    header: Place,
    /// Grows with the chunks written: the shape may be untrusted.
    places: Places,
    raw_chunks: usize,
    found: FoundFill,
}

impl<W: Write + Send> FrameWriter<'_, W> {
    /// Writes the next slab; returns the byte range of its records in the file.
    pub fn slab(&mut self, slab: &EncodedSlab) -> Result<Range<u64>> {
        let chunk = slab.chunks.first();
        if (slab.frame, chunk) != (self.frame, self.places.len()) {
            return Err(Error::invalid(format!(
                "got chunk {chunk} of frame {}, expected chunk {} of frame {}",
                slab.frame,
                self.places.len(),
                self.frame
            )));
        }
        let start = self.writer.position;
        self.put(&slab.chunks)?;
        Ok(start..self.writer.position)
    }

    /// Writes the records of the next chunks.
    fn put_run(&mut self, chunks: &mut EncodedChunks) -> Result<()> {
        let total = self.plan.chunks();
        if !chunks.keep_in_place(total, self.plan.header().raw_bytes() / total.max(1)) {
            return self.put(chunks);
        }
        self.add_chunks(chunks);
        Ok(())
    }

    /// Writes the records of the next chunks.
    fn put(&mut self, chunks: &EncodedChunks) -> Result<()> {
        self.writer.out.write_all(chunks.bytes())?;
        self.add_chunks(chunks);
        Ok(())
    }

    /// Adds the records of the next chunks at the current position.
    fn add_chunks(&mut self, chunks: &EncodedChunks) {
        for body in chunks.bodies() {
            self.add_chunk(body.form, body.bytes.len() as u64);
        }
        self.found.join(&chunks.found());
    }

    /// Adds the record of the next chunk at the current position.
    fn add_chunk(&mut self, form: Form, length: u64) {
        let record = Record::of_chunk(self.frame, self.places.len(), form, length);
        let place = Place::new(self.writer.position, &record);
        self.writer.position = place.end();
        self.places.push(place);
        self.raw_chunks += usize::from(form == Form::Raw);
    }

    /// Completes the frame after its last slab.
    pub fn end(self) -> Result<FrameStats> {
        if self.places.len() != self.plan.chunks() {
            return Err(Error::invalid(format!(
                "the frame has {} chunks but {} were written",
                self.plan.chunks(),
                self.places.len()
            )));
        }
        self.writer.end_frame(self.header, &self.places)?;
        Ok(FrameStats {
            raw_bytes: self.plan.header().raw_bytes() as u64,
            stored_bytes: self.writer.position - self.start,
            chunks: self.places.len(),
            raw_chunks: self.raw_chunks,
            tolerance: self.plan.header().tolerance,
            search: None,
            found: self.found.confirmed(),
            choice: None,
        })
    }
}

impl<W: Write + Seek + Send> FrameWriter<'_, W> {
    /// Reserves space for the records of the next chunks, which another process, such as an MPI
    /// rank, encodes and writes. Takes [`EncodedSlab::bodies`]; returns the byte range of the file
    /// for [`EncodedSlab::bytes`], provided that the writer started at the first byte of the file.
    pub fn reserve(&mut self, bodies: &[(Form, u64)]) -> Result<Range<u64>> {
        let start = self.writer.position;
        for &(form, length) in bodies {
            self.add_chunk(form, length);
        }
        let length = i64::try_from(self.writer.position - start)
            .map_err(|_| Error::invalid("invalid body lengths"))?;
        self.writer.out.seek(SeekFrom::Current(length))?;
        Ok(start..self.writer.position)
    }
}

/// Size of a file with only this frame.
fn file_size(frame: &EncodedFrame) -> usize {
    let bodies = frame.runs.iter().flat_map(EncodedChunks::bodies);
    let mut header = Vec::new();
    frame.plan.header().write_to(&mut header);
    let bodies = bodies.map(|body| (body.bytes.len() as u64, 1));
    size_of(header.len(), bodies) as usize
}

/// The codec that `auto` chooses for an array with these options.
pub fn choose<T: Element>(view: &View<'_, T>, options: &Options) -> Result<Choice> {
    let scan = scan_for(options, view);
    auto::choose(view, scan.as_ref(), options, &mut Pool::default())
}

/// A scan of an array, if its bound needs one.
fn scan_for<T: Element>(options: &Options, view: &View<'_, T>) -> Option<ValueScan> {
    options.needs_range().then(|| {
        let threads = parallel::threads(options.threads);
        scan_of(&view.to_contiguous(), options.fill, threads)
    })
}

/// Scans contiguous values on several threads.
pub(crate) fn scan_of<T: Element>(values: &[T], fill: Fill, threads: usize) -> ValueScan {
    const VALUES_PER_JOB: usize = 1 << 20;
    let mut pieces = values.chunks(VALUES_PER_JOB);
    let mut scans = vec![ValueScan::new(fill); threads.min(pieces.len()).max(1)];
    // The closures never fail.
    let _ = parallel::unordered(
        &mut scans,
        |_| Ok(pieces.next()),
        |scan, piece| {
            scan.add(piece);
            Ok(())
        },
    );
    scans.iter().fold(ValueScan::new(fill), |mut all, scan| {
        all.join(scan);
        all
    })
}
