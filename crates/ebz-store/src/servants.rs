//! The threads that take frames over: some compress whole frames, one moves coded frames.
//!
//! ```text
//! put ──► values ──► coding servants ──┐
//!   ◄──── spare values ◄───────────────┤
//!                                      ├──► coded ──► moving servant ──► file or memory
//! begin/finish ────────────────────────┘
//!   ◄──── spare coded frames ◄─────────────────────────────┘
//! ```
//!
//! Nobody waits in a circle. A coding servant takes a spare before it takes a frame, so that the
//! oldest frame always has one; frames of the application's own threads have spares of their own.
//! After an error the servants go on taking frames and giving buffers back, without touching them,
//! so that nobody waits for ever.

use crate::coding::Coding;
use crate::failure::Failure;
use crate::frame_storage::{FrameSink, StoredFrames};
use crate::options::StoreOptions;
use crate::pieces::Coded;
use crossbeam_channel::{Receiver, Sender, unbounded};
use ebz::{Element, Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A whole frame to compress.
struct Whole<T> {
    number: u32,
    values: Vec<T>,
}

/// What servants wait for.
struct Queues<T> {
    wholes: Sender<Whole<T>>,
    coded: Sender<Coded>,
}

/// The application's side of the servants. Dropping it ends them, once they are through with what
/// they were given.
pub(crate) struct Servants<T> {
    /// The ways in; closed when the store ends.
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
            // Receivers are all here: these cannot fail.
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
                    // A store that is gone needs neither.
                    let _ = give_values.send(whole.values);
                    let _ = coded.send(out);
                }
            })?);
        }
        let shared = failure.clone();
        let give_back = give_coded.clone();
        let mover = spawn("mover", pin(options, 0), move || {
            move_frames(storage, coded_queue, &shared, |coded| {
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

    /// The error of a servant, if there was one.
    pub fn check(&self) -> Result<()> {
        self.failure.check()
    }

    /// Takes a whole frame over and leaves a spare one of the same length in its place.
    pub fn put(&self, number: u32, frame: &mut Vec<T>) -> Result<()> {
        let mut values = self.wait(&self.spare_values)?;
        values.resize(frame.len(), T::default());
        std::mem::swap(frame, &mut values);
        let whole = Whole { number, values };
        self.queues()?.wholes.send(whole).map_err(|_| gone())
    }

    /// A spare frame for the application's threads to code into.
    pub fn spare(&self) -> Result<Coded> {
        self.wait(&self.spare_coded)
    }

    /// Takes a frame over that the application's threads have coded.
    pub fn hand_over(&self, coded: Coded) -> Result<()> {
        self.queues()?.coded.send(coded).map_err(|_| gone())
    }

    /// Takes a frame back that will not be finished.
    pub fn give_back(&self, coded: Coded) {
        // The servants keep the other end for as long as they live.
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
        // What the servants did meanwhile may have failed.
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
    /// Ends the servants, once they are through.
    fn stop(&mut self) -> Option<FrameSink> {
        self.queues = None;
        for coder in self.coders.drain(..) {
            // Its work is guarded; a panic elsewhere has been printed, and its frame is missing.
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

/// Moves coded frames in the order of their numbers, until nobody can send any more.
fn move_frames(
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

/// Starts a thread, bound to a core if there is one for it.
pub(crate) fn spawn<R: Send + 'static>(
    name: &str,
    core: Option<core_affinity::CoreId>,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<JoinHandle<R>> {
    let builder = thread::Builder::new().name(format!("ebz-{name}"));
    Ok(builder.spawn(move || {
        if let Some(core) = core {
            // Without the right to choose a core, any core does.
            core_affinity::set_for_current(core);
        }
        work()
    })?)
}

/// The core of a servant: the last ones first.
pub(crate) fn pin(options: &StoreOptions, servant: usize) -> Option<core_affinity::CoreId> {
    let cores = options.pin.then(core_affinity::get_core_ids).flatten()?;
    let place = (cores.len()).checked_sub(1 + servant % cores.len().max(1))?;
    cores.get(place).copied()
}

/// The error for a servant that is not there any more.
pub(crate) fn gone() -> Error {
    io::Error::other("a servant thread of the frame store is gone: this is a bug").into()
}
