//! Storing frames: whole, or slab by slab from the threads that produce them.

use crate::coding::Coding;
use crate::failure::{Failure, lock};
use crate::frame_storage::FrameSink;
use crate::frames::{Frames, Stored};
use crate::io::AlignedBuffer;
use crate::options::{Plan, Policy, StoreOptions};
use crate::pieces::{Coded, Pieces};
use crate::report::Report;
use crate::servants::Servants;
use ebz::{Element, Error, Result, Tolerance, View};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A series of frames being written.
///
/// Dropping it ends its threads. The frames so far are in the file, but without
/// [`FrameStore::into_reader`] or [`FrameStore::finish`] it has no index; `ebz recover` restores
/// it.
pub struct FrameStore<T> {
    options: StoreOptions,
    coding: Arc<Coding>,
    frames: u32,
    place: Place<T>,
    direct: bool,
    start: Instant,
}

/// Destination of the frames.
enum Place<T> {
    Memory(Arena),
    InLine(Box<Mutex<InLine>>),
    Served(Servants<T>),
}

/// Uncompressed frames in memory, one buffer per slab.
#[derive(Default)]
struct Arena {
    frames: Vec<Vec<AlignedBuffer>>,
    /// Buffers that were allocated and touched in advance.
    spare: Vec<Pieces<AlignedBuffer>>,
}

/// Without servants: one encoded frame at a time.
struct InLine {
    storage: FrameSink,
    spare: Option<Coded>,
    /// After an error within a frame, nothing more can be written.
    failure: Failure,
}

impl<T: Element> FrameStore<T> {
    /// Creates a store for frames of one shape.
    pub fn create(shape: &[usize], options: StoreOptions) -> Result<Self> {
        let coding = Arc::new(Coding::new::<T>(shape, &options)?);
        let mut direct = false;
        let storage = || FrameSink::new(&options, coding.options(), coding.counters.clone());
        let place = match options.policy {
            Policy::Memory => {
                let mut arena = Arena::default();
                for _ in 0..options.expected_frames {
                    arena.spare.push(arena_frame::<T>(&coding)?);
                }
                Place::Memory(arena)
            }
            Policy::CompressedDisk => {
                let storage = storage()?;
                direct = storage.is_direct();
                Place::InLine(Box::new(Mutex::new(InLine {
                    storage,
                    spare: None,
                    failure: Failure::default(),
                })))
            }
            Policy::Disk | Policy::CompressedDiskServants | Policy::CompressedMemory => {
                let storage = storage()?;
                direct = storage.is_direct();
                Place::Served(Servants::start(coding.clone(), storage, &options)?)
            }
        };
        Ok(Self {
            options,
            coding,
            frames: 0,
            place,
            direct,
            start: Instant::now(),
        })
    }

    /// Extents of a frame.
    pub fn shape(&self) -> &[usize] {
        &self.coding.cut.shape
    }

    /// Number of frames so far.
    pub fn frames(&self) -> usize {
        self.frames as usize
    }

    /// Number of slabs per frame.
    pub fn slabs(&self) -> usize {
        self.coding.cut.slabs()
    }

    /// The box of a frame that a slab covers; all axes but the first few are complete.
    pub fn slab_region(&self, slab: usize) -> Vec<Range<usize>> {
        self.coding.cut.region(slab)
    }

    /// Whether the file uses direct I/O.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The tolerance for [`FrameStore::begin`], if it does not depend on the values; an error for a
    /// `range` bound.
    pub fn tolerance(&self) -> Result<Tolerance> {
        self.coding.fixed_tolerance()
    }

    /// Stores a whole frame. With servants, `frame` is swapped for another vector of the same
    /// length; in any case its values are unspecified afterwards.
    pub fn put(&mut self, frame: &mut Vec<T>) -> Result<()> {
        self.coding.cut.check_frame(frame.len())?;
        let next = self.next_number()?;
        match &mut self.place {
            Place::Memory(arena) => {
                let pieces = arena.take::<T>(&self.coding)?;
                for (slab, place) in self.coding.cut.places.iter().enumerate() {
                    pieces.fill(slab, |out| {
                        values_of(out, place.len()).copy_from_slice(&frame[place.clone()]);
                        Ok(())
                    })?;
                }
                arena.keep(pieces);
            }
            Place::InLine(line) => {
                let mut line = lock(line);
                let mut coded = line.take(&self.coding)?;
                coded.whole(&self.coding, self.frames, frame)?;
                line.keep(coded, &self.coding)?;
            }
            Place::Served(servants) => {
                servants.check()?;
                servants.put(self.frames, frame)?;
            }
        }
        self.frames = next;
        Ok(())
    }

    /// Starts a frame that arrives slab by slab, with this tolerance. Uncompressed policies are
    /// lossless.
    pub fn begin(&mut self, tolerance: Tolerance) -> Result<NewFrame<'_, T>> {
        let next = self.next_number()?;
        let coding = &self.coding;
        let content = match &mut self.place {
            Place::Memory(arena) => Content::Values(arena.take::<T>(coding)?),
            Place::InLine(line) => {
                let mut coded = lock(line).take(coding)?;
                coded.begin(self.frames, coding.plan_for::<T>(tolerance)?);
                Content::Coded(coded)
            }
            Place::Served(servants) => {
                servants.check()?;
                let plan = coding.plan_for::<T>(tolerance)?;
                let mut coded = servants.spare()?;
                coded.begin(self.frames, plan);
                Content::Coded(coded)
            }
        };
        Ok(NewFrame {
            store: self,
            next,
            content: Some(content),
        })
    }

    /// Completes the store; a file is then an ordinary `.ebz` file.
    pub fn finish(self) -> Result<Report> {
        Ok(self.into_reader(Plan::List(Vec::new()))?.report())
    }

    /// Completes the store and reads it; servants prefetch in the order of the plan.
    pub fn into_reader(self, plan: Plan) -> Result<Frames<T>> {
        let stored = match self.place {
            Place::Memory(arena) => Stored::Values(arena.frames),
            Place::InLine(line) => {
                let line = line.into_inner();
                let line = line.unwrap_or_else(std::sync::PoisonError::into_inner);
                line.failure.check()?;
                Stored::Coded(Arc::new(line.storage.finish()?))
            }
            Place::Served(servants) => Stored::Coded(Arc::new(servants.finish()?)),
        };
        let counters = &self.coding.counters;
        let raw_bytes = u64::from(self.frames) * (self.coding.cut.values() * T::SIZE) as u64;
        if let Stored::Values(_) = stored {
            counters.stored_bytes.store(raw_bytes, Ordering::Relaxed);
        }
        Frames::new(
            stored,
            self.coding,
            self.options,
            plan,
            self.start.elapsed(),
        )
    }

    /// The number of the next frame.
    fn next_number(&self) -> Result<u32> {
        self.frames
            .checked_add(1)
            .ok_or_else(|| Error::invalid("a store can have at most 2^32 - 1 frames"))
    }
}

impl Arena {
    fn take<T: Element>(&mut self, coding: &Coding) -> Result<Pieces<AlignedBuffer>> {
        self.spare
            .pop()
            .map_or_else(|| arena_frame::<T>(coding), Ok)
    }

    fn keep(&mut self, pieces: Pieces<AlignedBuffer>) {
        self.frames.push(pieces.into_contents());
    }
}

/// Buffers for a frame.
fn arena_frame<T: Element>(coding: &Coding) -> Result<Pieces<AlignedBuffer>> {
    let slab = |place: &Range<usize>| AlignedBuffer::new(place.len() * T::SIZE);
    let slabs: Result<Vec<_>> = coding.cut.places.iter().map(slab).collect();
    Ok(Pieces::new(slabs?))
}

/// The values of a slab.
fn values_of<T: Element>(buffer: &mut AlignedBuffer, count: usize) -> &mut [T] {
    bytemuck::cast_slice_mut(&mut buffer[..count * T::SIZE])
}

impl InLine {
    fn take(&mut self, coding: &Coding) -> Result<Coded> {
        self.failure.check()?;
        let new = || Coded::new(coding.cut.slabs(), true);
        Ok(self.spare.take().unwrap_or_else(new))
    }

    fn keep(&mut self, coded: Coded, coding: &Coding) -> Result<()> {
        let place = || self.failure.guard(|| self.storage.store(&coded));
        coding.counters.write_wait.time(place);
        self.spare = Some(coded);
        self.failure.check()
    }
}

/// A frame that arrives slab by slab, from any thread, in any order. Without [`NewFrame::finish`]
/// it is not stored.
pub struct NewFrame<'s, T: Element> {
    store: &'s mut FrameStore<T>,
    next: u32,
    content: Option<Content>,
}

enum Content {
    Values(Pieces<AlignedBuffer>),
    Coded(Coded),
}

impl<T: Element> NewFrame<'_, T> {
    /// Stores one slab, whose shape is that of its region. Compresses on the calling thread, while
    /// the values are in its cache.
    pub fn slab(&self, slab: usize, values: &View<'_, T>) -> Result<()> {
        let coding = &self.store.coding;
        coding.cut.check_slab(slab)?;
        match &self.content {
            Some(Content::Coded(coded)) => coded.slab(coding, slab, values),
            Some(Content::Values(pieces)) => {
                let shape = coding.cut.slab_shape(slab);
                if values.shape() != shape {
                    return Err(Error::invalid(format!(
                        "slab {slab} has shape {shape:?}, but the values have {:?}",
                        values.shape()
                    )));
                }
                let count = coding.cut.places[slab].len();
                pieces.fill(slab, |out| values.copy_to(values_of(out, count)))
            }
            None => Ok(()),
        }
    }

    /// Hands over the frame; every slab must be present.
    pub fn finish(mut self) -> Result<()> {
        match &self.content {
            Some(Content::Values(pieces)) => pieces.check_complete()?,
            Some(Content::Coded(coded)) => coded.slabs.check_complete()?,
            None => {}
        }
        match (&mut self.store.place, self.content.take()) {
            (Place::Memory(arena), Some(Content::Values(pieces))) => arena.keep(pieces),
            (Place::InLine(line), Some(Content::Coded(coded))) => {
                lock(line).keep(coded, &self.store.coding)?;
            }
            (Place::Served(servants), Some(Content::Coded(coded))) => {
                servants.hand_over(coded)?;
                servants.check()?;
            }
            _ => {}
        }
        self.store.frames = self.next;
        Ok(())
    }
}

impl<T: Element> Drop for NewFrame<'_, T> {
    /// Returns the buffers of an unfinished frame.
    fn drop(&mut self) {
        match (&mut self.store.place, self.content.take()) {
            (Place::Memory(arena), Some(Content::Values(mut pieces))) => {
                pieces.reset();
                arena.spare.push(pieces);
            }
            (Place::InLine(line), Some(Content::Coded(coded))) => lock(line).spare = Some(coded),
            (Place::Served(servants), Some(Content::Coded(coded))) => servants.give_back(coded),
            _ => {}
        }
    }
}
