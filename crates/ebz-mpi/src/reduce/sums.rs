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

/// Residuals of all pieces, and their messages.
struct Sums<'a> {
    comm: &'a Comm,
    parts: &'a Parts,
    lags: &'a [usize],
    residuals: Vec<i32>,
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
    let mut residuals = std::mem::take(&mut *comm.residuals.borrow_mut());
    residuals.resize(values.len(), 0);
    let (mut unfit, mut scratch) = (Vec::new(), Vec::new());
    for piece in 0..parts.pieces() {
        let range = parts.values(piece);
        let out = &mut residuals[range.clone()];
        lattice.quantize(&values[range.clone()], out, range.start, &mut unfit);
        difference(out, lags, &mut scratch);
    }
    let all_unfit: u64 = comm.allgather(&[unfit.len() as u64])?.iter().sum();
    if all_unfit as usize > values.len() / MIN_VALUES_PER_UNFIT {
        return exact::in_order(comm, values, parts, how.goal, report);
    }
    let mut sums = Sums {
        comm,
        parts,
        lags,
        residuals,
        outbox: Outbox::default(),
        bytes: Vec::new(),
        result: Ok(()),
    };
    match how.doubling {
        true => sums.exchange_at_growing_distances()?,
        false => sums.around()?,
    }
    // Exact sums need the values before they are overwritten.
    let exceptions = match all_unfit {
        0 => None,
        _ => Some(Exceptions::sum(comm, values, &unfit)?),
    };
    match (how.goal, how.doubling) {
        (_, true) => sums.finish(0..parts.pieces(), lattice, values),
        (Goal::All, _) => sums.share(lattice, values)?,
        (Goal::Parts, _) => sums.finish(parts.pieces_of(comm.rank()), lattice, values),
        (Goal::Root(root), _) => sums.collect(root, lattice, values)?,
    }
    sums.outbox.finish()?;
    report.sent_bytes += sums.outbox.sent_bytes;
    if let Some(exceptions) = exceptions {
        exceptions.put(values);
    }
    *comm.residuals.borrow_mut() = sums.residuals;
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
    /// Sends the residuals of a piece.
    fn send(&mut self, piece: usize, to: usize) -> Result<()> {
        let mut message = self.outbox.buffer();
        message::begin(Kind::Residuals, 0, piece, 0.0, &mut message);
        pack(&self.residuals[self.parts.values(piece)], &mut message);
        message::seal(&mut message);
        self.outbox.send(self.comm, to, Tag::Reduce, message)
    }

    /// Receives the residuals of a piece, and adds them or replaces the local ones.
    fn receive(&mut self, piece: usize, from: usize, add: bool) -> Result<()> {
        self.comm
            .receive(Some(from), Tag::Reduce, &mut self.bytes)?;
        let out = &mut self.residuals[self.parts.values(piece)];
        let taken = Message::read(&self.bytes)
            .and_then(|message| message.expect(Kind::Residuals, 0, piece))
            .and_then(|body| match add {
                true => unpack_add(body, out),
                false => unpack(body, out),
            });
        let before = std::mem::replace(&mut self.result, Ok(()));
        self.result = before.and(taken);
        Ok(())
    }

    /// Reduce-scatter around the ring; afterwards each rank has the sums of its own part.
    fn around(&mut self) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
        if ranks == 1 {
            return Ok(());
        }
        for piece in self.parts.pieces_of(previous) {
            self.send(piece, next)?;
        }
        for step in 2..=ranks {
            let part = (own + 2 * ranks - step) % ranks;
            for piece in self.parts.pieces_of(part) {
                self.receive(piece, previous, true)?;
                if part != own {
                    self.send(piece, next)?;
                }
            }
        }
        Ok(())
    }

    /// Allgather around the ring: each rank's sums are packed once and forwarded.
    fn share<T: Element>(&mut self, lattice: Lattice, values: &mut [T]) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
        for piece in self.parts.pieces_of(own) {
            if ranks > 1 {
                self.send(piece, next)?;
            }
            self.finish(piece..piece + 1, lattice, values);
        }
        for step in 1..ranks {
            let part = (own + ranks - step) % ranks;
            for piece in self.parts.pieces_of(part) {
                self.receive(piece, previous, false)?;
                if part != next {
                    let spare = self.outbox.buffer();
                    let message = std::mem::replace(&mut self.bytes, spare);
                    self.outbox.send(self.comm, next, Tag::Reduce, message)?;
                }
                self.finish(piece..piece + 1, lattice, values);
            }
        }
        Ok(())
    }

    /// Sends each rank's sums to the root.
    fn collect<T: Element>(
        &mut self,
        root: usize,
        lattice: Lattice,
        values: &mut [T],
    ) -> Result<()> {
        let own = self.comm.rank();
        if own != root {
            for piece in self.parts.pieces_of(own) {
                self.send(piece, root)?;
            }
            return Ok(());
        }
        for rank in (0..self.comm.size()).filter(|&rank| rank != root) {
            for piece in self.parts.pieces_of(rank) {
                self.receive(piece, rank, false)?;
            }
        }
        self.finish(0..self.parts.pieces(), lattice, values);
        Ok(())
    }

    /// Recursive doubling. Ranks beyond the largest power of two first send their residuals to a
    /// partner, and receive the result from it.
    fn exchange_at_growing_distances(&mut self) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let power = 1usize << ranks.ilog2();
        let all = 0..self.parts.pieces();
        if own >= power {
            for piece in all.clone() {
                self.send(piece, own - power)?;
            }
            for piece in all {
                self.receive(piece, own - power, false)?;
            }
            return Ok(());
        }
        let extra = (own + power < ranks).then_some(own + power);
        if let Some(extra) = extra {
            for piece in all.clone() {
                self.receive(piece, extra, true)?;
            }
        }
        let mut distance = 1;
        while distance < power {
            let partner = own ^ distance;
            for piece in all.clone() {
                self.send(piece, partner)?;
            }
            for piece in all.clone() {
                self.receive(piece, partner, true)?;
            }
            distance *= 2;
        }
        if let Some(extra) = extra {
            for piece in all {
                self.send(piece, extra)?;
            }
        }
        Ok(())
    }

    /// Converts the sums of pieces to values.
    fn finish<T: Element>(
        &mut self,
        pieces: std::ops::Range<usize>,
        lattice: Lattice,
        values: &mut [T],
    ) {
        for piece in pieces {
            let range = self.parts.values(piece);
            let residuals = &mut self.residuals[range.clone()];
            sum_up(residuals, self.lags);
            lattice.scale(residuals, &mut values[range]);
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
