//! Arrays as streams of messages, one per slab: slabs are sent while later ones are encoded.

use crate::comm::{Comm, Sending, Tag};
use crate::error::Result;
use crate::message::{self, Kind, Message};
use crate::ratio::{Controller, first_bound};
use crate::settings::{Agreement, Settings, plan_of};
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Element, Tolerance, View};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of messages in flight if no rank waits for this one; more would only take memory.
const MAX_IN_FLIGHT: usize = 8;
/// Number of trials, on a part that is not sent, to find the first bound of a fixed ratio.
const TRIALS: usize = 3;
/// Number of values in such a trial.
const TRIAL_VALUES: usize = 1 << 15;

/// Messages in flight, and buffers for the next ones.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    flying: VecDeque<Sending>,
    free: Vec<Vec<u8>>,
    pub sent_bytes: u64,
}

impl Outbox {
    /// A buffer for a message.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.free.pop().unwrap_or_default()
    }

    /// Sends a message, and lets MPI make progress on earlier ones.
    pub fn send(&mut self, comm: &Comm, to: usize, tag: Tag, message: Vec<u8>) -> Result<()> {
        self.sent_bytes += message.len() as u64;
        self.flying.push_back(comm.isend(to, tag, message)?);
        self.progress()
    }

    /// The same, but blocks while many messages are in flight. Not for ranks that others wait for at
    /// the same time: a ring of those would deadlock.
    pub fn send_paced(&mut self, comm: &Comm, to: usize, tag: Tag, message: Vec<u8>) -> Result<()> {
        self.send(comm, to, tag, message)?;
        while self.flying.len() > MAX_IN_FLIGHT
            && let Some(first) = self.flying.pop_front()
        {
            self.free.push(first.wait()?);
        }
        Ok(())
    }

    /// Lets MPI make progress.
    pub fn progress(&mut self) -> Result<()> {
        while let Some(first) = self.flying.front_mut() {
            if !first.is_done()? {
                break;
            }
            if let Some(first) = self.flying.pop_front() {
                self.free.push(first.wait()?);
            }
        }
        Ok(())
    }

    /// Waits for all messages.
    pub fn finish(&mut self) -> Result<()> {
        while let Some(first) = self.flying.pop_front() {
            first.wait()?;
        }
        Ok(())
    }
}

/// Encodes an array to messages.
pub(crate) struct Encoder {
    plan: FramePlan,
    coder: SlabCoder,
    encoded: EncodedSlab,
    origin: usize,
    ratio: Option<Controller>,
    bound: f64,
}

impl Encoder {
    pub fn new<T: Element>(
        agreement: &Agreement,
        origin: usize,
        settings: &Settings,
        values: &[T],
    ) -> Result<Self> {
        let plan = agreement.plan::<T>(origin, settings)?;
        let mut encoder = Self {
            coder: SlabCoder::new(settings.options.simd),
            encoded: EncodedSlab::default(),
            origin,
            ratio: None,
            bound: bound_of(plan.header().tolerance),
            plan,
        };
        if let Bound::Ratio(ratio) = settings.options.bound {
            encoder.ratio = Some(encoder.first_ratio(ratio, values, settings)?);
        }
        Ok(encoder)
    }

    /// A controller whose bound reaches the ratio on a sample.
    fn first_ratio<T: Element>(
        &mut self,
        ratio: f64,
        values: &[T],
        settings: &Settings,
    ) -> Result<Controller> {
        let length = values.len().min(TRIAL_VALUES);
        let sample = &values[(values.len() - length) / 2..][..length];
        let value_bits = 8.0 * size_of::<T>() as f64;
        let mut controller = Controller::new(ratio, value_bits, first_bound(sample));
        for _ in 0..TRIALS.min(length) {
            let tolerance = Tolerance::Abs(controller.bound());
            let plan = plan_of::<T>(&[length], tolerance, &settings.options)?;
            let part = plan.slab_region(0)[0].clone();
            let view = View::new(&sample[part.clone()], &[part.len()])?;
            self.coder.encode(&plan, 0, 0, &view, &mut self.encoded)?;
            controller.tried(part.len(), self.encoded.bytes().len());
        }
        Ok(controller)
    }

    pub fn slabs(&self) -> usize {
        self.plan.slabs()
    }

    /// Appends the message of a slab of `values`, the whole array; errors are sent as messages too.
    pub fn message<T: Element>(
        &mut self,
        slab: usize,
        values: &[T],
        settings: &Settings,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let encoded = self.encode(slab, values, settings);
        let bound = self.ratio.as_ref().map_or(self.bound, |r| r.bound());
        match encoded {
            Ok(length) => {
                message::begin(Kind::Slab, self.origin, slab, bound, out);
                out.extend_from_slice(self.encoded.bytes());
                if let Some(ratio) = &mut self.ratio {
                    ratio.sent(length, out.len());
                }
                message::seal(out);
                Ok(())
            }
            Err(error) => {
                let text = error.to_string();
                *out = message::whole(Kind::Failure, self.origin, slab, text.as_bytes());
                Err(error)
            }
        }
    }

    fn encode<T: Element>(
        &mut self,
        slab: usize,
        values: &[T],
        settings: &Settings,
    ) -> Result<usize> {
        let region = self.plan.slab_region(slab);
        let shape: Vec<_> = region.iter().map(Range::len).collect();
        let part = flat(&self.plan, slab);
        let length = part.len();
        let view = View::new(&values[part], &shape)?;
        let of_bound;
        let plan = match &self.ratio {
            Some(ratio) => {
                let tolerance = Tolerance::Abs(ratio.bound());
                let header = self.plan.header();
                of_bound = plan_of::<T>(header.shape(), tolerance, &settings.options)?;
                &of_bound
            }
            None => &self.plan,
        };
        self.coder.encode(plan, 0, slab, &view, &mut self.encoded)?;
        Ok(length)
    }

    /// The largest bound of any value.
    pub fn largest_bound(&self) -> f64 {
        self.ratio.as_ref().map_or(self.bound, |r| r.largest)
    }
}

/// Decodes the messages of a rank to an array.
pub(crate) struct Decoder {
    plan: FramePlan,
    origin: usize,
    next: usize,
    pub largest_bound: f64,
}

impl Decoder {
    pub fn new<T: Element>(
        agreement: &Agreement,
        origin: usize,
        settings: &Settings,
    ) -> Result<Self> {
        Ok(Self {
            plan: agreement.plan::<T>(origin, settings)?,
            origin,
            next: 0,
            largest_bound: 0.0,
        })
    }

    /// Number of messages still to come.
    pub fn due(&self) -> usize {
        self.plan.slabs() - self.next
    }

    /// Takes the next message. A damaged one counts too, so that the number of messages stays in step.
    pub fn take<T: Element>(
        &mut self,
        bytes: &[u8],
        coder: &mut SlabCoder,
        out: &mut [T],
    ) -> Result<()> {
        let slab = self.next;
        self.next += 1;
        let message = Message::read(bytes)?;
        let records = message.expect(Kind::Slab, self.origin, slab)?;
        self.largest_bound = self.largest_bound.max(message.bound);
        let part = flat(&self.plan, slab);
        Ok(coder.decode(&self.plan, 0, slab, records, &mut out[part])?)
    }
}

/// The range of a slab in the array.
fn flat(plan: &FramePlan, slab: usize) -> Range<usize> {
    let shape = plan.header().shape();
    let region = plan.slab_region(slab);
    let start = region
        .iter()
        .zip(shape)
        .fold(0, |at, (range, &extent)| at * extent + range.start);
    start..start + region.iter().map(Range::len).product::<usize>()
}

/// The absolute bound in units of the data; 0 for lossless, and for bounds that depend on the values.
fn bound_of(tolerance: Tolerance) -> f64 {
    match tolerance {
        Tolerance::Abs(e) => e,
        _ => 0.0,
    }
}
