//! `scatter`: the root encodes the parts of all ranks round-robin.

use super::{choose, largest, misfit};
use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::link::Route;
use crate::settings::{Agreement, MAX_AXES, Report, Settings, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
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
    // Speeds are measured on the root's values, not on the previous contents of the output.
    let agreement = agree_to_scatter(comm, values, out, shape, root, settings)?;
    let size = size_of::<T>();
    let lengths = agreement.offers.iter().map(|offer| offer.len() * size);
    let longest = lengths.max().unwrap_or(0);
    let crossing = (agreement.total() - agreement.offers[root].len()) * size;
    let mut report = choose(&agreement, settings, crossing, crossing, longest);
    report.raw_bytes = size_of_val(out) as u64;
    let result = match (comm.rank() == root, values) {
        (true, Some(values)) => scatter_from(comm, values, out, &agreement, settings, &mut report),
        _ => scatter_to(comm, out, root, &agreement, settings, report.compressed),
    };
    report.largest_bound = comm.settle(result)?;
    largest(comm, &mut report)?;
    Ok(report)
}

fn agree_to_scatter<T: Element>(
    comm: &Comm,
    values: Option<&[T]>,
    out: &[T],
    shape: &[usize],
    root: usize,
    settings: &Settings,
) -> Result<Agreement> {
    let operation = format!("scatter {root}");
    // A range bound is relative to the root's values, which only the root knows: it offers a scan of
    // all of them.
    let all: &[T] = match values {
        Some(values) if comm.rank() == root => values,
        _ => &[],
    };
    let whole = agree(comm, &operation, Route::Root, &[all.len()], all, settings)?;
    let mut shapes = shape
        .iter()
        .map(|&extent| extent as u64 + 1)
        .collect::<Vec<_>>();
    shapes.resize(MAX_AXES, 0);
    let shapes = comm.allgather(&shapes)?;
    let mut agreement = whole;
    let given = agreement.total();
    for (offer, words) in agreement.offers.iter_mut().zip(shapes.chunks(MAX_AXES)) {
        let extents = words.iter().take_while(|&&extent| extent > 0);
        offer.shape = extents.map(|&extent| extent as usize - 1).collect();
    }
    let fits = match agreement.offers[comm.rank()].len() == out.len()
        && agreement.total() == given
        && root < comm.size()
        && (1..=MAX_AXES).contains(&shape.len())
    {
        true => Ok(()),
        false => Err(misfit()),
    };
    comm.settle(fits)?;
    agreement.check::<T>(settings)?;
    Ok(agreement)
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
    if !report.compressed {
        for rank in others {
            comm.send_long(rank, Tag::Raw, bytemuck::cast_slice(parts[rank]))?;
            report.sent_bytes += size_of_val(parts[rank]) as u64;
        }
        return Ok(0.0);
    }
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
    compressed: bool,
) -> Result<f64> {
    if !compressed {
        comm.receive_long(root, Tag::Raw, bytemuck::cast_slice_mut(out))?;
        return Ok(0.0);
    }
    let mut decoder = Decoder::new::<T>(agreement, comm.rank(), settings)?;
    let mut coder = SlabCoder::new(settings.options.simd);
    let (mut bytes, mut result) = (Vec::new(), Ok(()));
    while decoder.due() > 0 {
        comm.receive(Some(root), Tag::Slab, &mut bytes)?;
        result = result.and(decoder.take(&bytes, &mut coder, out));
    }
    result.map(|()| decoder.largest_bound)
}
