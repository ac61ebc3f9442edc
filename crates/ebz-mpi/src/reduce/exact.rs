//! Exact sums, in rank order.

use super::parts::Parts;
use super::{Goal, unexpected};
use crate::comm::{Comm, IN_PLACE, MAX_MESSAGE_BYTES, Tag, check};
use crate::error::Result;
use crate::message::{self, Kind, Message};
use crate::settings::Report;
use crate::slabs::Outbox;
use ebz::{Element, ElementType};
use mpi::ffi;
use mpi::traits::AsRaw;
use std::ffi::{c_int, c_void};

/// The sum of two values, rounded to their own type.
fn add<T: Element>(a: T, b: T) -> T {
    // Twice the digits plus two: double rounding is harmless.
    T::from_f64(a.to_f64() + b.to_f64())
}

/// Sums all values exactly in rank order: each rank sums up its own part, and the others send it raw
/// values. The result has the same bits on every rank.
pub(super) fn in_order<T: Element>(
    comm: &Comm,
    values: &mut [T],
    parts: &Parts,
    goal: Goal,
    report: &mut Report,
) -> Result<()> {
    let (own, ranks) = (comm.rank(), comm.size());
    let mut outbox = Outbox::default();
    // Each rank starts with its successor, so that not all send to the same one.
    for step in 1..ranks {
        let to = (own + step) % ranks;
        for piece in parts.pieces_of(to) {
            send_raw(comm, &values[parts.values(piece)], to, piece, &mut outbox)?;
        }
    }
    let mut result = Ok(());
    let mut bytes = Vec::new();
    let mut rows: Vec<Vec<T>> = Vec::new();
    for piece in parts.pieces_of(own) {
        let sums = &mut values[parts.values(piece)];
        rows.clear();
        for rank in 0..ranks {
            let mut row = sums.to_vec();
            if rank != own {
                comm.receive(Some(rank), Tag::Exact, &mut bytes)?;
                result = result.and(read_raw(&bytes, rank, piece, &mut row));
            }
            rows.push(row);
        }
        sums.copy_from_slice(&rows[0]);
        for row in &rows[1..] {
            for (sum, &x) in sums.iter_mut().zip(row) {
                *sum = add(*sum, x);
            }
        }
    }
    let tell: Vec<usize> = match goal {
        Goal::All => (0..ranks).collect(),
        Goal::Root(root) => vec![root],
        Goal::Parts => Vec::new(),
    };
    for &to in tell.iter().filter(|&&to| to != own) {
        for piece in parts.pieces_of(own) {
            send_raw(comm, &values[parts.values(piece)], to, piece, &mut outbox)?;
        }
    }
    if tell.contains(&own) {
        for from in (0..ranks).filter(|&from| from != own) {
            for piece in parts.pieces_of(from) {
                comm.receive(Some(from), Tag::Exact, &mut bytes)?;
                let out = &mut values[parts.values(piece)];
                result = result.and(read_raw(&bytes, from, piece, out));
            }
        }
    }
    outbox.finish()?;
    report.sent_bytes += outbox.sent_bytes;
    result
}

fn send_raw<T: Element>(
    comm: &Comm,
    values: &[T],
    to: usize,
    piece: usize,
    outbox: &mut Outbox,
) -> Result<()> {
    let mut message = outbox.buffer();
    message::begin(Kind::Raw, comm.rank(), piece, 0.0, &mut message);
    message.extend_from_slice(bytemuck::cast_slice(values));
    message::seal(&mut message);
    outbox.send(comm, to, Tag::Exact, message)
}

fn read_raw<T: Element>(bytes: &[u8], from: usize, piece: usize, out: &mut [T]) -> Result<()> {
    let body = Message::read(bytes)?.expect(Kind::Raw, from, piece)?;
    let out: &mut [u8] = bytemuck::cast_slice_mut(out);
    if body.len() != out.len() {
        return Err(unexpected("a wrong number of values"));
    }
    out.copy_from_slice(body);
    Ok(())
}

/// The exact sums of values that do not fit the lattice on some rank.
pub(super) struct Exceptions<T> {
    places: Vec<usize>,
    sums: Vec<T>,
}

impl<T: Element> Exceptions<T> {
    /// Sums the values at the indices that any rank lists.
    pub fn sum(comm: &Comm, values: &[T], unfit: &[u64]) -> Result<Self> {
        let named = comm.allgather_bytes(bytemuck::cast_slice(unfit))?;
        let mut places = Vec::new();
        for bytes in &named {
            let (words, _) = bytes.as_chunks::<8>();
            places.extend(words.iter().map(|word| u64::from_le_bytes(*word) as usize));
        }
        places.sort_unstable();
        places.dedup();
        if places.last().is_some_and(|&last| last >= values.len()) {
            return Err(unexpected("indices beyond the end"));
        }
        let own: Vec<T> = places.iter().map(|&place| values[place]).collect();
        let rows = comm.allgather_bytes(bytemuck::cast_slice(&own))?;
        let mut sums: Vec<T> = Vec::new();
        for row in rows {
            let mut values = vec![T::default(); places.len()];
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
            if row.len() != bytes.len() {
                return Err(unexpected("a wrong number of exceptions"));
            }
            bytes.copy_from_slice(&row);
            if sums.is_empty() {
                sums = values;
                continue;
            }
            for (sum, x) in sums.iter_mut().zip(values) {
                *sum = add(*sum, x);
            }
        }
        Ok(Self { places, sums })
    }

    /// Stores the sums at their indices.
    pub fn put(&self, values: &mut [T]) {
        for (&place, &sum) in self.places.iter().zip(&self.sums) {
            values[place] = sum;
        }
    }
}

/// MPI's own sums, split to fit 32-bit counts.
pub(super) fn raw<T: Element>(
    comm: &Comm,
    from: Option<&[T]>,
    values: &mut [T],
    parts: &Parts,
    goal: Goal,
    report: &mut Report,
) -> Result<()> {
    // SAFETY: constants of MPI.
    let (float, double, sum) = unsafe { (ffi::RSMPI_FLOAT, ffi::RSMPI_DOUBLE, ffi::RSMPI_SUM) };
    let kind = match T::TYPE {
        ElementType::F32 => float,
        ElementType::F64 => double,
        #[allow(unreachable_patterns, reason = "types that MPI does not know")]
        _ => {
            if let Some(from) = from {
                values.copy_from_slice(from);
            }
            return in_order(comm, values, parts, goal, report);
        }
    };
    let most = MAX_MESSAGE_BYTES / size_of::<T>();
    let from = from.into_iter().flat_map(|from| from.chunks(most));
    let mut from = from.map(|piece| piece.as_ptr().cast());
    for piece in values.chunks_mut(most) {
        let length = piece.len() as c_int;
        let here: *mut c_void = piece.as_mut_ptr().cast();
        // SAFETY: both have room for this many values, or the result replaces them.
        let (call, code) = unsafe {
            match goal {
                Goal::Root(root) => {
                    let (from, to) = match comm.rank() == root {
                        true => (IN_PLACE, here),
                        false => (here.cast_const(), std::ptr::null_mut()),
                    };
                    let root = root as c_int;
                    let code = ffi::PMPI_Reduce(from, to, length, kind, sum, root, comm.as_raw());
                    ("MPI_Reduce", code)
                }
                _ => {
                    let from = from.next().unwrap_or(IN_PLACE);
                    let code = ffi::PMPI_Allreduce(from, here, length, kind, sum, comm.as_raw());
                    ("MPI_Allreduce", code)
                }
            }
        };
        check(call, code)?;
    }
    report.sent_bytes = report.raw_bytes;
    Ok(())
}
