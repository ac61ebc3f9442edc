//! `allgather` and `bcast`: each slab is encoded once and forwarded around the ring of ranks.

use super::{cut, fits, largest, misfit};
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::raw;
use crate::settings::{Agreement, Report, Request, Settings, Work, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
use crate::speed::Route;
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
    let request = Request {
        operation: "allgather".into(),
        route: Route::Ring,
        shape,
        values,
        room: out.len(),
        arguments: fits(values, shape),
    };
    let agreement = agree(comm, request, settings)?;
    all_have_room(&agreement, agreement.total())?;
    let mut report = ring_choice::<T>(comm, &agreement, settings);
    if report.compressed {
        let mut parts = cut(&agreement, out);
        parts[comm.rank()].copy_from_slice(values);
        return around(comm, &mut parts, &agreement, settings, report);
    }
    raw::allgather(comm, values, &agreement.lengths(), out)?;
    report.sent_bytes = report.raw_bytes;
    Ok(report)
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
    let (given, of): (&[T], &[usize]) = match comm.rank() == root {
        true => (values, shape),
        false => (&[], &[0]),
    };
    let request = Request {
        operation: format!("bcast {root} {shape:?}"),
        route: Route::Ring,
        shape: of,
        values: given,
        room: values.len(),
        arguments: fits(given, of),
    };
    let agreement = agree(comm, request, settings)?;
    if root >= comm.size() {
        return Err(ebz::Error::invalid(format!("no rank {root}")).into());
    }
    all_have_room(&agreement, agreement.total())?;
    let mut report = ring_choice::<T>(comm, &agreement, settings);
    if report.compressed {
        let mut parts: Vec<&mut [T]> = Vec::new();
        parts.resize_with(comm.size(), Default::default);
        parts[root] = values;
        return around(comm, &mut parts, &agreement, settings, report);
    }
    comm.broadcast_in_place(root, bytemuck::cast_slice_mut(values))?;
    report.sent_bytes = report.raw_bytes;
    Ok(report)
}

fn all_have_room(agreement: &Agreement, values: usize) -> Result<()> {
    match agreement.offers.iter().all(|offer| offer.room == values) {
        true => Ok(()),
        false => Err(misfit()),
    }
}

fn ring_choice<T: Element>(comm: &Comm, agreement: &Agreement, settings: &Settings) -> Report {
    let lengths = agreement.lengths();
    let total = agreement.total() * size_of::<T>();
    let work = Work {
        crossing: total,
        encoded: lengths.iter().max().unwrap_or(&0) * size_of::<T>(),
        decoded: total,
    };
    let mut report = agreement.choose(comm, settings, work);
    report.raw_bytes = (lengths[comm.rank()] * size_of::<T>()) as u64;
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
