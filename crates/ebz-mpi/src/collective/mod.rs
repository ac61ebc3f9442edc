//! Compressed collectives: `gather`, `allgather`, `scatter`, `bcast`.
//!
//! Every rank compresses its own data once, slab by slab; slabs are sent while later ones are
//! encoded. Ranks agree on the request first and exchange their status last, so that an error on one
//! rank is an error on every rank.

mod gather;
mod ring;
mod scatter;

pub use gather::{gather, gather_if_faster};
pub use ring::{allgather, bcast};
pub use scatter::scatter;

use crate::comm::Comm;
use crate::error::Result;
use crate::settings::{Agreement, Report};
use ebz::{Element, View};

/// An error unless the array has this shape.
fn fits<T: Element>(values: &[T], shape: &[usize]) -> Result<()> {
    View::new(values, shape)?;
    Ok(())
}

fn misfit() -> crate::error::Error {
    ebz::Error::invalid("the output must have exactly the size of all ranks' values").into()
}

/// The parts of all ranks in an array.
fn cut<'a, T>(agreement: &Agreement, all: &'a mut [T]) -> Vec<&'a mut [T]> {
    let lengths = agreement.lengths();
    crate::raw::parts(all, &lengths)
        .map(|(_, part)| part)
        .collect()
}

/// Sets the largest bound of any rank on all ranks.
fn largest(comm: &Comm, report: &mut Report) -> Result<()> {
    let mut bound = [report.largest_bound.to_bits()];
    comm.max(&mut bound)?;
    report.largest_bound = f64::from_bits(bound[0]);
    Ok(())
}
