//! Frames compressed by an engine of fixed rate, such as zfp's, instead of a codec of ebz.
//!
//! Its slabs have a known size, so that a compressed frame is an array of words, which the frame
//! store keeps as it is.

use super::pass::{Give, Manner, Origin, Sink, Take, lock};
use super::shot::Shot;
use super::storage::{FixedRate, HandOver, Storage, Store, Stored};
use ebz::{Bound, Error, Options, Result, Tolerance, View};
use ebz_store::{Clock, FrameStore, Frames, Plan, Report};
use std::sync::{Arc, Mutex};

/// What both passes need.
struct Slabs {
    engine: Arc<dyn FixedRate>,
    /// Extents of a frame, and planes per slab.
    extents: [usize; 3],
    planes: usize,
    /// Words per slab in the store; the last slab may need fewer.
    words: usize,
    /// Values and words of a slab; one of each per thread.
    spare: Mutex<Vec<(Vec<f32>, Vec<f32>)>>,
    encode: Clock,
    decode: Clock,
}

impl Slabs {
    fn count(&self) -> usize {
        self.extents[0].div_ceil(self.planes)
    }

    fn shape(&self, slab: usize) -> [usize; 3] {
        let [nz, ny, nx] = self.extents;
        [self.planes.min(nz - slab * self.planes), ny, nx]
    }

    /// Calls `work` with buffers for the values and words of a slab.
    fn with_buffers(
        &self,
        slab: usize,
        work: impl FnOnce(&mut [f32], &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        let (mut values, mut words) = lock(&self.spare).pop().unwrap_or_default();
        values.resize(self.shape(slab).iter().product(), 0.0);
        words.clear();
        words.resize(self.words, 0.0);
        let result = work(&mut values, &mut words);
        lock(&self.spare).push((values, words));
        result
    }
}

/// Compresses frames and writes them to the store.
pub(super) struct Written {
    store: FrameStore<f32>,
    slabs: Slabs,
}

impl Written {
    pub fn create(
        engine: &Arc<dyn FixedRate>,
        shot: &Shot,
        manner: &Manner,
        storage: &Storage,
    ) -> Result<Self> {
        if storage.hand_over != HandOver::Slabs {
            return Err(Error::invalid(
                "an engine of fixed rate compresses slabs: pass frames as slabs (--hand-over slabs)",
            ));
        }
        let extents = shot.setup.extents;
        let planes = manner.slab.clamp(1, extents[0]);
        let words = engine.words([planes, extents[1], extents[2]]);
        let slabs = Slabs {
            engine: engine.clone(),
            extents,
            planes,
            words,
            spare: Mutex::default(),
            encode: Clock::default(),
            decode: Clock::default(),
        };
        let mut options = storage.options.clone();
        options.coding = Options::new(Bound::Lossless)
            .codec("raw")
            .chunk(&[1, words]);
        Ok(Self {
            store: FrameStore::create(&[slabs.count(), words], options)?,
            slabs,
        })
    }
}

impl Store for Written {
    type Reader = Read;

    fn into_reader(self) -> Result<Read> {
        Ok(Read {
            frames: self.store.into_reader(Plan::Reverse)?,
            slabs: self.slabs,
        })
    }
}

impl Sink for Written {
    fn frame(
        &mut self,
        _largest: f32,
        compute: &mut dyn FnMut(&Give<'_>) -> Result<()>,
    ) -> Result<()> {
        let slabs = &self.slabs;
        let frame = self.store.begin(Tolerance::Lossless)?;
        compute(&|slab, view| {
            slabs.with_buffers(slab, |values, words| {
                view.copy_to(values)?;
                let encode = || slabs.engine.encode(values, slabs.shape(slab), words);
                slabs.encode.time(encode)?;
                frame.slab(slab, &View::new(words, &[1, slabs.words])?)
            })
        })?;
        frame.finish()
    }
}

/// Reads frames from the store and decompresses them.
pub(super) struct Read {
    frames: Frames<f32>,
    slabs: Slabs,
}

impl Stored for Read {
    /// Of the store, with the values and times of the engine.
    fn report(&self) -> Report {
        let report = self.frames.report();
        let points: usize = self.slabs.extents.iter().product();
        Report {
            raw_bytes: (report.frames * points * size_of::<f32>()) as u64,
            encode: self.slabs.encode.total(),
            decode: self.slabs.decode.total(),
            ..report
        }
    }
}

impl Origin for Read {
    fn frame(
        &mut self,
        index: usize,
        compute: &mut dyn FnMut(&Take<'_>) -> Result<()>,
    ) -> Result<()> {
        let slabs = &self.slabs;
        let frame = self.frames.open(index)?;
        compute(&|slab, show| {
            slabs.with_buffers(slab, |values, words| {
                frame.slab(slab, words)?;
                let decode = || slabs.engine.decode(words, slabs.shape(slab), values);
                slabs.decode.time(decode)?;
                show(values);
                Ok(())
            })
        })
    }
}
