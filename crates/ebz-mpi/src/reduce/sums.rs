//! Sums of packed integers.

use super::Goal;
use super::exact::{self, Exceptions};
use super::parts::Parts;
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::lattice::{Lattice, difference, pack, packed_len, sum_up, unpack, unpack_add};
use crate::message::{self, Kind, Message};
use crate::settings::Report;
use crate::slabs::Outbox;
use crate::speed::Rates;
use ebz::Element;

/// If more than one value in this many does not fit the lattice, all are summed exactly.
const MIN_VALUES_PER_UNFIT: usize = 64;
/// Number of values sampled to choose the lags.
const SAMPLE_VALUES: usize = 1 << 15;

/// Destination of the sum, and algorithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub goal: Goal,
    pub doubling: bool,
}

/// Residuals of a piece, and messages.
struct Sums<'a> {
    comm: &'a Comm,
    parts: &'a Parts,
    lattice: Lattice,
    lags: &'a [usize],
    /// Residuals of the current piece.
    residuals: Vec<i32>,
    scratch: Vec<i32>,
    /// Indices of values that do not fit the lattice.
    unfit: Vec<u64>,
    /// Packed sums of this rank's own part.
    own: Vec<Vec<u8>>,
    outbox: Outbox,
    bytes: Vec<u8>,
    /// The first error; messages continue, so that no rank blocks.
    result: Result<()>,
}

/// Sums values in place, on the ranks that need the result.
pub(super) fn on_lattice<T: Element>(
    comm: &Comm,
    values: &mut [T],
    parts: &Parts,
    lattice: Lattice,
    how: How,
    report: &mut Report,
) -> Result<()> {
    // All ranks use the lags that rank 0 finds best.
    let lags = comm.allgather(&[best_lags(lattice, values, parts.lags()) as u64])?[0];
    let lags = &parts.lags()[..(lags as usize).clamp(1, parts.lags().len())];
    let mut sums = Sums {
        comm,
        parts,
        lattice,
        lags,
        residuals: Vec::new(),
        scratch: Vec::new(),
        unfit: Vec::new(),
        own: Vec::new(),
        outbox: Outbox::default(),
        bytes: Vec::new(),
        result: Ok(()),
    };
    let all = match how.doubling {
        true => sums.exchange_at_growing_distances(values)?,
        false => {
            sums.around(values)?;
            Vec::new()
        }
    };
    let all_unfit: u64 = comm.allgather(&[sums.unfit.len() as u64])?.iter().sum();
    if all_unfit as usize > values.len() / MIN_VALUES_PER_UNFIT {
        sums.outbox.finish()?;
        report.sent_bytes += sums.outbox.sent_bytes;
        return exact::in_order(comm, values, parts, how.goal, report);
    }
    // Exact sums need the values before they are overwritten.
    let exceptions = match all_unfit {
        0 => None,
        _ => Some(Exceptions::sum(comm, values, &sums.unfit)?),
    };
    match (how.goal, how.doubling) {
        (_, true) => sums.finish_all(all, values),
        (Goal::All, _) => sums.share(values)?,
        (Goal::Parts, _) => sums.finish_own(values),
        (Goal::Root(root), _) => sums.collect(root, values)?,
    }
    sums.outbox.finish()?;
    report.sent_bytes += sums.outbox.sent_bytes;
    if let Some(exceptions) = exceptions {
        exceptions.put(values);
    }
    sums.result
}

/// The number of lags that give the shortest residuals, on a sample.
fn best_lags<T: Element>(lattice: Lattice, values: &[T], lags: &[usize]) -> usize {
    let length = values
        .len()
        .min(SAMPLE_VALUES.max(4 * lags[lags.len() - 1]));
    let values = &values[(values.len() - length) / 2..][..length];
    let mut sample = vec![0; length];
    lattice.quantize(values, &mut sample, 0, &mut Vec::new());
    let mut scratch = Vec::new();
    let cost = |&count: &usize| {
        let mut residuals = sample.clone();
        difference(&mut residuals, &lags[..count], &mut scratch);
        packed_len(&residuals)
    };
    (1..=lags.len()).min_by_key(cost).unwrap_or(1)
}

impl Sums<'_> {
    /// Computes the residuals of this rank's values.
    fn quantize<T: Element>(&mut self, piece: usize, values: &[T]) {
        let range = self.parts.values(piece);
        self.residuals.resize(range.len(), 0);
        self.lattice.quantize(
            &values[range.clone()],
            &mut self.residuals,
            range.start,
            &mut self.unfit,
        );
        difference(&mut self.residuals, self.lags, &mut self.scratch);
    }

    /// Converts residuals of sums to values.
    fn finish<T: Element>(&mut self, piece: usize, values: &mut [T]) {
        sum_up(&mut self.residuals, self.lags);
        self.lattice
            .scale(&self.residuals, &mut values[self.parts.values(piece)]);
    }

    /// Packs the residuals into a message.
    fn message(&mut self, piece: usize) -> Vec<u8> {
        let mut message = self.outbox.buffer();
        message::begin(Kind::Residuals, 0, piece, 0.0, &mut message);
        pack(&self.residuals, &mut message);
        message::seal(&mut message);
        message
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        self.outbox.send(self.comm, to, Tag::Reduce, message)
    }

    /// Receives a message about a piece, and adds its residuals or replaces the local ones.
    fn receive(&mut self, piece: usize, from: usize, add: bool) -> Result<()> {
        self.comm
            .receive(Some(from), Tag::Reduce, &mut self.bytes)?;
        self.take(piece, add);
        Ok(())
    }

    /// Takes the residuals out of the message in `bytes`.
    fn take(&mut self, piece: usize, add: bool) {
        self.residuals.resize(self.parts.values(piece).len(), 0);
        let taken = Message::read(&self.bytes)
            .and_then(|message| message.expect(Kind::Residuals, 0, piece))
            .and_then(|body| match add {
                true => unpack_add(body, &mut self.residuals),
                false => unpack(body, &mut self.residuals),
            });
        let before = std::mem::replace(&mut self.result, Ok(()));
        self.result = before.and(taken);
    }

    /// Reduce-scatter around the ring; afterwards each rank has the packed sums of its own part.
    fn around<T: Element>(&mut self, values: &[T]) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
        for step in 1..=ranks {
            let part = (own + 2 * ranks - step) % ranks;
            for piece in self.parts.pieces_of(part) {
                self.quantize(piece, values);
                if step > 1 {
                    self.receive(piece, previous, true)?;
                }
                let message = self.message(piece);
                match part == own {
                    true => self.own.push(message),
                    false => self.send(next, message)?,
                }
            }
        }
        Ok(())
    }

    /// Converts the sums of this rank's own part to values.
    fn finish_own<T: Element>(&mut self, values: &mut [T]) {
        for (piece, at) in self.parts.pieces_of(self.comm.rank()).zip(0..) {
            std::mem::swap(&mut self.bytes, &mut self.own[at]);
            self.take(piece, false);
            std::mem::swap(&mut self.bytes, &mut self.own[at]);
            self.finish(piece, values);
        }
    }

    fn send_own(&mut self, to: usize) -> Result<()> {
        for message in std::mem::take(&mut self.own) {
            self.send(to, message)?;
        }
        Ok(())
    }

    /// Allgather around the ring: each rank's sums are packed once and forwarded.
    fn share<T: Element>(&mut self, values: &mut [T]) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
        self.finish_own(values);
        if ranks > 1 {
            self.send_own(next)?;
        }
        for step in 1..ranks {
            let part = (own + ranks - step) % ranks;
            for piece in self.parts.pieces_of(part) {
                self.receive(piece, previous, false)?;
                if part != next {
                    let spare = self.outbox.buffer();
                    let message = std::mem::replace(&mut self.bytes, spare);
                    self.send(next, message)?;
                }
                self.finish(piece, values);
            }
        }
        Ok(())
    }

    /// Sends each rank's sums to the root.
    fn collect<T: Element>(&mut self, root: usize, values: &mut [T]) -> Result<()> {
        if self.comm.rank() != root {
            return self.send_own(root);
        }
        self.finish_own(values);
        for rank in (0..self.comm.size()).filter(|&rank| rank != root) {
            for piece in self.parts.pieces_of(rank) {
                self.receive(piece, rank, false)?;
                self.finish(piece, values);
            }
        }
        Ok(())
    }

    /// Recursive doubling; returns the residuals of all pieces. Ranks beyond the largest power of two
    /// first send theirs to a partner, and receive the result from it.
    fn exchange_at_growing_distances<T: Element>(&mut self, values: &[T]) -> Result<Vec<Vec<i32>>> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let power = 1usize << ranks.ilog2();
        let mut all = Vec::new();
        for piece in 0..self.parts.pieces() {
            self.quantize(piece, values);
            all.push(std::mem::take(&mut self.residuals));
        }
        if own >= power {
            self.send_all(&mut all, own - power)?;
            self.receive_all(&mut all, own - power, false)?;
            return Ok(all);
        }
        let extra = (own + power < ranks).then_some(own + power);
        if let Some(extra) = extra {
            self.receive_all(&mut all, extra, true)?;
        }
        let mut distance = 1;
        while distance < power {
            let partner = own ^ distance;
            self.send_all(&mut all, partner)?;
            self.receive_all(&mut all, partner, true)?;
            distance *= 2;
        }
        if let Some(extra) = extra {
            self.send_all(&mut all, extra)?;
        }
        Ok(all)
    }

    fn send_all(&mut self, all: &mut [Vec<i32>], to: usize) -> Result<()> {
        for (piece, residuals) in all.iter_mut().enumerate() {
            std::mem::swap(&mut self.residuals, residuals);
            let message = self.message(piece);
            std::mem::swap(&mut self.residuals, residuals);
            self.send(to, message)?;
        }
        Ok(())
    }

    fn receive_all(&mut self, all: &mut [Vec<i32>], from: usize, add: bool) -> Result<()> {
        for (piece, residuals) in all.iter_mut().enumerate() {
            std::mem::swap(&mut self.residuals, residuals);
            let received = self.receive(piece, from, add);
            std::mem::swap(&mut self.residuals, residuals);
            received?;
        }
        Ok(())
    }

    fn finish_all<T: Element>(&mut self, all: Vec<Vec<i32>>, values: &mut [T]) {
        for (piece, residuals) in all.into_iter().enumerate() {
            self.residuals = residuals;
            self.finish(piece, values);
        }
    }
}

/// Speed of packing and unpacking a sample, and its ratio; `None` if it does not fit. `time` measures
/// work.
pub(super) fn measure<T: Element>(
    lattice: Lattice,
    values: &[T],
    lags: &[usize],
    time: impl Fn(&mut dyn FnMut()) -> f64,
) -> Option<Rates> {
    let bytes = size_of_val(values) as f64;
    let mut residuals = vec![0; values.len()];
    let (mut unfit, mut packed, mut out) = (Vec::new(), Vec::new(), values.to_vec());
    if values.is_empty() {
        return None;
    }
    let encode = time(&mut || {
        packed.clear();
        lattice.quantize(values, &mut residuals, 0, &mut unfit);
        difference(&mut residuals, lags, &mut Vec::new());
        pack(&residuals, &mut packed);
    });
    let mut decoded = Ok(());
    let decode = time(&mut || {
        decoded = unpack(&packed, &mut residuals);
        sum_up(&mut residuals, lags);
        lattice.scale(&residuals, &mut out);
    });
    decoded.ok()?;
    (unfit.len() <= values.len() / MIN_VALUES_PER_UNFIT).then_some(Rates {
        encode: encode / bytes,
        decode: decode / bytes,
        ratio: bytes / packed.len() as f64,
    })
}
