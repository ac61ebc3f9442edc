//! The threads that take over frames: some compress whole frames, one writes encoded frames.
//!
//! ```text
//! put ──► values ──► encoding servants ─┐
//!   ◄──── spare values ◄────────────────┤
//!                                       ├──► encoded ──► writing servant ──► file or memory
//! begin/finish ─────────────────────────┘
//!   ◄──── spare encoded frames ◄────────────────────────────┘
//! ```
//!
//! Deadlocks are impossible: an encoding servant takes a spare before it takes a frame, so that the
//! oldest frame always has one; frames of the application's own threads have their own spares.
//! After an error the servants keep accepting frames and returning buffers, unprocessed, so that
//! nobody waits forever.

use crate::coding::Coding;
use crate::failure::Failure;
use crate::frame_storage::{FrameSink, StoredFrames};
use crate::options::StoreOptions;
use crate::pieces::Coded;
use crate::sync::{Builder, JoinHandle, Receiver, Sender, unbounded};
use ebz::{Element, Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// A whole frame to compress.
struct Whole<T> {
    number: u32,
    values: Vec<T>,
}

/// Inputs of the servants.
struct Queues<T> {
    wholes: Sender<Whole<T>>,
    coded: Sender<Coded>,
}

/// The application's side of the servants. Dropping it ends them after they finish their work.
pub(crate) struct Servants<T> {
    /// The input queues; closed when the store ends.
    queues: Option<Queues<T>>,
    spare_values: Receiver<Vec<T>>,
    spare_coded: Receiver<Coded>,
    give_coded: Sender<Coded>,
    coding: Arc<Coding>,
    failure: Arc<Failure>,
    coders: Vec<JoinHandle<()>>,
    mover: Option<JoinHandle<FrameSink>>,
}

impl<T: Element> Servants<T> {
    pub fn start(coding: Arc<Coding>, storage: FrameSink, options: &StoreOptions) -> Result<Self> {
        let failure: Arc<Failure> = Arc::default();
        let slabs = coding.cut.slabs();
        let (wholes, whole_queue) = unbounded();
        let (coded, coded_queue) = unbounded();
        let (give_values, spare_values) = unbounded();
        let (give_coded, spare_coded) = unbounded();
        let (give_internal, spare_internal) = unbounded();
        for _ in 0..options.buffers {
            // The receivers exist, so this cannot fail.
            let _ = give_values.send(Vec::new());
            let _ = give_coded.send(Coded::new(slabs, true));
        }
        // One for each servant to hold while it waits for a frame.
        for _ in 0..options.buffers.max(options.servants) {
            let _ = give_internal.send(Coded::new(slabs, false));
        }
        let mut coders = Vec::new();
        for servant in 0..options.servants {
            let queue: Receiver<Whole<T>> = whole_queue.clone();
            let spares: Receiver<Coded> = spare_internal.clone();
            let (give_values, coded) = (give_values.clone(), coded.clone());
            let (coding, failure) = (coding.clone(), failure.clone());
            coders.push(spawn("coder", pin(options, servant + 1), move || {
                while let Ok(mut out) = spares.recv() {
                    let Ok(whole) = queue.recv() else { return };
                    failure.guard(|| out.whole(&coding, whole.number, &whole.values));
                    out.number = whole.number;
                    // If the store is gone, nobody needs the buffer.
                    let _ = give_values.send(whole.values);
                    let _ = coded.send(out);
                }
            })?);
        }
        let shared = failure.clone();
        let give_back = give_coded.clone();
        let mover = spawn("mover", pin(options, 0), move || {
            store_frames(storage, coded_queue, &shared, |coded| {
                let home = if coded.by_slabs {
                    &give_coded
                } else {
                    &give_internal
                };
                let _ = home.send(coded);
            })
        })?;
        Ok(Self {
            queues: Some(Queues { wholes, coded }),
            spare_values,
            spare_coded,
            give_coded: give_back,
            coding,
            failure,
            coders,
            mover: Some(mover),
        })
    }

    /// Returns the error of a servant, if there was one.
    pub fn check(&self) -> Result<()> {
        self.failure.check()
    }

    /// Takes over a whole frame and leaves a spare vector of the same length.
    pub fn put(&self, number: u32, frame: &mut Vec<T>) -> Result<()> {
        let mut values = self.wait(&self.spare_values)?;
        values.resize(frame.len(), T::default());
        std::mem::swap(frame, &mut values);
        let whole = Whole { number, values };
        self.queues()?.wholes.send(whole).map_err(|_| gone())
    }

    /// A spare frame for the application's threads to encode into.
    pub fn spare(&self) -> Result<Coded> {
        self.wait(&self.spare_coded)
    }

    /// Takes over a frame that the application's threads encoded.
    pub fn hand_over(&self, coded: Coded) -> Result<()> {
        self.queues()?.coded.send(coded).map_err(|_| gone())
    }

    /// Takes back a frame that will not be finished.
    pub fn give_back(&self, coded: Coded) {
        // The servants hold the receiving end as long as they live.
        let _ = self.give_coded.send(coded);
    }

    fn wait<R>(&self, spares: &Receiver<R>) -> Result<R> {
        let spare = match spares.try_recv() {
            Ok(spare) => spare,
            Err(_) => {
                let clock = &self.coding.counters.write_wait;
                clock.time(|| spares.recv()).map_err(|_| gone())?
            }
        };
        // A servant may have failed meanwhile.
        self.check()?;
        Ok(spare)
    }

    fn queues(&self) -> Result<&Queues<T>> {
        self.queues.as_ref().ok_or_else(gone)
    }

    /// Waits until everything is stored.
    pub fn finish(mut self) -> Result<StoredFrames> {
        let counters = self.coding.counters.clone();
        let storage = counters.write_wait.time(|| self.stop());
        self.failure.check()?;
        storage.ok_or_else(gone)?.finish()
    }
}

impl<T> Servants<T> {
    /// Ends the servants after they finish their work.
    fn stop(&mut self) -> Option<FrameSink> {
        self.queues = None;
        for coder in self.coders.drain(..) {
            // Its work is guarded; any other panic was printed, and its frame is missing.
            coder.join().ok()?;
        }
        self.mover.take()?.join().ok()
    }
}

impl<T> Drop for Servants<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Stores encoded frames in order until all senders are gone.
fn store_frames(
    mut storage: FrameSink,
    queue: Receiver<Coded>,
    failure: &Failure,
    give_back: impl Fn(Coded),
) -> FrameSink {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for coded in queue {
        early.insert(coded.number, coded);
        while let Some(due) = early.remove(&next) {
            failure.guard(|| storage.store(&due));
            give_back(due);
            next += 1;
        }
    }
    storage
}

/// Starts a thread, pinned to a core if one is given.
pub(crate) fn spawn<R: Send + 'static>(
    name: &str,
    core: Option<core_affinity::CoreId>,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<JoinHandle<R>> {
    let builder = Builder::new().name(format!("ebz-{name}"));
    Ok(builder.spawn(move || {
        if let Some(core) = core {
            // Pinning is best effort.
            core_affinity::set_for_current(core);
        }
        work()
    })?)
}

/// The core of a servant, the last core first.
pub(crate) fn pin(options: &StoreOptions, servant: usize) -> Option<core_affinity::CoreId> {
    let cores = options.pin.then(core_affinity::get_core_ids).flatten()?;
    let place = (cores.len()).checked_sub(1 + servant % cores.len().max(1))?;
    cores.get(place).copied()
}

/// The error for a servant that has exited unexpectedly.
pub(crate) fn gone() -> Error {
    io::Error::other("a servant thread of the frame store is gone: this is a bug").into()
}
