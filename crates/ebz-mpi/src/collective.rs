//! Compressed collectives: `gather`, `allgather`, `scatter`, `bcast`.
//!
//! Every rank compresses its own data once, slab by slab; slabs travel while later ones are encoded.
//! Ranks first tell each other what they bring, and last whether all went well, so that an error is
//! one on every rank.

use crate::comm::{Comm, MAX_MESSAGE, Tag};
use crate::error::Result;
use crate::settings::{Agreement, Mode, Report, Settings, agree};
use crate::slabs::{Decoder, Encoder, Outbox};
use crate::speed::Estimate;
use ebz::Element;
use ebz::slab::SlabCoder;

/// Collects the arrays of all ranks at one of them. Arrays may differ in shape; `out`, which only the
/// root gives, has room for all values, in the order of the ranks. The root's own values stay exact.
pub fn gather<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    out: Option<&mut [T]>,
    settings: &Settings,
) -> Result<Report> {
    let agreement = agree(comm, &format!("gather {root}"), shape, values, settings)?;
    let parts = comm.settle(parts_of(&agreement, comm, root, out))?;
    gather_parts(comm, values, root, parts, &agreement, settings)
}

/// The same with memory for each rank's values apart.
pub fn gather_into<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    root: usize,
    out: Vec<&mut [T]>,
    settings: &Settings,
) -> Result<Report> {
    let agreement = agree(comm, &format!("gather {root}"), shape, values, settings)?;
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

fn misfit() -> crate::error::Error {
    ebz::Error::invalid("the output has no room for exactly the values of all ranks").into()
}

/// Cuts the root's memory into that of each rank.
fn parts_of<'a, T: Element>(
    agreement: &Agreement,
    comm: &Comm,
    root: usize,
    out: Option<&'a mut [T]>,
) -> Result<Vec<&'a mut [T]>> {
    if root >= comm.size() {
        return Err(ebz::Error::invalid(format!("there is no rank {root}")).into());
    }
    if comm.rank() != root {
        return Ok(Vec::new());
    }
    cut(agreement, out.unwrap_or_default())
}

fn cut<'a, T>(agreement: &Agreement, out: &'a mut [T]) -> Result<Vec<&'a mut [T]>> {
    if out.len() != agreement.total() {
        return Err(misfit());
    }
    let mut rest = out;
    let parts = agreement.offers.iter().map(|offer| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(offer.len());
        rest = after;
        part
    });
    Ok(parts.collect())
}

/// What a choice between raw and compressed rests on: bytes that cross the busiest link, that the
/// busiest rank encodes, and that it decodes.
fn choose(
    agreement: &Agreement,
    settings: &Settings,
    crossing: usize,
    encoded: usize,
    decoded: usize,
) -> Report {
    let estimate = agreement.rates.map(|rates| Estimate {
        raw: crossing as f64 * agreement.link,
        compressed: encoded as f64 * rates.encode
            + decoded as f64 * rates.decode
            + crossing as f64 * agreement.link / rates.ratio,
    });
    let compressed = match settings.mode {
        Mode::Always => true,
        Mode::Never => false,
        Mode::Adaptive => estimate.is_some_and(|estimate| estimate.pays()),
    };
    Report {
        compressed,
        estimate,
        ..Report::default()
    }
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

/// Makes the largest bound of any rank that of all.
fn largest(comm: &Comm, report: &mut Report) -> Result<()> {
    let mut bound = [report.largest_bound.to_bits()];
    comm.max(&mut bound)?;
    report.largest_bound = f64::from_bits(bound[0]);
    Ok(())
}

/// Sends an array to a rank; the largest bound used.
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

/// Receives the arrays of all other ranks, in whatever order slabs come.
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

/// Sends values as they are, in messages that MPI can count.
fn raw_send<T: Element>(comm: &Comm, to: usize, values: &[T]) -> Result<()> {
    for piece in bytemuck::cast_slice(values).chunks(MAX_MESSAGE) {
        comm.send(to, Tag::Raw, piece)?;
    }
    Ok(())
}

fn raw_gather<T: Element>(
    comm: &Comm,
    values: &[T],
    root: usize,
    parts: &mut [&mut [T]],
    agreement: &Agreement,
) -> Result<()> {
    if comm.rank() != root {
        return raw_send(comm, root, values);
    }
    let mut awaited = Vec::new();
    let longest = agreement.offers.iter().map(|offer| offer.len()).max();
    let pieces = (longest.unwrap_or(0) * size_of::<T>()).div_ceil(MAX_MESSAGE);
    for piece in 0..pieces {
        for (rank, part) in parts.iter_mut().enumerate() {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(part);
            if rank != root
                && let Some(bytes) = bytes.chunks_mut(MAX_MESSAGE).nth(piece)
            {
                awaited.push(comm.ireceive(rank, Tag::Raw, bytes)?);
            }
        }
    }
    parts[root].copy_from_slice(values);
    awaited.into_iter().try_for_each(|one| one.wait())
}

/// Gives the arrays of all ranks to all of them: `out` has room for all values, in the order of the
/// ranks. Every rank gets the same bits, also of its own values.
pub fn allgather<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    out: &mut [T],
    settings: &Settings,
) -> Result<Report> {
    let agreement = agree(comm, "allgather", shape, values, settings)?;
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

/// Gives the array of one rank to all of them, which must have room for exactly that many values. The
/// root, too, holds the decoded values behind it, so that all ranks have the same bits.
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
    let agreement = agree(comm, &operation, given.1, given.0, settings)?;
    let fits = match agreement.offers.get(root).map(|offer| offer.len()) {
        Some(length) if length == values.len() => Ok(()),
        Some(_) => Err(misfit()),
        None => Err(ebz::Error::invalid(format!("there is no rank {root}")).into()),
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

/// Slabs go around the ring of ranks: each rank decodes and passes on what comes.
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
    // What comes from the rank before is first its own, then that of the one before it, and so on.
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

/// Gives each rank its part of the root's values: every rank says the shape of its own, and the root
/// gives all of them in the order of the ranks. The root's own values stay exact.
pub fn scatter<T: Element>(
    comm: &Comm,
    values: Option<&[T]>,
    out: &mut [T],
    shape: &[usize],
    root: usize,
    settings: &Settings,
) -> Result<Report> {
    // What a rank holds already does not matter for speeds; what the root has, does.
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
    // The bound may be relative to the range of the root's values, which only the root knows: it
    // offers a scan of them all.
    let all: &[T] = match values {
        Some(values) if comm.rank() == root => values,
        _ => &[],
    };
    let whole = agree(comm, &operation, &[all.len()], all, settings)?;
    let mut shapes = shape
        .iter()
        .map(|&extent| extent as u64 + 1)
        .collect::<Vec<_>>();
    shapes.resize(crate::settings::AXES, 0);
    let shapes = comm.allgather(&shapes)?;
    let mut agreement = whole;
    let given = agreement.total();
    for (offer, words) in agreement
        .offers
        .iter_mut()
        .zip(shapes.chunks(crate::settings::AXES))
    {
        let extents = words.iter().take_while(|&&extent| extent > 0);
        offer.shape = extents.map(|&extent| extent as usize - 1).collect();
    }
    let fits = match agreement.offers[comm.rank()].len() == out.len()
        && agreement.total() == given
        && root < comm.size()
        && (1..=crate::settings::AXES).contains(&shape.len())
    {
        true => Ok(()),
        false => Err(misfit()),
    };
    comm.settle(fits)?;
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
            raw_send(comm, rank, parts[rank])?;
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
    // In turn, so that all ranks have something to decode.
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
        for piece in bytemuck::cast_slice_mut(out).chunks_mut(MAX_MESSAGE) {
            comm.ireceive(root, Tag::Raw, piece)?.wait()?;
        }
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
