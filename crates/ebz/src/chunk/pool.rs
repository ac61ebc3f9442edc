//! A thread pool that encodes the chunks of a frame in order.

use super::body::EncodedChunks;
use super::coder::ChunkCoder;
use super::engine::SharedEngine;
use super::grid::extents;
use super::plan::FramePlan;
use crate::array::{PerAxis, View};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::Level;
use std::cell::Cell;
use std::io::Read;
use std::ops::Range;

/// Source of the values of a frame.
pub(crate) enum Input<'a, T> {
    Memory(&'a View<'a, T>),
    Stream(Stream<'a>),
}

/// An array read as bytes from a stream.
pub(crate) struct Stream<'a>(pub &'a mut (dyn Read + Send));

impl Stream<'_> {
    /// Reads the next `length` bytes.
    fn read(&mut self, buffer: &mut Vec<u64>, length: usize) -> Result<()> {
        buffer.resize(length.div_ceil(8), 0);
        let buffer = &mut bytemuck::cast_slice_mut(buffer)[..length];
        self.0
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::invalid(
                    "the input ends before the array does: check the shape and the element type",
                ),
                _ => error.into(),
            })
    }
}

/// An engine and its worker threads; buffers are reused between frames.
#[derive(Default)]
pub(crate) struct Pool {
    pub engine: SharedEngine,
    workers: Vec<Worker>,
}

/// Buffers of one worker thread.
struct Worker {
    coder: ChunkCoder,
    /// Values of a run of slabs, for input from a stream.
    raw: Vec<u64>,
    encoded: EncodedChunks,
}

thread_local! {
    /// The worker that the last pool on this thread left for the next one, in its list.
    static CACHED: Cell<Option<(Level, Vec<Worker>)>> = const { Cell::new(None) };
}

impl Pool {
    /// A pool that reuses the buffers that [`Pool::cache`] stored on this thread, if the
    /// instruction set matches.
    pub fn cached(simd: Level) -> Self {
        // Thread-local storage may be gone while the thread exits.
        let cached = CACHED.try_with(Cell::take).ok().flatten();
        let same = cached.filter(|(level, _)| *level == simd);
        Self {
            workers: same.map(|(_, workers)| workers).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Stores the buffers of one worker for the next array on this thread.
    pub fn cache(mut self, simd: Level) {
        self.workers.truncate(1);
        let _ = CACHED.try_with(|cached| cached.set(Some((simd, self.workers))));
    }

    /// The coder of one worker, and what it encodes to.
    pub fn coder(&mut self, simd: Level) -> (&mut ChunkCoder, &mut EncodedChunks) {
        if self.workers.is_empty() {
            self.workers.push(Worker::new(simd));
        }
        let worker = &mut self.workers[0];
        (&mut worker.coder, &mut worker.encoded)
    }

    /// Appends the chunks of a frame to `memory` from now on.
    pub fn write_to(&mut self, memory: Vec<u8>, frame: u32, simd: Level) {
        self.coder(simd).1.write_to(memory, frame);
    }

    /// Returns the memory that chunks were appended to.
    pub fn take_memory(&mut self) -> Option<Vec<u8>> {
        self.workers.first_mut()?.encoded.take_memory()
    }

    /// Number of slabs per job, and of threads that have any to do.
    pub fn jobs(&self, plan: &FramePlan, threads: usize) -> (usize, usize) {
        // A run of slabs has about as many chunks as the engine prefers per call.
        let per_slab = plan.header().grid.chunks_per_slab().max(1);
        let run = (self.engine.batch(plan) / per_slab).max(1);
        let runs = plan.slabs().div_ceil(run);
        (run, parallel::threads(threads).min(runs).max(1))
    }

    /// Encodes the chunks of a frame. `finish` gets runs of them in any order, on any thread; then
    /// `emit` gets the same runs in order.
    pub fn encode<T: Element>(
        &mut self,
        plan: &FramePlan,
        mut input: Input<'_, T>,
        (threads, simd): (usize, Level),
        finish: impl Fn(&mut EncodedChunks) + Sync,
        mut emit: impl FnMut(&mut EncodedChunks) -> Result<()> + Send,
    ) -> Result<()> {
        let (run, threads) = self.jobs(plan, threads);
        let (engine, workers) = (&*self.engine, &mut self.workers);
        let grid = &plan.header().grid;
        workers.resize_with(threads.max(workers.len()), || Worker::new(simd));
        let whole = grid.whole();
        let memory = match input {
            Input::Memory(view) => Some(view),
            Input::Stream(_) => None,
        };
        let mut firsts = (0..plan.slabs()).step_by(run);
        parallel::ordered(
            &mut workers[..threads],
            |worker| {
                let Some(first) = firsts.next() else {
                    return Ok(None);
                };
                let slabs = first..plan.slabs().min(first + run);
                if let Input::Stream(stream) = &mut input {
                    let values: usize = slabs.clone().map(|slab| plan.slab_len(slab)).sum();
                    stream.read(&mut worker.raw, values * T::SIZE)?;
                }
                Ok(Some(slabs))
            },
            |worker, slabs| {
                let (coder, encoded) = (&mut worker.coder, &mut worker.encoded);
                let chunks = plan.chunks_of(slabs.start).start..plan.chunks_of(slabs.end).start;
                encoded.restart(chunks.start);
                match memory {
                    Some(view) => {
                        let part = |chunk| Ok(view.part(&grid.chunk_box(chunk), &whole));
                        coder.encode(engine, plan, chunks, part, encoded)?;
                    }
                    None => {
                        let values: &[T] = bytemuck::cast_slice(&worker.raw);
                        let part = |chunk| stream_part(plan, slabs.start, values, chunk);
                        coder.encode(engine, plan, chunks, part, encoded)?;
                    }
                }
                finish(encoded);
                Ok(())
            },
            |worker| emit(&mut worker.encoded),
        )
    }
}

/// Consecutive chunks with a plan of their own, and the box of the array that holds them.
pub(crate) struct Piece<'a, T> {
    pub plan: FramePlan,
    pub chunks: Range<usize>,
    pub region: PerAxis<Range<usize>>,
    pub view: View<'a, T>,
}

impl Pool {
    /// Encodes pieces, which `next` gives in order; `emit` gets the bodies of each in the same order.
    /// When `next` is called, those before the last `threads` have been emitted.
    pub fn encode_pieces<'v, T: Element>(
        &mut self,
        (threads, simd): (usize, Level),
        mut next: impl FnMut() -> Result<Option<Piece<'v, T>>> + Send,
        mut emit: impl FnMut(&mut EncodedChunks) -> Result<()> + Send,
    ) -> Result<()> {
        let (engine, workers) = (&*self.engine, &mut self.workers);
        let threads = parallel::threads(threads);
        workers.resize_with(threads.max(workers.len()), || Worker::new(simd));
        parallel::ordered(
            &mut workers[..threads],
            |_| next(),
            |Worker { coder, encoded, .. }, piece| {
                let Piece { plan, chunks, .. } = &piece;
                encoded.restart(chunks.start);
                let grid = &plan.header().grid;
                let part = |chunk| Ok(piece.view.part(&grid.chunk_box(chunk), &piece.region));
                coder.encode(engine, plan, chunks.clone(), part, encoded)
            },
            |worker| emit(&mut worker.encoded),
        )
    }
}

impl Worker {
    fn new(simd: Level) -> Self {
        Self {
            coder: ChunkCoder::new(simd),
            raw: Vec::new(),
            encoded: EncodedChunks::default(),
        }
    }
}

/// A chunk in a contiguous run of slabs that starts with slab `first`.
fn stream_part<'a, T: Element>(
    plan: &FramePlan,
    first: usize,
    values: &'a [T],
    chunk: usize,
) -> Result<View<'a, T>> {
    let grid = &plan.header().grid;
    let slab = chunk / grid.chunks_per_slab().max(1);
    let start: usize = (first..slab).map(|slab| plan.slab_len(slab)).sum();
    let region = grid.slab_box(slab);
    let view = View::new(
        &values[start..start + plan.slab_len(slab)],
        &extents(&region),
    )?;
    Ok(view.part(&grid.chunk_box(chunk), &region))
}

/// A frame that is encoded but not yet written.
pub(crate) struct EncodedFrame {
    pub plan: FramePlan,
    pub runs: Vec<EncodedChunks>,
}

impl EncodedFrame {
    /// Encodes an array.
    pub fn new<T: Element>(
        plan: FramePlan,
        view: &View<'_, T>,
        pool: &mut Pool,
        settings: (usize, Level),
    ) -> Result<Self> {
        let mut runs = Vec::new();
        let keep = |run: &mut EncodedChunks| {
            runs.push(std::mem::take(run));
            Ok(())
        };
        pool.encode(&plan, Input::Memory(view), settings, |_| (), keep)?;
        Ok(Self { plan, runs })
    }
}
