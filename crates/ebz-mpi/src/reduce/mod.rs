//! Sums over ranks on compressed data: `allreduce`, `reduce_scatter`, `reduce`.
//!
//! All ranks quantize to the same lattice, so that partial sums are sums of integers: exact, and
//! independent of the order. Only the result is converted to values. Its error is at most the number
//! of ranks times the bound, and it has the same bits on every rank. Values that the lattice cannot
//! represent (NaN, infinities, huge values) are summed exactly, in rank order.

mod exact;
mod parts;
mod plain;
mod sums;

use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::lattice::Lattice;
use crate::link::Route;
use crate::settings::{Agreement, Mode, Report, Settings, agree};
use crate::speed::{Estimate, Rates};
use ebz::{Bound, Element, Tolerance};
use parts::Parts;
use std::time::Instant;

/// Communication pattern. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Partial sums travel around a ring: the fewest bytes.
    #[default]
    Ring,
    /// Pairs of ranks exchange everything, at doubling distances: the fewest messages.
    RecursiveDoubling,
    /// A ring that decompresses, adds and compresses at every step, for comparison. Each step adds
    /// another bound to the error, and the result depends on the rank order.
    Plain,
}

/// Destination of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    All,
    Parts,
    Root(usize),
}

/// Sums arrays over all ranks; every rank gets the result, in place.
pub fn allreduce<T: Element>(
    comm: &Comm,
    values: &mut [T],
    shape: &[usize],
    algorithm: Algorithm,
    settings: &Settings,
) -> Result<Report> {
    sum(comm, None, values, shape, algorithm, Goal::All, settings)
}

/// The same with separate input and output.
pub fn allreduce_from<T: Element>(
    comm: &Comm,
    from: &[T],
    out: &mut [T],
    shape: &[usize],
    settings: &Settings,
) -> Result<Report> {
    sum(
        comm,
        Some(from),
        out,
        shape,
        Algorithm::Ring,
        Goal::All,
        settings,
    )
}

/// Sums arrays over all ranks; only the root gets the result, in place. The values on other ranks are
/// undefined afterwards.
pub fn reduce<T: Element>(
    comm: &Comm,
    values: &mut [T],
    shape: &[usize],
    root: usize,
    settings: &Settings,
) -> Result<Report> {
    let goal = Goal::Root(root);
    sum(comm, None, values, shape, Algorithm::Ring, goal, settings)
}

/// Sums arrays over all ranks; each rank gets a part of the result, in place, and its range in the
/// array. The other values are undefined afterwards.
pub fn reduce_scatter<T: Element>(
    comm: &Comm,
    values: &mut [T],
    shape: &[usize],
    settings: &Settings,
) -> Result<(Report, std::ops::Range<usize>)> {
    let report = sum(
        comm,
        None,
        values,
        shape,
        Algorithm::Ring,
        Goal::Parts,
        settings,
    )?;
    let parts = Parts::new(shape, comm.size());
    Ok((report, parts.values_of(comm.rank())))
}

fn sum<T: Element>(
    comm: &Comm,
    from: Option<&[T]>,
    values: &mut [T],
    shape: &[usize],
    algorithm: Algorithm,
    goal: Goal,
    settings: &Settings,
) -> Result<Report> {
    let operation = format!("sum {goal:?} {algorithm:?} {shape:?}");
    let given = from.unwrap_or(values);
    let agreement = agree(comm, &operation, Route::Ring, shape, given, settings)?;
    let fits = match given.len() == values.len() {
        true => Ok(()),
        false => Err(ebz::Error::invalid("the result has a different length").into()),
    };
    comm.settle(fits)?;
    if let Goal::Root(root) = goal
        && root >= comm.size()
    {
        return Err(ebz::Error::invalid(format!("no rank {root}")).into());
    }
    let bound = match (agreement.tolerance, settings.options.bound) {
        (_, Bound::Ratio(_)) | (Some(Tolerance::Pointwise(_) | Tolerance::Precision(_)), _) => {
            let text = "sums need a bound in units of the data: abs or range";
            return Err(ebz::Error::unsupported(text).into());
        }
        (Some(Tolerance::Abs(e)), _) => e,
        _ => 0.0,
    };
    let parts = Parts::new(shape, comm.size());
    let mut report = choose(comm, given, &parts, bound, &agreement, settings)?;
    report.raw_bytes = size_of_val(values) as u64;
    if !report.compressed {
        exact::raw(comm, from, values, &parts, goal, &mut report)?;
        return Ok(report);
    }
    if let Some(from) = from {
        values.copy_from_slice(from);
    }
    let lattice = Lattice::new::<T>(bound, comm.size());
    let result = match (lattice, algorithm) {
        (None, _) => exact::in_order(comm, values, &parts, goal, &mut report),
        (Some(_), Algorithm::Plain) => {
            plain::ring(comm, values, &parts, bound, settings, &mut report)
        }
        (Some(lattice), _) => {
            let doubling = algorithm == Algorithm::RecursiveDoubling && goal == Goal::All;
            let how = sums::How { goal, doubling };
            sums::on_lattice(comm, values, &parts, lattice, how, &mut report)
        }
    };
    report.largest_bound = comm.size() as f64 * bound;
    comm.settle(result).map(|()| report)
}

/// Number of values sampled to measure the lattice.
const SAMPLE_VALUES: usize = 1 << 16;

/// Whether to compress: as for other operations, with the speeds of the lattice.
fn choose<T: Element>(
    comm: &Comm,
    values: &[T],
    parts: &Parts,
    bound: f64,
    agreement: &Agreement,
    settings: &Settings,
) -> Result<Report> {
    let mut report = Report {
        compressed: settings.mode == Mode::Always,
        ..Report::default()
    };
    if settings.mode != Mode::Adaptive {
        return Ok(report);
    }
    let rates = sample(comm, values, parts, bound, agreement.link);
    let words = rates.map_or([f64::INFINITY; 3], |r| [r.encode, r.decode, 1.0 / r.ratio]);
    let mut words = words.map(f64::to_bits);
    comm.max(&mut words)?;
    let [encode, decode, part] = words.map(f64::from_bits);
    let bytes = size_of_val(values) as f64;
    // About twice the array crosses every link; each rank packs and unpacks about its own size.
    let crossing = 2.0 * bytes * (1.0 - 1.0 / comm.size() as f64) * agreement.link;
    let estimate = Estimate {
        raw: crossing,
        compressed: bytes * (encode + decode) + crossing * part,
    };
    report.compressed = agreement.scanned && estimate.pays();
    report.estimate = Some(estimate);
    Ok(report)
}

fn sample<T: Element>(
    comm: &Comm,
    values: &[T],
    parts: &Parts,
    bound: f64,
    link: f64,
) -> Option<Rates> {
    const NAME: &str = "lattice";
    let known = comm.speeds.borrow().codec(NAME);
    if let Some(known) = known
        && known.hopeless(link, comm.size())
    {
        return Some(known);
    }
    let lattice = Lattice::new::<T>(bound, comm.size())?;
    let length = values.len().min(SAMPLE_VALUES);
    let values = &values[(values.len() - length) / 2..][..length];
    let mut best: Option<Rates> = None;
    for _ in 0..2 {
        let rates = sums::measure(lattice, values, parts.lags(), |work| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })?;
        best = Some(match best {
            Some(best) => Rates {
                encode: best.encode.min(rates.encode),
                decode: best.decode.min(rates.decode),
                ratio: rates.ratio,
            },
            None => rates,
        });
    }
    if let Some(best) = best {
        comm.speeds.borrow_mut().note(NAME, best);
    }
    best
}

/// An error for inconsistent data from another rank.
fn unexpected(what: &str) -> Error {
    ebz::Error::corrupt(format!("a rank sent {what}")).into()
}
