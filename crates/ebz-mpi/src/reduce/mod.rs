//! Sums over ranks on compressed data: `allreduce`, `reduce_scatter`, `reduce`.
//!
//! All ranks quantize to the same lattice, so that partial sums are sums of integers: exact, and
//! independent of the order. Only the result is converted to values. Its error is at most the number
//! of ranks times the bound, and it has the same bits on every rank. Values that the lattice cannot
//! represent (NaN, infinities, huge values) are summed exactly, in rank order.

mod coder;
mod exact;
mod parts;
mod plain;
mod sums;

use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::lattice::Lattice;
use crate::settings::{Report, Request, Settings, Work, agree};
use crate::speed::Route;
use ebz::{Bound, Element, Tolerance, View};
use parts::Parts;

/// Communication pattern. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Each part goes straight to the rank that sums it up, and the sums travel around a ring: the fewest bytes.
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
    let given = from.unwrap_or(values);
    let arguments = match given.len() == values.len() {
        true => View::new(given, shape).map(drop).map_err(Error::from),
        false => Err(ebz::Error::invalid("the result has a different length").into()),
    };
    let request = Request {
        operation: format!("sum {goal:?} {algorithm:?} {shape:?}"),
        route: Route::Ring,
        shape,
        values: given,
        room: values.len(),
        arguments,
    };
    let agreement = agree(comm, request, settings)?;
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
    let bytes = size_of_val(values);
    // About twice the array crosses every link, and every rank decodes what it receives.
    let crossing = 2 * (bytes - bytes / comm.size());
    let work = Work {
        crossing,
        encoded: bytes,
        decoded: crossing,
    };
    let mut report = agreement.choose(comm, settings, work);
    report.raw_bytes = bytes as u64;
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
            sums::on_lattice(comm, values, &parts, lattice, how, settings, &mut report)
        }
    };
    report.largest_bound = comm.size() as f64 * bound;
    comm.settle(result).map(|()| report)
}

/// An error for inconsistent data from another rank.
fn unexpected(what: &str) -> Error {
    ebz::Error::corrupt(format!("a rank sent {what}")).into()
}
