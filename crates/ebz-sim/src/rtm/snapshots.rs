//! Both passes with their frames in a frame store.

use super::field::Field;
use super::fixed_rate;
use super::pass::{Give, Manner, Origin, Progress, Sink, Take, backward, forward, lock};
use super::shot::Shot;
use super::storage::{HandOver, Storage, Store, Stored};
use ebz::{Bound, Result, Tolerance};
use ebz_store::{FrameStore, Frames, Plan, Report};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The result of a migration.
#[derive(Debug)]
pub struct Run {
    /// The image, depth first.
    pub image: Vec<f32>,
    /// Time of the forward pass, until every frame is stored.
    pub forward: Duration,
    /// Time of the backward pass.
    pub backward: Duration,
    /// Statistics of the store.
    pub report: Report,
}

/// Runs both passes.
pub fn migrate(
    shot: &Shot,
    speed: &Field,
    manner: &Manner,
    recorded: &[f32],
    storage: &Storage,
    progress: &Progress<'_>,
) -> Result<Run> {
    let run = Passes {
        shot,
        speed,
        manner,
        recorded,
        progress,
    };
    match &storage.engine {
        Some(engine) if !storage.options.policy.is_exact() => {
            run.with(fixed_rate::Written::create(engine, shot, manner, storage)?)
        }
        _ => run.with(Written::create(shot, manner, storage)?),
    }
}

/// The arguments of both passes.
struct Passes<'a> {
    shot: &'a Shot,
    speed: &'a Field,
    manner: &'a Manner,
    recorded: &'a [f32],
    progress: &'a Progress<'a>,
}

impl Passes<'_> {
    fn with(&self, mut store: impl Store) -> Result<Run> {
        let Self {
            shot,
            speed,
            manner,
            recorded,
            progress,
        } = self;
        let start = Instant::now();
        let reflections = forward(shot, speed, manner, recorded, &mut store, progress)?;
        let mut frames = store.into_reader()?;
        let forward = start.elapsed();
        let start = Instant::now();
        let image = backward(shot, speed, manner, &reflections, &mut frames, progress)?;
        Ok(Run {
            image,
            forward,
            backward: start.elapsed(),
            report: frames.report(),
        })
    }
}

/// Writes frames to the store.
pub(super) struct Written {
    store: FrameStore<f32>,
    hand_over: HandOver,
    bound: Bound,
    /// A whole frame.
    frame: Vec<f32>,
    slab: usize,
}

impl Written {
    pub fn create(shot: &Shot, manner: &Manner, storage: &Storage) -> Result<Self> {
        let [nz, ny, nx] = shot.setup.extents;
        let mut options = storage.options.clone();
        let slab = manner.slab.clamp(1, nz);
        options.coding = options.coding.chunk(&[slab, ny, nx]);
        options.expected_frames = manner.frames(shot);
        let frame = match storage.hand_over {
            HandOver::Slabs => Vec::new(),
            HandOver::Frames => vec![0.0; shot.points()],
        };
        Ok(Self {
            bound: options.coding.bound,
            store: FrameStore::create(&[nz, ny, nx], options)?,
            hand_over: storage.hand_over,
            frame,
            slab: slab * ny * nx,
        })
    }

    #[cfg(test)]
    pub fn finish(self) -> Result<Report> {
        self.store.finish()
    }

    /// The tolerance of a frame before its range is known: assumes the range of the previous frame,
    /// −largest to largest; the first frame is stored exactly.
    fn tolerance(&self, largest: f32) -> Result<Tolerance> {
        match self.bound {
            Bound::Range(e) => {
                let e = e * 2.0 * f64::from(largest);
                Ok(match e.is_finite() && e > 0.0 {
                    true => Tolerance::Abs(e),
                    false => Tolerance::Lossless,
                })
            }
            _ => self.store.tolerance(),
        }
    }
}

impl Store for Written {
    type Reader = Read;

    fn into_reader(self) -> Result<Read> {
        let frames = self.store.into_reader(Plan::Reverse)?;
        Ok(Read::new(frames, self.hand_over))
    }
}

impl Sink for Written {
    fn frame(
        &mut self,
        largest: f32,
        compute: &mut dyn FnMut(&Give<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.hand_over == HandOver::Slabs {
            let tolerance = self.tolerance(largest)?;
            let frame = self.store.begin(tolerance)?;
            compute(&|slab, values| frame.slab(slab, values))?;
            return frame.finish();
        }
        let slabs: Vec<_> = self.frame.chunks_mut(self.slab).map(Mutex::new).collect();
        compute(&|slab, values| values.copy_to(*lock(&slabs[slab])))?;
        drop(slabs);
        self.store.put(&mut self.frame)
    }
}

/// Reads frames from the store.
pub(super) struct Read {
    frames: Frames<f32>,
    hand_over: HandOver,
    frame: Vec<f32>,
    /// Decoded slabs that are not in memory as raw values; one per thread.
    tiles: Mutex<Vec<Vec<f32>>>,
}

impl Read {
    pub fn new(frames: Frames<f32>, hand_over: HandOver) -> Self {
        Self {
            frames,
            hand_over,
            frame: Vec::new(),
            tiles: Mutex::default(),
        }
    }
}

impl Stored for Read {
    fn report(&self) -> Report {
        self.frames.report()
    }
}

impl Origin for Read {
    fn frame(
        &mut self,
        index: usize,
        compute: &mut dyn FnMut(&Take<'_>) -> Result<()>,
    ) -> Result<()> {
        let regions: Vec<usize> = (0..self.frames.slabs())
            .map(|slab| {
                self.frames
                    .slab_region(slab)
                    .iter()
                    .map(|r| r.len())
                    .product()
            })
            .collect();
        let most = regions.first().copied().unwrap_or(1).max(1);
        if self.hand_over == HandOver::Frames {
            self.frames.get(index, &mut self.frame)?;
            return compute(&|slab, show| {
                show(&self.frame[slab * most..][..regions[slab]]);
                Ok(())
            });
        }
        let tiles = &self.tiles;
        let frame = self.frames.open(index)?;
        compute(&|slab, show| {
            if let Some(values) = frame.values(slab) {
                show(values);
                return Ok(());
            }
            let mut tile = lock(tiles).pop().unwrap_or_else(|| vec![0.0; most]);
            let values = &mut tile[..regions[slab]];
            let result = frame.slab(slab, values).map(|()| show(values));
            lock(tiles).push(tile);
            result
        })
    }
}
