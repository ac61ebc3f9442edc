//! Prefetching: one servant reads the records of frames in the order of the plan, others decode
//! whole frames once the application asks for one.
//!
//! ```text
//! file ──► reading servant ──► fetched ──► decoding servants ──► decoded ──► get
//!                                  └───────────────────────────────────────► open
//! ```
//!
//! Both queues are bounded, which limits how far servants run ahead. Spare buffers are returned
//! when available; nobody waits for them.

use crate::coding::Coding;
use crate::failure::catch;
use crate::frame_storage::{Fetched, StoredFrames};
use crate::io::AlignedBuffer;
use crate::options::StoreOptions;
use crate::servants::{gone, pin, spawn};
use crate::sync::{JoinHandle, Receiver, Sender, bounded, unbounded};
use ebz::{Element, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A prefetched frame.
pub(crate) enum Ready<T> {
    Records(Fetched),
    Values(Vec<T>),
}

/// Frames with their position in the plan.
struct Queue<R>(Receiver<(usize, Result<R>)>);

/// The application's side of the reading servants.
pub(crate) struct Prefetch<T> {
    options: StoreOptions,
    coding: Arc<Coding>,
    /// Present until decoding ahead starts.
    fetched: Option<Queue<Fetched>>,
    decoded: Option<Queue<Vec<T>>>,
    /// Frames that arrived before their turn.
    early: BTreeMap<usize, Result<Ready<T>>>,
    give_bytes: Sender<AlignedBuffer>,
    give_values: Sender<Vec<T>>,
    spare_values: Receiver<Vec<T>>,
    servants: Vec<JoinHandle<()>>,
}

impl<T: Element> Prefetch<T> {
    /// Starts to read the frames of a plan.
    pub fn start(
        storage: Arc<StoredFrames>,
        coding: Arc<Coding>,
        options: &StoreOptions,
        plan: Vec<usize>,
    ) -> Result<Self> {
        let (give_bytes, spare_bytes) = unbounded();
        let (give_values, spare_values) = unbounded();
        let (send, fetched) = bounded(options.buffers - 1);
        let reader = spawn("reader", pin(options, 0), move || {
            for (position, number) in plan.into_iter().enumerate() {
                let frame = catch(|| storage.fetch(number, spare_bytes.try_recv().ok()));
                if send.send((position, frame)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            options: options.clone(),
            coding,
            fetched: Some(Queue(fetched)),
            decoded: None,
            early: BTreeMap::new(),
            give_bytes,
            give_values,
            spare_values,
            servants: vec![reader],
        })
    }

    /// Starts to decode frames ahead.
    pub fn decode_ahead(&mut self) -> Result<()> {
        let Some(Queue(fetched)) = self.fetched.take() else {
            return Ok(());
        };
        let (send, decoded) = bounded(self.options.buffers - 1);
        for servant in 0..self.options.servants {
            let (coding, fetched, send) = (self.coding.clone(), fetched.clone(), send.clone());
            let (give_bytes, spares) = (self.give_bytes.clone(), self.spare_values.clone());
            let core = pin(&self.options, servant + 1);
            self.servants.push(spawn("decoder", core, move || {
                for (position, frame) in fetched {
                    let mut values = spares.try_recv().unwrap_or_default();
                    let result = frame.and_then(|frame: Fetched| {
                        catch(|| decode_whole(&coding, &frame, &mut values))?;
                        frame.into_spare().map(|bytes| give_bytes.send(bytes));
                        Ok(values)
                    });
                    if send.send((position, result)).is_err() {
                        return;
                    }
                }
            })?);
        }
        self.decoded = Some(Queue(decoded));
        Ok(())
    }

    /// The frame at a position of the plan; earlier frames are dropped.
    pub fn take(&mut self, position: usize) -> Result<Ready<T>> {
        let mut late = self.early.split_off(&position);
        std::mem::swap(&mut late, &mut self.early);
        for frame in late.into_values().flatten() {
            self.recycle(frame);
        }
        loop {
            if let Some(frame) = self.early.remove(&position) {
                return frame;
            }
            let (at, frame) = self.receive()?;
            match frame {
                Ok(frame) if at < position => self.recycle(frame),
                frame => drop(self.early.insert(at, frame)),
            }
        }
    }

    /// The next frame from a servant.
    fn receive(&self) -> Result<(usize, Result<Ready<T>>)> {
        let clock = &self.coding.counters.read_wait;
        match (&self.decoded, &self.fetched) {
            (Some(queue), _) => queue.wait(clock, Ready::Values),
            (None, Some(queue)) => queue.wait(clock, Ready::Records),
            (None, None) => Err(gone()),
        }
    }

    /// Returns the buffer of a frame to the servants.
    pub fn recycle(&self, frame: Ready<T>) {
        // Servants that are done need no buffers.
        match frame {
            Ready::Values(values) => drop(self.give_values.send(values)),
            Ready::Records(records) => {
                records
                    .into_spare()
                    .map(|bytes| self.give_bytes.send(bytes));
            }
        }
    }
}

impl<R> Queue<R> {
    fn wait<O>(
        &self,
        clock: &crate::report::Clock,
        wrap: impl FnOnce(R) -> O,
    ) -> Result<(usize, Result<O>)> {
        let next = self.0.try_recv().or_else(|_| clock.time(|| self.0.recv()));
        let (position, frame) = next.map_err(|_| gone())?;
        Ok((position, frame.map(wrap)))
    }
}

/// Decodes all slabs of a frame.
pub(crate) fn decode_whole<T: Element>(
    coding: &Coding,
    frame: &Fetched,
    values: &mut Vec<T>,
) -> Result<()> {
    values.resize(coding.cut.values(), T::default());
    for (slab, place) in coding.cut.places.iter().enumerate() {
        let out = &mut values[place.clone()];
        coding.decode(&frame.plan, frame.number, slab, frame.slab(slab)?, out)?;
    }
    Ok(())
}

impl<T> Drop for Prefetch<T> {
    /// Ends the servants by closing their queues.
    fn drop(&mut self) {
        self.fetched = None;
        self.decoded = None;
        for servant in self.servants.drain(..) {
            // The panic of a servant has already been reported.
            let _ = servant.join();
        }
    }
}
