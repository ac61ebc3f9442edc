//! The plain algorithm, for comparison: a ring that decompresses, adds and compresses at every step.

use super::coder::PieceCoder;
use super::parts::Parts;
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::settings::{Report, Settings};
use crate::slabs::Outbox;
use ebz::{Element, Tolerance};

struct Ring<'a> {
    comm: &'a Comm,
    parts: &'a Parts,
    coder: PieceCoder<'a>,
    outbox: Outbox,
    bytes: Vec<u8>,
    result: Result<()>,
}

/// Sums values in place, on every rank.
pub(super) fn ring<T: Element>(
    comm: &Comm,
    values: &mut [T],
    parts: &Parts,
    bound: f64,
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    let (own, ranks) = (comm.rank(), comm.size());
    let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
    let mut ring = Ring {
        comm,
        parts,
        coder: PieceCoder::new(parts, Tolerance::Abs(bound), settings.options.clone()),
        outbox: Outbox::default(),
        bytes: Vec::new(),
        result: Ok(()),
    };
    if ranks == 1 {
        return Ok(());
    }
    let mut other = Vec::new();
    for piece in parts.pieces_of(previous) {
        ring.send(piece, values, next)?;
    }
    for step in 2..=ranks {
        let part = (own + 2 * ranks - step) % ranks;
        for piece in parts.pieces_of(part) {
            let sums = &mut values[parts.values(piece)];
            other.resize(sums.len(), T::default());
            ring.receive(piece, &mut other, previous)?;
            for (sum, x) in sums.iter_mut().zip(&other) {
                *sum = T::from_f64(sum.to_f64() + x.to_f64());
            }
            if part != own {
                ring.send(piece, values, next)?;
            }
        }
    }
    for piece in parts.pieces_of(own) {
        ring.send(piece, values, next)?;
        // The same values as on the other ranks.
        let message = std::mem::take(&mut ring.bytes);
        ring.decode(&message, piece, &mut values[parts.values(piece)]);
    }
    for step in 1..ranks {
        let part = (own + ranks - step) % ranks;
        for piece in parts.pieces_of(part) {
            ring.receive(piece, &mut values[parts.values(piece)], previous)?;
            if part != next {
                let spare = ring.outbox.buffer();
                let message = std::mem::replace(&mut ring.bytes, spare);
                ring.outbox.send(comm, next, Tag::Reduce, message)?;
            }
        }
    }
    ring.outbox.finish()?;
    report.sent_bytes += ring.outbox.sent_bytes;
    ring.result
}

impl Ring<'_> {
    fn send<T: Element>(&mut self, piece: usize, values: &[T], to: usize) -> Result<()> {
        let mut message = self.outbox.buffer();
        let values = &values[self.parts.values(piece)];
        let encoded = self.coder.encode(piece, values, &mut message);
        self.fails(encoded);
        self.bytes.clear();
        self.bytes.extend_from_slice(&message);
        self.outbox.send(self.comm, to, Tag::Reduce, message)
    }

    fn receive<T: Element>(&mut self, piece: usize, out: &mut [T], from: usize) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.comm.receive(Some(from), Tag::Reduce, &mut bytes)?;
        self.decode(&bytes, piece, out);
        self.bytes = bytes;
        Ok(())
    }

    fn decode<T: Element>(&mut self, bytes: &[u8], piece: usize, out: &mut [T]) {
        let decoded = self.coder.decode(piece, bytes, out);
        self.fails(decoded);
    }

    fn fails(&mut self, result: Result<()>) {
        let before = std::mem::replace(&mut self.result, Ok(()));
        self.result = before.and(result);
    }
}
