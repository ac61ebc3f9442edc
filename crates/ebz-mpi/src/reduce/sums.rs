//! Sums of integers on a lattice.

use super::Goal;
use super::coder::PieceCoder;
use super::exact::{self, Exceptions};
use super::parts::Parts;
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::lattice::{INTEGER_BOUND, Lattice, add};
use crate::settings::{Report, Settings};
use crate::slabs::Outbox;
use ebz::{Element, Fill, Options, Tolerance};
use std::ops::Range;

/// If more than one value in this many does not fit the lattice, all are summed exactly.
const MIN_VALUES_PER_UNFIT: usize = 64;
/// Pieces that a rank sends before it waits for those of others, to keep the links busy.
const PIECES_AHEAD: usize = 4;

/// Destination of the sum, and algorithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub goal: Goal,
    pub doubling: bool,
}

/// Integers of a piece, and messages.
struct Sums<'a, T> {
    comm: &'a Comm,
    parts: &'a Parts,
    lattice: Lattice,
    coder: PieceCoder<'a>,
    /// Sums of the current piece, and what another rank sent of it.
    sums: Vec<T>,
    other: Vec<T>,
    /// Indices of values that do not fit the lattice.
    unfit: Vec<u64>,
    /// Encoded sums of this rank's own part.
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
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    let mut options = Options::new(ebz::Bound::Abs(INTEGER_BOUND)).codec(&settings.options.codec);
    options.params = settings.options.params.clone();
    options.simd = settings.options.simd;
    options.fill = Fill::None;
    let mut sums = Sums {
        comm,
        parts,
        lattice,
        coder: PieceCoder::new(parts, Tolerance::Abs(INTEGER_BOUND), options),
        sums: Vec::new(),
        other: Vec::new(),
        unfit: Vec::new(),
        own: Vec::new(),
        outbox: Outbox::default(),
        bytes: Vec::new(),
        result: Ok(()),
    };
    let all = match how.doubling {
        true => sums.exchange_at_growing_distances(values)?,
        false => {
            sums.scatter(values)?;
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

impl<T: Element> Sums<'_, T> {
    fn fails(&mut self, result: Result<()>) {
        let before = std::mem::replace(&mut self.result, Ok(()));
        self.result = before.and(result);
    }

    /// Computes the integers of this rank's values.
    fn quantize(&mut self, piece: usize, values: &[T]) {
        let range = self.parts.values(piece);
        self.sums.resize(range.len(), T::default());
        let (start, values) = (range.start, &values[range]);
        self.lattice
            .quantize(values, &mut self.sums, start, &mut self.unfit);
    }

    /// Encodes the sums.
    fn message(&mut self, piece: usize) -> Vec<u8> {
        let mut message = self.outbox.buffer();
        let encoded = self.coder.encode(piece, &self.sums, &mut message);
        self.fails(encoded);
        message
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        self.outbox.send(self.comm, to, Tag::Reduce, message)
    }

    /// Receives the integers of another rank in `other`.
    fn receive(&mut self, piece: usize, from: usize) -> Result<()> {
        self.comm
            .receive(Some(from), Tag::Reduce, &mut self.bytes)?;
        self.other
            .resize(self.parts.values(piece).len(), T::default());
        let decoded = self.coder.decode(piece, &self.bytes, &mut self.other);
        self.fails(decoded);
        Ok(())
    }

    /// Reduce-scatter: every rank sends each part straight to the rank that sums it up, because partial sums
    /// would have more digits. Afterwards each rank has the encoded sums of its own part.
    fn scatter(&mut self, values: &[T]) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let mut parts: Vec<_> = (0..ranks).map(|rank| self.parts.pieces_of(rank)).collect();
        let most = parts.iter().map(Range::len).max().unwrap_or(0);
        let mut mine = parts[own].clone();
        for round in 0..most + PIECES_AHEAD {
            // Each rank starts with its successor, so that not all send to the same one.
            for to in (1..ranks).map(|step| (own + step) % ranks) {
                if let Some(piece) = parts[to].next() {
                    self.quantize(piece, values);
                    let message = self.message(piece);
                    self.send(to, message)?;
                }
            }
            if round >= PIECES_AHEAD
                && let Some(piece) = mine.next()
            {
                self.quantize(piece, values);
                for from in (1..ranks).map(|step| (own + ranks - step) % ranks) {
                    self.receive(piece, from)?;
                    add(&self.other, &mut self.sums);
                }
                let message = self.message(piece);
                self.own.push(message);
            }
        }
        Ok(())
    }

    /// Decodes a message straight to values.
    fn finish(&mut self, piece: usize, message: &[u8], values: &mut [T]) {
        let out = &mut values[self.parts.values(piece)];
        let decoded = self.coder.decode(piece, message, out);
        self.fails(decoded);
        self.lattice.scale(out);
    }

    /// Converts the sums of this rank's own part to values.
    fn finish_own(&mut self, values: &mut [T]) {
        let own = std::mem::take(&mut self.own);
        for (piece, message) in self.parts.pieces_of(self.comm.rank()).zip(&own) {
            self.finish(piece, message, values);
        }
        self.own = own;
    }

    fn send_own(&mut self, to: usize) -> Result<()> {
        for message in std::mem::take(&mut self.own) {
            self.send(to, message)?;
        }
        Ok(())
    }

    /// Receives the sums of a piece as values; the message stays in `bytes`.
    fn receive_sums(&mut self, piece: usize, from: usize, values: &mut [T]) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.comm.receive(Some(from), Tag::Reduce, &mut bytes)?;
        self.finish(piece, &bytes, values);
        self.bytes = bytes;
        Ok(())
    }

    /// Allgather around the ring: each rank's sums are encoded once and forwarded.
    fn share(&mut self, values: &mut [T]) -> Result<()> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
        self.finish_own(values);
        if ranks > 1 {
            self.send_own(next)?;
        }
        for step in 1..ranks {
            let part = (own + ranks - step) % ranks;
            for piece in self.parts.pieces_of(part) {
                self.receive_sums(piece, previous, values)?;
                if part != next {
                    let spare = self.outbox.buffer();
                    let message = std::mem::replace(&mut self.bytes, spare);
                    self.send(next, message)?;
                }
            }
        }
        Ok(())
    }

    /// Sends each rank's sums to the root.
    fn collect(&mut self, root: usize, values: &mut [T]) -> Result<()> {
        if self.comm.rank() != root {
            return self.send_own(root);
        }
        self.finish_own(values);
        for rank in (0..self.comm.size()).filter(|&rank| rank != root) {
            for piece in self.parts.pieces_of(rank) {
                self.receive_sums(piece, rank, values)?;
            }
        }
        Ok(())
    }

    /// Recursive doubling; returns the sums of all pieces. Ranks beyond the largest power of two
    /// first send theirs to a partner, and receive the result from it.
    fn exchange_at_growing_distances(&mut self, values: &[T]) -> Result<Vec<Vec<T>>> {
        let (own, ranks) = (self.comm.rank(), self.comm.size());
        let power = 1usize << ranks.ilog2();
        let mut all = Vec::new();
        for piece in 0..self.parts.pieces() {
            self.quantize(piece, values);
            all.push(std::mem::take(&mut self.sums));
        }
        if own >= power {
            self.send_all(&mut all, own - power)?;
            for sums in &mut all {
                sums.fill(T::default());
            }
            self.add_all(&mut all, own - power)?;
            return Ok(all);
        }
        let extra = (own + power < ranks).then_some(own + power);
        if let Some(extra) = extra {
            self.add_all(&mut all, extra)?;
        }
        let mut distance = 1;
        while distance < power {
            let partner = own ^ distance;
            self.send_all(&mut all, partner)?;
            self.add_all(&mut all, partner)?;
            distance *= 2;
        }
        if let Some(extra) = extra {
            self.send_all(&mut all, extra)?;
        }
        Ok(all)
    }

    fn send_all(&mut self, all: &mut [Vec<T>], to: usize) -> Result<()> {
        for (piece, sums) in all.iter_mut().enumerate() {
            std::mem::swap(&mut self.sums, sums);
            let message = self.message(piece);
            std::mem::swap(&mut self.sums, sums);
            self.send(to, message)?;
        }
        Ok(())
    }

    fn add_all(&mut self, all: &mut [Vec<T>], from: usize) -> Result<()> {
        for (piece, sums) in all.iter_mut().enumerate() {
            self.receive(piece, from)?;
            add(&self.other, sums);
        }
        Ok(())
    }

    fn finish_all(&mut self, all: Vec<Vec<T>>, values: &mut [T]) {
        for (piece, mut sums) in all.into_iter().enumerate() {
            self.lattice.scale(&mut sums);
            values[self.parts.values(piece)].copy_from_slice(&sums);
        }
    }
}
