//! Reading frames: whole, or slab by slab by the threads that need them.

use crate::coding::Coding;
use crate::frame_storage::StoredFrames;
use crate::io::AlignedBuffer;
use crate::options::{Plan, Policy, StoreOptions, no_frame};
use crate::prefetch::{Prefetch, Ready, decode_whole};
use crate::report::Report;
use ebz::{Element, Error, Result};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Source of the frames.
pub(crate) enum Stored {
    Values(Vec<Vec<AlignedBuffer>>),
    Coded(Arc<StoredFrames>),
}

/// A series of frames being read.
///
/// Servants prefetch frames in the order of the plan. A frame slightly ahead in the plan is skipped
/// to; any other is read on request without moving the plan's position.
pub struct Frames<T: Element> {
    stored: Stored,
    coding: Arc<Coding>,
    options: StoreOptions,
    plan: Vec<usize>,
    /// Position in the plan.
    position: usize,
    prefetch: Option<Prefetch<T>>,
    /// Buffer to read into if there are no servants.
    spare: Option<AlignedBuffer>,
    writing_pass: Duration,
}

impl<T: Element> Frames<T> {
    /// The frames of a complete file, which must all have the same shape. Of the options, only
    /// servants, buffers, direct, rate and pinning apply.
    pub fn of_file(path: impl AsRef<Path>, plan: Plan, options: StoreOptions) -> Result<Self> {
        let storage = StoredFrames::open::<T>(path.as_ref(), &options)?;
        let first = storage.first_plan();
        let first = first.ok_or_else(|| Error::invalid("the file has no frames"))?;
        let coding = Coding::of(first, &options, storage.counters().clone());
        let stored = Stored::Coded(Arc::new(storage));
        Self::new(stored, Arc::new(coding), options, plan, Duration::ZERO)
    }

    pub(crate) fn new(
        stored: Stored,
        coding: Arc<Coding>,
        options: StoreOptions,
        plan: Plan,
        writing_pass: Duration,
    ) -> Result<Self> {
        let plan = plan.resolve(stored.frames())?;
        let mut prefetch = None;
        if let Stored::Coded(storage) = &stored
            && options.policy != Policy::CompressedDisk
            && !plan.is_empty()
        {
            let (storage, coding) = (storage.clone(), coding.clone());
            prefetch = Some(Prefetch::start(storage, coding, &options, plan.clone())?);
        }
        Ok(Self {
            stored,
            coding,
            options,
            plan,
            position: 0,
            prefetch,
            spare: None,
            writing_pass,
        })
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.stored.frames()
    }

    /// Extents of a frame.
    pub fn shape(&self) -> &[usize] {
        &self.coding.cut.shape
    }

    /// Number of slabs per frame.
    pub fn slabs(&self) -> usize {
        self.coding.cut.slabs()
    }

    /// The box of a frame that a slab covers.
    pub fn slab_region(&self, slab: usize) -> Vec<Range<usize>> {
        self.coding.cut.region(slab)
    }

    /// Reads a whole frame. `out` is resized, and may be swapped for another vector.
    pub fn get(&mut self, frame: usize, out: &mut Vec<T>) -> Result<()> {
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.decode_ahead()?;
        }
        match self.ready(frame)? {
            Source::Ahead(Ready::Values(mut values)) => {
                std::mem::swap(out, &mut values);
                self.recycle(Ready::Values(values));
            }
            Source::Ahead(Ready::Records(records)) => {
                let result = decode_whole(&self.coding, &records, out);
                self.recycle(Ready::Records(records));
                result?;
            }
            Source::Memory(frame) => {
                out.resize(self.coding.cut.values(), T::default());
                if let Stored::Values(frames) = &self.stored {
                    for (place, buffer) in self.coding.cut.places.iter().zip(&frames[frame]) {
                        out[place.clone()].copy_from_slice(values_of(buffer, place.len()));
                    }
                }
            }
        }
        Ok(())
    }

    /// Opens a frame to read its slabs, each decoded on the calling thread.
    pub fn open(&mut self, frame: usize) -> Result<OpenFrame<'_, T>> {
        let source = Some(self.ready(frame)?);
        Ok(OpenFrame {
            frames: self,
            source,
        })
    }

    /// Statistics so far.
    pub fn report(&self) -> Report {
        let counters = &self.coding.counters;
        let frames = self.frames();
        Report {
            policy: self.options.policy,
            frames,
            raw_bytes: (frames * self.coding.cut.values() * T::SIZE) as u64,
            stored_bytes: counters.stored_bytes.load(Ordering::Relaxed),
            write_wait: counters.write_wait.total(),
            read_wait: counters.read_wait.total(),
            encode: counters.encode.total(),
            decode: counters.decode.total(),
            write: counters.write.total(),
            read: counters.read.total(),
            writing_pass: self.writing_pass,
            direct: match &self.stored {
                Stored::Values(_) => false,
                Stored::Coded(storage) => storage.is_direct(),
            },
            disk_rate: self.options.disk_rate,
        }
    }

    /// A frame from the servants if it is next or soon in the plan, otherwise read now.
    fn ready(&mut self, frame: usize) -> Result<Source<T>> {
        if frame >= self.frames() {
            return Err(no_frame(frame, self.frames()));
        }
        let Stored::Coded(storage) = &self.stored else {
            return Ok(Source::Memory(frame));
        };
        let rest = self.plan.get(self.position..).unwrap_or_default();
        let soon = rest.iter().take(self.options.buffers);
        let ahead = soon.clone().position(|&planned| planned == frame);
        if let (Some(prefetch), Some(ahead)) = (&mut self.prefetch, ahead) {
            let position = self.position + ahead;
            self.position = position + 1;
            return prefetch.take(position).map(Source::Ahead);
        }
        let wait = &self.coding.counters.read_wait;
        let records = wait.time(|| storage.fetch(frame, self.spare.take()))?;
        Ok(Source::Ahead(Ready::Records(records)))
    }

    fn recycle(&mut self, frame: Ready<T>) {
        match (&self.prefetch, frame) {
            (Some(prefetch), frame) => prefetch.recycle(frame),
            (None, Ready::Records(records)) => self.spare = records.into_spare(),
            (None, Ready::Values(_)) => {}
        }
    }
}

impl Stored {
    fn frames(&self) -> usize {
        match self {
            Self::Values(frames) => frames.len(),
            Self::Coded(storage) => storage.frames(),
        }
    }
}

/// Source of a frame's contents.
enum Source<T> {
    Ahead(Ready<T>),
    Memory(usize),
}

/// A frame that any number of threads read slab by slab.
pub struct OpenFrame<'f, T: Element> {
    frames: &'f mut Frames<T>,
    source: Option<Source<T>>,
}

impl<T: Element> OpenFrame<'_, T> {
    /// Decodes a slab into `out`, which must have exactly its length, on the calling thread.
    pub fn slab(&self, slab: usize, out: &mut [T]) -> Result<()> {
        let coding = &self.frames.coding;
        coding.cut.check_slab(slab)?;
        if let Some(values) = self.values(slab) {
            if values.len() != out.len() {
                return Err(Error::invalid(format!(
                    "slab {slab} has {} values, but the output has {}",
                    values.len(),
                    out.len()
                )));
            }
            out.copy_from_slice(values);
        } else if let Some(Source::Ahead(Ready::Records(frame))) = &self.source {
            coding.decode(&frame.plan, frame.number, slab, frame.slab(slab)?, out)?;
        }
        Ok(())
    }

    /// The values of a slab without copying, if they are in memory uncompressed, as always under
    /// the memory policy.
    pub fn values(&self, slab: usize) -> Option<&[T]> {
        let place = self.frames.coding.cut.places.get(slab)?;
        match (self.source.as_ref()?, &self.frames.stored) {
            (Source::Ahead(Ready::Values(values)), _) => values.get(place.clone()),
            (Source::Memory(frame), Stored::Values(frames)) => {
                Some(values_of(frames.get(*frame)?.get(slab)?, place.len()))
            }
            _ => None,
        }
    }
}

impl<T: Element> Drop for OpenFrame<'_, T> {
    fn drop(&mut self) {
        if let Some(Source::Ahead(frame)) = self.source.take() {
            self.frames.recycle(frame);
        }
    }
}

/// The values of a slab.
fn values_of<T: Element>(buffer: &AlignedBuffer, count: usize) -> &[T] {
    bytemuck::cast_slice(&buffer[..count * T::SIZE])
}
