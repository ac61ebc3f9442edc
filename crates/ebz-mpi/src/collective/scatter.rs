//! `scatter`: the root encodes the parts of all ranks round-robin.

use super::{fits, largest, misfit};
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::raw;
use crate::settings::{Agreement, Report, Request, Settings, Work, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
use crate::speed::Route;
use ebz::Element;
use ebz::slab::SlabCoder;

/// Sends each rank its part of the root's values: every rank gives its own shape, and the root gives
/// all values in rank order. The root's own values stay exact.
pub fn scatter<T: Element>(
    comm: &Comm,
    values: Option<&[T]>,
    out: &mut [T],
    shape: &[usize],
    root: usize,
    settings: &Settings,
) -> Result<Report> {
    // The root samples and scans all values; the others have none yet.
    let all: &[T] = match values {
        Some(values) if comm.rank() == root => values,
        _ => &[],
    };
    let request = Request {
        operation: format!("scatter {root}"),
        route: Route::Root,
        shape,
        values: all,
        room: all.len(),
        arguments: fits(out, shape),
    };
    let agreement = agree(comm, request, settings)?;
    let (total, size) = (agreement.total(), size_of::<T>());
    match agreement.offers.get(root) {
        Some(offer) if offer.room == total => {}
        _ => return Err(misfit()),
    }
    let lengths = agreement.lengths();
    let crossing = (total - lengths[root]) * size;
    let work = Work {
        crossing,
        encoded: crossing,
        decoded: lengths.iter().max().unwrap_or(&0) * size,
    };
    let mut report = agreement.choose(comm, settings, work);
    report.raw_bytes = size_of_val(out) as u64;
    if !report.compressed {
        raw::scatter(comm, all, &lengths, root, out)?;
        if comm.rank() == root {
            report.sent_bytes = crossing as u64;
        }
        return Ok(report);
    }
    let result = match comm.rank() == root {
        true => scatter_from(comm, all, out, &agreement, settings, &mut report),
        false => scatter_to(comm, out, root, &agreement, settings),
    };
    report.largest_bound = comm.settle(result)?;
    largest(comm, &mut report)?;
    Ok(report)
}

fn scatter_from<T: Element>(
    comm: &Comm,
    values: &[T],
    out: &mut [T],
    agreement: &Agreement,
    settings: &Settings,
    report: &mut Report,
) -> Result<f64> {
    let mut rest = values;
    let mut parts = Vec::new();
    for offer in &agreement.offers {
        let (part, after) = rest.split_at(offer.len());
        rest = after;
        parts.push(part);
    }
    out.copy_from_slice(parts[comm.rank()]);
    let others = (0..comm.size()).filter(|&rank| rank != comm.rank());
    let mut encoders = Vec::new();
    for rank in others {
        let encoder = Encoder::new(agreement, rank, settings, parts[rank])?;
        encoders.push((rank, encoder));
    }
    let most = encoders.iter().map(|(_, encoder)| encoder.slabs()).max();
    let mut outbox = Outbox::default();
    let mut result = Ok(());
    // Round-robin, so that all ranks have something to decode.
    for slab in 0..most.unwrap_or(0) {
        for (rank, encoder) in &mut encoders {
            if slab < encoder.slabs() {
                let mut message = outbox.buffer();
                let made = encoder.message(slab, parts[*rank], settings, &mut message);
                result = result.and(made);
                outbox.send_paced(comm, *rank, Tag::Slab, message)?;
            }
        }
    }
    outbox.finish()?;
    report.sent_bytes = outbox.sent_bytes;
    let bounds = encoders.iter().map(|(_, encoder)| encoder.largest_bound());
    result.map(|()| bounds.fold(0.0, f64::max))
}

fn scatter_to<T: Element>(
    comm: &Comm,
    out: &mut [T],
    root: usize,
    agreement: &Agreement,
    settings: &Settings,
) -> Result<f64> {
    let mut decoder = Decoder::new::<T>(agreement, comm.rank(), settings)?;
    let mut coder = SlabCoder::new(settings.options.simd);
    let (mut bytes, mut result) = (Vec::new(), Ok(()));
    while decoder.due() > 0 {
        comm.receive(Some(root), Tag::Slab, &mut bytes)?;
        result = result.and(decoder.take(&bytes, &mut coder, out));
    }
    result.map(|()| decoder.largest_bound)
}
