//! `allgather` and `bcast`: each slab is encoded once and forwarded around the ring of ranks.

use super::{choose, cut, largest, misfit};
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::link::Route;
use crate::settings::{Agreement, Report, Settings, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
use ebz::Element;
use ebz::slab::SlabCoder;

/// Gathers the arrays of all ranks on every rank: `out` has room for all values, in rank order. Every
/// rank gets the same bits, including those of its own values.
pub fn allgather<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    out: &mut [T],
    settings: &Settings,
) -> Result<Report> {
    let agreement = agree(comm, "allgather", Route::Ring, shape, values, settings)?;
    let mut parts = comm.settle(cut(&agreement, out))?;
    parts[comm.rank()].copy_from_slice(values);
    let report = ring_choice::<T>(comm, &agreement, settings);
    if report.compressed {
        return around(comm, &mut parts, &agreement, settings, report);
    }
    let lengths = agreement
        .offers
        .iter()
        .map(|offer| offer.len() * size_of::<T>());
    comm.allgather_in_place(bytemuck::cast_slice_mut(out), &lengths.collect::<Vec<_>>())?;
    Ok(raw_report(report))
}

/// Broadcasts the array of one rank; the others must have room for exactly that many values. The root
/// also ends up with the decoded values, so that all ranks have the same bits.
pub fn bcast<T: Element>(
    comm: &Comm,
    values: &mut [T],
    shape: &[usize],
    root: usize,
    settings: &Settings,
) -> Result<Report> {
    let is_root = comm.rank() == root;
    let operation = format!("bcast {root} {shape:?}");
    let given: (&[T], &[usize]) = match is_root {
        true => (values, shape),
        false => (&[], &[0]),
    };
    let agreement = agree(comm, &operation, Route::Ring, given.1, given.0, settings)?;
    let fits = match agreement.offers.get(root).map(|offer| offer.len()) {
        Some(length) if length == values.len() => Ok(()),
        Some(_) => Err(misfit()),
        None => Err(ebz::Error::invalid(format!("no rank {root}")).into()),
    };
    comm.settle(fits)?;
    let report = ring_choice::<T>(comm, &agreement, settings);
    if report.compressed {
        let mut parts: Vec<&mut [T]> = Vec::new();
        parts.resize_with(comm.size(), Default::default);
        parts[root] = values;
        return around(comm, &mut parts, &agreement, settings, report);
    }
    comm.broadcast_in_place(root, bytemuck::cast_slice_mut(values))?;
    Ok(raw_report(report))
}

fn ring_choice<T: Element>(comm: &Comm, agreement: &Agreement, settings: &Settings) -> Report {
    let size = size_of::<T>();
    let lengths = agreement.offers.iter().map(|offer| offer.len() * size);
    let longest = lengths.max().unwrap_or(0);
    let total = agreement.total() * size;
    let mut report = choose(agreement, settings, total, longest, total);
    report.raw_bytes = (agreement.offers[comm.rank()].len() * size) as u64;
    report
}

fn raw_report(mut report: Report) -> Report {
    report.sent_bytes = report.raw_bytes;
    report
}

/// Sends slabs around the ring: each rank decodes and forwards them.
fn around<T: Element>(
    comm: &Comm,
    parts: &mut [&mut [T]],
    agreement: &Agreement,
    settings: &Settings,
    mut report: Report,
) -> Result<Report> {
    let result = pass_on(comm, parts, agreement, settings, &mut report);
    report.largest_bound = comm.settle(result)?;
    largest(comm, &mut report)?;
    Ok(report)
}

fn pass_on<T: Element>(
    comm: &Comm,
    parts: &mut [&mut [T]],
    agreement: &Agreement,
    settings: &Settings,
    report: &mut Report,
) -> Result<f64> {
    let (own, ranks) = (comm.rank(), comm.size());
    let (next, previous) = ((own + 1) % ranks, (own + ranks - 1) % ranks);
    let mut encoder = Encoder::new(agreement, own, settings, parts[own])?;
    let mut decoders = Vec::new();
    for rank in 0..ranks {
        decoders.push(Decoder::new::<T>(agreement, rank, settings)?);
    }
    let mut coder = SlabCoder::new(settings.options.simd);
    let mut outbox = Outbox::default();
    let mut result = Ok(());
    for slab in 0..encoder.slabs() {
        let mut message = outbox.buffer();
        let made = encoder.message(slab, &*parts[own], settings, &mut message);
        let taken = decoders[own].take(&message, &mut coder, parts[own]);
        result = result.and(made).and(taken);
        if ranks > 1 {
            outbox.send(comm, next, Tag::Share, message)?;
        }
    }
    // The previous rank sends its own slabs first, then those of its predecessor, and so on.
    for step in 1..ranks {
        let origin = (own + ranks - step) % ranks;
        for _ in 0..decoders[origin].due() {
            let mut message = outbox.buffer();
            comm.receive(Some(previous), Tag::Share, &mut message)?;
            let taken = decoders[origin].take(&message, &mut coder, parts[origin]);
            result = result.and(taken);
            match next == origin {
                true => outbox.progress()?,
                false => outbox.send(comm, next, Tag::Share, message)?,
            }
        }
    }
    outbox.finish()?;
    report.sent_bytes = outbox.sent_bytes;
    let bounds = decoders.iter().map(|decoder| decoder.largest_bound);
    result.map(|()| bounds.fold(encoder.largest_bound(), f64::max))
}
