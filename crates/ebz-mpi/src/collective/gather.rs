//! `gather`: every rank sends its slabs to the root, which decodes them in order of arrival.

use super::{choose, cut, largest, misfit};
use crate::comm::{Comm, MAX_MESSAGE_BYTES, Tag};
use crate::error::Result;
use crate::link::Route;
use crate::settings::{Agreement, Report, Settings, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
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
    let agreement = agree_to_gather(comm, values, shape, root, settings)?;
    let parts = comm.settle(parts_of(&agreement, comm, root, out))?;
    gather_parts(comm, values, root, parts, &agreement, settings)
}

/// The same with separate outputs for each rank.
pub fn gather_into<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    out: Vec<&mut [T]>,
    settings: &Settings,
) -> Result<Report> {
    let agreement = agree_to_gather(comm, values, shape, root, settings)?;
    let fits = || {
        let lengths = agreement.offers.iter().map(|offer| offer.len());
        out.iter().map(|part| part.len()).eq(lengths)
    };
    let result = match root >= comm.size() || comm.rank() == root && !fits() {
        true => Err(misfit()),
        false => Ok(()),
    };
    comm.settle(result)?;
    gather_parts(comm, values, root, out, &agreement, settings)
}

fn agree_to_gather<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    settings: &Settings,
) -> Result<Agreement> {
    let operation = format!("gather {root}");
    agree(comm, &operation, Route::Root, shape, values, settings)
}

/// Splits the root's output by rank.
fn parts_of<'a, T: Element>(
    agreement: &Agreement,
    comm: &Comm,
    root: usize,
    out: Option<&'a mut [T]>,
) -> Result<Vec<&'a mut [T]>> {
    if root >= comm.size() {
        return Err(ebz::Error::invalid(format!("no rank {root}")).into());
    }
    if comm.rank() != root {
        return Ok(Vec::new());
    }
    cut(agreement, out.unwrap_or_default())
}

fn gather_parts<T: Element>(
    comm: &Comm,
    values: &[T],
    root: usize,
    mut parts: Vec<&mut [T]>,
    agreement: &Agreement,
    settings: &Settings,
) -> Result<Report> {
    let size = size_of::<T>();
    let lengths = agreement.offers.iter().map(|offer| offer.len() * size);
    let longest = lengths.max().unwrap_or(0);
    let crossing = (agreement.total() - agreement.offers[root].len()) * size;
    let mut report = choose(agreement, settings, crossing, longest, crossing);
    report.raw_bytes = size_of_val(values) as u64;
    if !report.compressed {
        raw_gather(comm, values, root, &mut parts, agreement)?;
        report.sent_bytes = if comm.rank() == root {
            0
        } else {
            report.raw_bytes
        };
        return Ok(report);
    }
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

fn raw_gather<T: Element>(
    comm: &Comm,
    values: &[T],
    root: usize,
    parts: &mut [&mut [T]],
    agreement: &Agreement,
) -> Result<()> {
    if comm.rank() != root {
        return comm.send_long(root, Tag::Raw, bytemuck::cast_slice(values));
    }
    let mut awaited = Vec::new();
    let longest = agreement.offers.iter().map(|offer| offer.len()).max();
    let pieces = (longest.unwrap_or(0) * size_of::<T>()).div_ceil(MAX_MESSAGE_BYTES);
    for piece in 0..pieces {
        for (rank, part) in parts.iter_mut().enumerate() {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(part);
            if rank != root
                && let Some(bytes) = bytes.chunks_mut(MAX_MESSAGE_BYTES).nth(piece)
            {
                awaited.push(comm.ireceive(rank, Tag::Raw, bytes)?);
            }
        }
    }
    parts[root].copy_from_slice(values);
    awaited.into_iter().try_for_each(|one| one.wait())
}
