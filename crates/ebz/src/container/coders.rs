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
use std::io::Read;

/// Where the values of a frame come from.
pub(super) enum Input<'a, T> {
    Memory(&'a View<'a, T>),
    Stream(&'a mut (dyn Read + Send)),
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

impl Coders {
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
        let shape = plan.header().shape();
        let whole: Vec<_> = shape.iter().map(|&extent| 0..extent).collect();
        let mut slabs = 0..plan.slabs();
        parallel::ordered(
            &mut workers[..threads],
            |worker| {
                let Some(slab) = slabs.next() else {
                    return Ok(None);
                };
                if let Input::Stream(stream) = &mut input {
                    let values: usize = extents(&plan.slab_region(slab)).iter().product();
                    worker.read_slab(*stream, values * T::SIZE)?;
                }
                Ok(Some(slab))
            },
            |worker, slab| {
                let region = plan.slab_region(slab);
                let view = match memory {
                    Some(view) => view.part(&region, &whole),
                    None => {
                        let shape = extents(&region);
                        let values: &[T] = bytemuck::cast_slice(&worker.raw);
                        View::new(&values[..shape.iter().product()], &shape)?
                    }
                };
                let (coder, out) = (&mut worker.coder, &mut worker.slab);
                coder.encode(plan, frame, slab, &view, out)
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

    fn read_slab(&mut self, stream: &mut dyn Read, bytes: usize) -> Result<()> {
        self.raw.resize(bytes.div_ceil(8), 0);
        let buffer = &mut bytemuck::cast_slice_mut(&mut self.raw)[..bytes];
        stream
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::invalid(
                    "the input ends before the array does: check the shape and the element type",
                ),
                _ => error.into(),
            })
    }
}

/// A frame that is coded but not written yet.
pub(crate) struct CodedFrame {
    pub plan: FramePlan,
    pub slabs: Vec<EncodedSlab>,
}

impl CodedFrame {
    /// Codes an array as frame number `frame`.
    pub fn new<T: Element>(
        plan: FramePlan,
        frame: u32,
        view: &View<'_, T>,
        coders: &mut Coders,
        threads: usize,
        simd: Level,
    ) -> Result<Self> {
        let mut slabs = Vec::new();
        coders.code(&plan, frame, Input::Memory(view), threads, simd, |slab| {
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
