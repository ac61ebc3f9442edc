//! Compressed messages between two ranks.

use crate::comm::{Comm, Tag};
use crate::error::{Error, Result};
use crate::message::{self, Kind, Message};
use crate::settings::{Agreement, Mode, Offer, Report, Settings};
use crate::slabs::{Decoder, Encoder, Outbox};
use crate::speed::Estimate;
use ebz::slab::SlabCoder;
use ebz::{Bound, Element, Tolerance, ValueScan, View};
use xxhash_rust::xxh3::xxh3_64;

/// What sender and receiver must ask for alike.
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

/// Sends an array to a rank, which calls [`recv`] with the same shape and settings. Whether it is worth
/// compressing is known once [`Comm::link`] was called; before, it is compressed.
pub fn send<T: Element>(
    comm: &Comm,
    values: &[T],
    shape: &[usize],
    to: usize,
    settings: &Settings,
) -> Result<Report> {
    let prepared = prepare(comm, values, shape, settings);
    let (agreement, mut report) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            // The receiver must not wait.
            let text = error.to_string();
            let message = message::whole(Kind::Failure, comm.rank(), 0, text.as_bytes());
            comm.send(to, Tag::Slab, &message)?;
            return Err(error);
        }
    };
    let mut opening = Vec::new();
    let lossless = agreement.tolerance == Some(Tolerance::Lossless);
    let part = usize::from(report.compressed) | usize::from(lossless) << 1;
    message::begin(Kind::Opening, comm.rank(), part, 0.0, &mut opening);
    opening.extend_from_slice(&fingerprint::<T>(shape, settings).to_le_bytes());
    message::seal(&mut opening);
    comm.send(to, Tag::Slab, &opening)?;
    if !report.compressed {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        for piece in bytes.chunks(crate::comm::MAX_MESSAGE) {
            comm.send(to, Tag::Raw, piece)?;
        }
        report.sent_bytes = report.raw_bytes;
        return Ok(report);
    }
    let mut encoder = Encoder::new(&agreement, 0, settings, values)?;
    let mut outbox = Outbox::default();
    let mut result = Ok(());
    for slab in 0..encoder.slabs() {
        let mut message = outbox.buffer();
        result = result.and(encoder.message(slab, values, settings, &mut message));
        outbox.send_paced(comm, to, Tag::Slab, message)?;
    }
    outbox.finish()?;
    report.sent_bytes = outbox.sent_bytes;
    report.largest_bound = encoder.largest_bound();
    result.map(|()| report)
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
    let scan = ValueScan::of(values, options.fill);
    let (tolerance, fill) = match options.bound {
        Bound::Ratio(_) => (None, options.fill),
        Bound::Range(_) => {
            let tolerance = options.tolerance(|| Ok(scan.range().extent()))?;
            (Some(tolerance), scan.fill())
        }
        _ => (Some(options.tolerance(|| Ok(0.0))?), options.fill),
    };
    let link = comm.speeds.borrow().link;
    let rates = match (settings.mode, link) {
        (Mode::Adaptive, Some(link)) => crate::settings::sample(comm, values, settings, link)?,
        _ => None,
    };
    let agreement = Agreement {
        offers: vec![Offer::new(shape)],
        tolerance,
        fill,
        rates,
        link: link.unwrap_or(0.0),
    };
    let bytes = size_of_val(values) as f64;
    let estimate = rates.map(|rates| Estimate {
        raw: bytes * agreement.link,
        compressed: bytes * (rates.encode + rates.decode + agreement.link / rates.ratio),
    });
    let report = Report {
        compressed: match settings.mode {
            Mode::Always => true,
            Mode::Never => false,
            Mode::Adaptive => estimate.is_none_or(|estimate| estimate.pays()),
        },
        estimate,
        raw_bytes: size_of_val(values) as u64,
        ..Report::default()
    };
    Ok((agreement, report))
}

/// Receives an array of a rank.
pub fn recv<T: Element>(
    comm: &Comm,
    out: &mut [T],
    shape: &[usize],
    from: usize,
    settings: &Settings,
) -> Result<Report> {
    View::new(&*out, shape)?;
    let mut bytes = Vec::new();
    comm.receive(Some(from), Tag::Slab, &mut bytes)?;
    let opening = Message::read(&bytes)?;
    let mut report = Report {
        compressed: opening.part & 1 == 1,
        raw_bytes: size_of_val(out) as u64,
        ..Report::default()
    };
    let same = opening.body == fingerprint::<T>(shape, settings).to_le_bytes();
    if opening.kind != Kind::Opening || !same {
        let text = format!("rank {from} sends another shape, type, bound or codec");
        return Err(Error::Disagree(text));
    }
    if !report.compressed {
        let out: &mut [u8] = bytemuck::cast_slice_mut(out);
        for piece in out.chunks_mut(crate::comm::MAX_MESSAGE) {
            comm.ireceive(from, Tag::Raw, piece)?.wait()?;
        }
        return Ok(report);
    }
    // Only the sender needs to know the bound, but exact values may take another codec.
    let tolerance = match opening.part & 2 {
        0 => Tolerance::Abs(1.0),
        _ => Tolerance::Lossless,
    };
    let agreement = Agreement {
        offers: vec![Offer::new(shape)],
        tolerance: Some(tolerance),
        fill: settings.options.fill,
        rates: None,
        link: 0.0,
    };
    let mut decoder = Decoder::new::<T>(&agreement, 0, settings)?;
    let mut coder = SlabCoder::new(settings.options.simd);
    let mut result = Ok(());
    while decoder.due() > 0 {
        comm.receive(Some(from), Tag::Slab, &mut bytes)?;
        result = result.and(decoder.take(&bytes, &mut coder, out));
    }
    report.largest_bound = decoder.largest_bound;
    result.map(|()| report)
}
