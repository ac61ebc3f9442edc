//! Compressed collectives: `gather`, `allgather`, `scatter`, `bcast`.
//!
//! Every rank compresses its own data once, slab by slab; slabs travel while later ones are encoded.
//! Ranks first tell each other what they bring, and last whether all went well, so that an error is
//! one on every rank.

mod gather;
mod ring;
mod scatter;

pub use gather::{gather, gather_into};
pub use ring::{allgather, bcast};
pub use scatter::scatter;

use crate::comm::Comm;
use crate::error::Result;
use crate::settings::{Agreement, Mode, Report, Settings};
use crate::speed::Estimate;

fn misfit() -> crate::error::Error {
    ebz::Error::invalid("the output has no room for exactly the values of all ranks").into()
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

/// Makes the largest bound of any rank that of all.
fn largest(comm: &Comm, report: &mut Report) -> Result<()> {
    let mut bound = [report.largest_bound.to_bits()];
    comm.max(&mut bound)?;
    report.largest_bound = f64::from_bits(bound[0]);
    Ok(())
}
