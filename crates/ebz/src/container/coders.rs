//! The slabs of a frame, coded by several threads, in order.

use super::grid::extents;
use super::index;
use super::record::HEADER;
use super::slab::{EncodedSlab, FramePlan, SlabCoder};
use crate::array::View;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::Level;
use std::cell::Cell;
use std::io::Read;

/// Where the values of a frame come from.
pub(super) enum Input<'a, T> {
    Memory(&'a View<'a, T>),
    Stream(Stream<'a>),
}

/// An array that comes as bytes.
pub(super) struct Stream<'a> {
    bytes: &'a mut (dyn Read + Send),
    /// The first slab, if it has been read.
    first: Option<Vec<u64>>,
}

impl<'a> Stream<'a> {
    pub fn new(bytes: &'a mut (dyn Read + Send)) -> Self {
        Self { bytes, first: None }
    }

    /// Reads the next slab, of so many bytes.
    fn read(&mut self, slab: &mut Vec<u64>, length: usize) -> Result<()> {
        if let Some(first) = self.first.take() {
            *slab = first;
            return Ok(());
        }
        slab.resize(length.div_ceil(8), 0);
        let buffer = &mut bytemuck::cast_slice_mut(slab)[..length];
        self.bytes
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::invalid(
                    "the input ends before the array does: check the shape and the element type",
                ),
                _ => error.into(),
            })
    }
}

/// The buffers of every thread, kept from frame to frame.
#[derive(Default)]
pub(crate) struct Coders(Vec<Worker>);

/// Buffers of one thread.
struct Worker {
    coder: SlabCoder,
    /// Bytes of a slab, where the array comes from a stream.
    raw: Vec<u64>,
    slab: EncodedSlab,
}

thread_local! {
    /// What the last array of this thread left for the next one.
    static KEPT: Cell<Option<(Level, Coders)>> = const { Cell::new(None) };
}

impl Coders {
    /// What [`Coders::keep`] left in this thread, if it is for the same instructions.
    pub fn kept(simd: Level) -> Self {
        // A thread that is ending has nothing left, and can keep nothing.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let same = kept.filter(|(level, _)| *level == simd);
        same.map_or_else(Self::default, |(_, coders)| coders)
    }

    /// Leaves the buffers of one worker for the next array of this thread.
    pub fn keep(mut self, simd: Level) {
        self.0.truncate(1);
        let _ = KEPT.try_with(|kept| kept.set(Some((simd, self))));
    }

    /// Finds what the chunks of a frame have in common.
    pub(super) fn prepare<T: Element>(
        &mut self,
        plan: &mut FramePlan,
        input: &mut Input<'_, T>,
        simd: Level,
    ) -> Result<()> {
        if plan.most_in_common() == 0 {
            return Ok(());
        }
        self.0
            .resize_with(self.0.len().max(1), || Worker::new(simd));
        let coder = &mut self.0[0].coder;
        match input {
            Input::Memory(view) => {
                let first = view.part(&plan.slab_region(0), &plan.whole());
                coder.prepare(plan, &first)
            }
            Input::Stream(stream) => {
                let mut first = Vec::new();
                stream.read(&mut first, plan.slab_len(0) * T::SIZE)?;
                let view = slab_view::<T>(plan, 0, &first)?;
                coder.prepare(plan, &view)?;
                stream.first = Some(first);
                Ok(())
            }
        }
    }

    /// Codes the slabs of frame number `frame` and hands them to `emit` in their order.
    pub(super) fn code<T: Element>(
        &mut self,
        plan: &FramePlan,
        frame: u32,
        mut input: Input<'_, T>,
        threads: usize,
        simd: Level,
        mut emit: impl FnMut(&mut EncodedSlab) -> Result<()> + Send,
    ) -> Result<()> {
        let threads = parallel::threads(threads).min(plan.slabs()).max(1);
        let workers = &mut self.0;
        workers.resize_with(threads.max(workers.len()), || Worker::new(simd));
        let memory = match input {
            Input::Memory(view) => Some(view),
            Input::Stream(_) => None,
        };
        // A slab that is the whole array needs no cutting.
        let whole = match plan.slabs() {
            1 => None,
            _ => Some(plan.whole()),
        };
        let advisor = plan.advisor();
        let mut slabs = 0..plan.slabs();
        parallel::ordered(
            &mut workers[..threads],
            |worker| {
                let Some(slab) = slabs.next() else {
                    return Ok(None);
                };
                if let Input::Stream(stream) = &mut input {
                    stream.read(&mut worker.raw, plan.slab_len(slab) * T::SIZE)?;
                }
                Ok(Some(slab))
            },
            |worker, slab| {
                let (coder, out) = (&mut worker.coder, &mut worker.slab);
                let mut encode = |view: &View<'_, T>| {
                    coder.encode_advised(plan, frame, slab, view, advisor.as_ref(), out)
                };
                let view = match (memory, &whole) {
                    (Some(view), None) => return encode(view),
                    (Some(view), Some(whole)) => view.part(&plan.slab_region(slab), whole),
                    (None, _) => slab_view(plan, slab, &worker.raw)?,
                };
                encode(&view)
            },
            |worker| emit(&mut worker.slab),
        )
    }
}

impl Worker {
    fn new(simd: Level) -> Self {
        Self {
            coder: SlabCoder::new(simd),
            raw: Vec::new(),
            slab: EncodedSlab::default(),
        }
    }
}

/// A slab as it came from a stream.
fn slab_view<'a, T: Element>(plan: &FramePlan, slab: usize, raw: &'a [u64]) -> Result<View<'a, T>> {
    let values: &[T] = bytemuck::cast_slice(raw);
    View::new(
        &values[..plan.slab_len(slab)],
        &extents(&plan.slab_region(slab)),
    )
}

/// A frame that is coded but not written yet.
pub(crate) struct CodedFrame {
    pub plan: FramePlan,
    pub slabs: Vec<EncodedSlab>,
}

impl CodedFrame {
    /// Codes an array as frame number `frame`.
    pub fn new<T: Element>(
        mut plan: FramePlan,
        frame: u32,
        view: &View<'_, T>,
        coders: &mut Coders,
        threads: usize,
        simd: Level,
    ) -> Result<Self> {
        let mut slabs = Vec::new();
        let mut input = Input::Memory(view);
        coders.prepare(&mut plan, &mut input, simd)?;
        coders.code(&plan, frame, input, threads, simd, |slab| {
            slabs.push(std::mem::take(slab));
            Ok(())
        })?;
        Ok(Self { plan, slabs })
    }

    /// Bytes of a file that holds this frame alone.
    pub fn file_size(&self) -> usize {
        let records = self.slabs.iter().map(|slab| slab.bytes().len()).sum();
        let mut header = Vec::new();
        self.plan.header().write_to(&mut header);
        file_size(header.len(), self.plan.header().grid.chunks(), records)
    }
}

/// Bytes of a file of one frame, from those of its header's body and of its chunks' records.
pub(super) fn file_size(header: usize, chunks: usize, records: usize) -> usize {
    let file_header = super::reader::FILE_HEADER;
    let end = HEADER + 16 * chunks;
    let index = HEADER + index::FRAME + index::TAIL;
    file_header + HEADER + header + records + end + index
}
