//! `gather`: every rank sends its slabs to the root, which decodes them in order of arrival.

use super::{cut, fits, largest, misfit};
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::raw;
use crate::settings::{Agreement, Report, Request, Settings, Work, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
use crate::speed::Route;
use ebz::Element;
use ebz::slab::SlabCoder;

/// Gathers the arrays of all ranks at the root. Shapes may differ; `out`, at the root only, has room
/// for all values in rank order. The root's own values stay exact.
pub fn gather<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    out: Option<&mut [T]>,
    settings: &Settings,
) -> Result<Report> {
    let out = out.unwrap_or_default();
    let (agreement, mut report) = decide(comm, values, shape, root, out.len(), settings)?;
    if agreement.offers[root].room != agreement.total() {
        return Err(misfit());
    }
    if report.compressed {
        let parts = match comm.rank() == root {
            true => cut(&agreement, out),
            false => Vec::new(),
        };
        return gather_parts(comm, values, root, parts, &agreement, settings, report);
    }
    raw::gather(comm, values, &agreement.lengths(), root, out)?;
    if comm.rank() != root {
        report.sent_bytes = report.raw_bytes;
    }
    Ok(report)
}

/// The same with separate outputs for each rank, if compression pays off; if not, returns `None` and sends
/// nothing.
pub fn gather_if_faster<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    out: Vec<&mut [T]>,
    settings: &Settings,
) -> Result<Option<Report>> {
    let (agreement, report) = decide(comm, values, shape, root, 0, settings)?;
    if !report.compressed {
        return Ok(None);
    }
    let lengths = out.iter().map(|part| part.len());
    let fits = match comm.rank() != root || lengths.eq(agreement.lengths()) {
        true => Ok(()),
        false => Err(misfit()),
    };
    comm.settle(fits)?;
    gather_parts(comm, values, root, out, &agreement, settings, report).map(Some)
}

fn decide<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    room: usize,
    settings: &Settings,
) -> Result<(Agreement, Report)> {
    let request = Request {
        operation: format!("gather {root}"),
        route: Route::Root,
        shape,
        values,
        room,
        arguments: fits(values, shape),
    };
    let agreement = agree(comm, request, settings)?;
    let Some(own) = agreement.offers.get(root).map(|offer| offer.len()) else {
        return Err(ebz::Error::invalid(format!("no rank {root}")).into());
    };
    let longest = agreement.lengths().into_iter().max().unwrap_or(0);
    let crossing = (agreement.total() - own) * size_of::<T>();
    let work = Work {
        crossing,
        encoded: longest * size_of::<T>(),
        decoded: crossing,
    };
    let mut report = agreement.choose(comm, settings, work);
    report.raw_bytes = size_of_val(values) as u64;
    Ok((agreement, report))
}

fn gather_parts<T: Element>(
    comm: &Comm,
    values: &[T],
    root: usize,
    mut parts: Vec<&mut [T]>,
    agreement: &Agreement,
    settings: &Settings,
    mut report: Report,
) -> Result<Report> {
    let result = match comm.rank() == root {
        true => collect(comm, values, &mut parts, agreement, settings),
        false => send_all(comm, values, root, agreement, settings, &mut report),
    };
    report.largest_bound = comm.settle(result)?;
    largest(comm, &mut report)?;
    Ok(report)
}

/// Sends an array to a rank; returns the largest bound used.
fn send_all<T: Element>(
    comm: &Comm,
    values: &[T],
    to: usize,
    agreement: &Agreement,
    settings: &Settings,
    report: &mut Report,
) -> Result<f64> {
    let mut encoder = Encoder::new(agreement, comm.rank(), settings, values)?;
    let mut outbox = Outbox::default();
    let mut result = Ok(());
    for slab in 0..encoder.slabs() {
        let mut message = outbox.buffer();
        let made = encoder.message(slab, values, settings, &mut message);
        result = result.and(made);
        outbox.send_paced(comm, to, Tag::Slab, message)?;
    }
    outbox.finish()?;
    report.sent_bytes = outbox.sent_bytes;
    result.map(|()| encoder.largest_bound())
}

/// Receives the arrays of all other ranks; slabs may arrive in any order.
fn collect<T: Element>(
    comm: &Comm,
    values: &[T],
    parts: &mut [&mut [T]],
    agreement: &Agreement,
    settings: &Settings,
) -> Result<f64> {
    let mut decoders = Vec::new();
    for rank in 0..comm.size() {
        decoders.push(Decoder::new::<T>(agreement, rank, settings)?);
    }
    let others = decoders.iter().enumerate();
    let others = others.filter(|(rank, _)| *rank != comm.rank());
    let due: usize = others.map(|(_, decoder)| decoder.due()).sum();
    parts[comm.rank()].copy_from_slice(values);
    let mut coder = SlabCoder::new(settings.options.simd);
    let (mut bytes, mut result) = (Vec::new(), Ok(()));
    for _ in 0..due {
        let from = comm.receive(None, Tag::Slab, &mut bytes)?;
        let taken = decoders[from].take(&bytes, &mut coder, parts[from]);
        result = result.and(taken);
    }
    let bounds = decoders.iter().map(|decoder| decoder.largest_bound);
    result.map(|()| bounds.fold(0.0, f64::max))
}
