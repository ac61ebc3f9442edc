//! Compressed messages between two ranks.

use crate::comm::{Comm, Tag};
use crate::error::{Error, Result};
use crate::message::{self, Kind, Message};
use crate::settings::{Agreement, Mode, Report, Settings, Work, sample};
use crate::slabs::{Decoder, Encoder, Outbox};
use crate::speed::Route;
use ebz::slab::SlabCoder;
use ebz::{Bound, Element, Tolerance, ValueScan, View};
use xxhash_rust::xxh3::xxh3_64;

/// Flags of an announcement, in place of the part number.
const COMPRESSED: usize = 1;
const LOSSLESS: usize = 2;

/// A hash of the properties that sender and receiver must agree on.
fn fingerprint<T: Element>(shape: &[usize], settings: &Settings) -> u64 {
    let options = &settings.options;
    let bound = options.bound;
    let text = format!(
        "{shape:?} {} {bound:?} {} {:?}",
        T::TYPE,
        options.codec,
        options.params
    );
    xxh3_64(text.as_bytes())
}

/// Sends an array to another rank, which calls [`recv`] with the same shape and settings, and returns once
/// that rank has received it: both fail, or neither. The decision whether to compress needs
/// [`Comm::measure_links`]; if that was not called, the array is compressed unless all ranks are on one host.
pub fn send<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    to: usize,
    settings: &Settings,
) -> Result<Report> {
    another_rank(comm, to)?;
    let (agreement, mut report) = match prepare(comm, values, shape, settings) {
        Ok(prepared) => prepared,
        Err(error) => {
            // The receiver must not block, and answers every announcement.
            let failed = Err(error);
            answer(comm, to, &failed)?;
            let _ = answer_of(comm, to);
            return failed.map(|()| Report::default());
        }
    };
    let mut flags = 0;
    if report.compressed {
        flags |= COMPRESSED;
    }
    if agreement.tolerance == Some(Tolerance::Lossless) {
        flags |= LOSSLESS;
    }
    let body = fingerprint::<T>(shape, settings).to_le_bytes();
    let opening = message::whole(Kind::Opening, comm.rank(), flags, &body);
    comm.send(to, Tag::Pair, &opening)?;
    answer_of(comm, to)?;
    if !report.compressed {
        comm.send_long(to, Tag::Raw, bytemuck::cast_slice(values))?;
        report.sent_bytes = report.raw_bytes;
        return Ok(report);
    }
    let mut encoder = Encoder::new(&agreement, 0, settings, values)?;
    let mut outbox = Outbox::default();
    let mut result = Ok(());
    for slab in 0..encoder.slabs() {
        let mut message = outbox.buffer();
        result = result.and(encoder.message(slab, values, settings, &mut message));
        outbox.send_paced(comm, to, Tag::Pair, message)?;
    }
    outbox.finish()?;
    report.sent_bytes = outbox.sent_bytes;
    report.largest_bound = encoder.largest_bound();
    let received = answer_of(comm, to);
    result.and(received).map(|()| report)
}

fn another_rank(comm: &Comm, rank: usize) -> Result<()> {
    match rank < comm.size() && rank != comm.rank() {
        true => Ok(()),
        false => Err(ebz::Error::invalid(format!("invalid rank {rank}")).into()),
    }
}

/// Tells the other rank whether this one is ready.
fn answer(comm: &Comm, to: usize, result: &Result<()>) -> Result<()> {
    let message = match result {
        Ok(()) => message::whole(Kind::Answer, comm.rank(), 0, &[]),
        Err(error) => {
            let text = error.to_string();
            message::whole(Kind::Failure, comm.rank(), 0, text.as_bytes())
        }
    };
    comm.send(to, Tag::Pair, &message)
}

/// Waits for the acknowledgement.
fn answer_of(comm: &Comm, from: usize) -> Result<()> {
    let mut bytes = Vec::new();
    comm.receive(Some(from), Tag::Pair, &mut bytes)?;
    let message = Message::read(&bytes).map_err(|error| Error::Other {
        rank: from,
        text: error.to_string(),
    })?;
    message.expect(Kind::Answer, from, 0).map(|_| ())
}

fn prepare<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    settings: &Settings,
) -> Result<(Agreement, Report)> {
    let options = &settings.options;
    options.check()?;
    View::new(values, shape)?;
    let bytes = size_of_val(values);
    let work = Work {
        crossing: bytes,
        encoded: bytes,
        decoded: bytes,
    };
    let link = comm.speeds.borrow().link(Route::Root);
    let estimate = match link {
        Some(link) => sample(values, settings)?.map(|rates| work.estimate(rates, link)),
        None => None,
    };
    let report = Report {
        compressed: match settings.mode {
            Mode::Always => true,
            Mode::Never => false,
            Mode::Adaptive => !comm.one_host() && estimate.is_none_or(|estimate| estimate.pays()),
        },
        estimate,
        raw_bytes: bytes as u64,
        ..Report::default()
    };
    let tolerance = match options.bound {
        Bound::Ratio(_) => None,
        // Not needed, and takes time.
        _ if !report.compressed => None,
        _ => Some(options.tolerance(|| Ok(ValueScan::of(values, options.fill).range().extent()))?),
    };
    // The receiver has no scan of the values: each chunk detects its own fill values.
    let agreement = Agreement::of_pair(shape, tolerance, options.fill);
    Ok((agreement, report))
}

/// The flags of a sender's announcement, if it matches the request here.
fn accept<T: Element>(
    bytes: &[u8],
    out: &[T],
    shape: &[usize],
    from: usize,
    settings: &Settings,
) -> Result<usize> {
    View::new(out, shape)?;
    let opening = Message::read(bytes)?;
    let same = opening.body == fingerprint::<T>(shape, settings).to_le_bytes();
    if opening.kind == Kind::Opening && same {
        return Ok(opening.part);
    }
    let text = format!("rank {from} sends a different shape, type, bound or codec");
    Err(Error::Disagree(text))
}

/// Receives an array from another rank, which calls [`send`].
pub fn recv<T: Element>(
    comm: &Comm,
    out: &mut [T],
    shape: &[usize],
    from: usize,
    settings: &Settings,
) -> Result<Report> {
    another_rank(comm, from)?;
    let mut bytes = Vec::new();
    comm.receive(Some(from), Tag::Pair, &mut bytes)?;
    let accepted = accept::<T>(&bytes, out, shape, from, settings);
    let (flags, result) = match accepted {
        Ok(flags) => (flags, Ok(())),
        Err(error) => (0, Err(error)),
    };
    answer(comm, from, &result)?;
    result?;
    let mut report = Report {
        compressed: flags & COMPRESSED != 0,
        raw_bytes: size_of_val(out) as u64,
        ..Report::default()
    };
    if !report.compressed {
        comm.receive_long(from, Tag::Raw, bytemuck::cast_slice_mut(out))?;
        return Ok(report);
    }
    // Only the sender needs the bound, but lossless data may use another codec.
    let tolerance = match flags & LOSSLESS {
        0 => Tolerance::Abs(1.0),
        _ => Tolerance::Lossless,
    };
    let agreement = Agreement::of_pair(shape, Some(tolerance), settings.options.fill);
    let mut decoder = Decoder::new::<T>(&agreement, 0, settings)?;
    let mut coder = SlabCoder::new(settings.options.simd);
    let mut result = Ok(());
    while decoder.due() > 0 {
        comm.receive(Some(from), Tag::Pair, &mut bytes)?;
        result = result.and(decoder.take(&bytes, &mut coder, out));
    }
    answer(comm, from, &result)?;
    report.largest_bound = decoder.largest_bound;
    result.map(|()| report)
}
