//! Compressed collectives: `gather`, `allgather`, `scatter`, `bcast`.
//!
//! Every rank compresses its own data once, slab by slab; slabs are sent while later ones are
//! encoded. Ranks agree on the request first and exchange their status last, so that an error on one
//! rank is an error on every rank.

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
    ebz::Error::invalid("the output must have exactly the size of all ranks' values").into()
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

/// Input of the choice between raw and compressed: bytes over the busiest link, and bytes that the
/// busiest rank encodes and decodes.
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
        Mode::Adaptive => agreement.scanned && estimate.is_some_and(|estimate| estimate.pays()),
    };
    Report {
        compressed,
        estimate,
        ..Report::default()
    }
}

/// Sets the largest bound of any rank on all ranks.
fn largest(comm: &Comm, report: &mut Report) -> Result<()> {
    let mut bound = [report.largest_bound.to_bits()];
    comm.max(&mut bound)?;
    report.largest_bound = f64::from_bits(bound[0]);
    Ok(())
}
