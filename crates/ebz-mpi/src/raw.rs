//! MPI's own collectives, for data that is not compressed: as fast as without this crate.

use crate::comm::{Comm, Tag, check};
use crate::error::Result;
use ebz::Element;
use mpi::ffi;
use mpi::traits::AsRaw;
use std::ffi::c_int;

/// Numbers of values of all ranks, as MPI wants them.
enum Layout {
    /// The same number on every rank.
    Even(c_int),
    /// Counts and displacements.
    Uneven(Vec<c_int>, Vec<c_int>),
    /// Beyond 32-bit counts.
    Large,
}

impl Layout {
    fn new(lengths: &[usize]) -> Self {
        if c_int::try_from(lengths.iter().sum::<usize>()).is_err() {
            return Self::Large;
        }
        let counts: Vec<_> = lengths.iter().map(|&length| length as c_int).collect();
        if counts.windows(2).all(|pair| pair[0] == pair[1]) {
            return Self::Even(counts[0]);
        }
        let mut at = 0;
        let starts = counts.iter().map(|count| {
            at += count;
            at - count
        });
        Self::Uneven(counts.clone(), starts.collect())
    }
}

/// An MPI type of the same size.
fn kind<T: Element>() -> ffi::MPI_Datatype {
    // SAFETY: constants of MPI.
    unsafe {
        match size_of::<T>() {
            2 => ffi::RSMPI_UINT16_T,
            4 => ffi::RSMPI_UINT32_T,
            _ => ffi::RSMPI_UINT64_T,
        }
    }
}

/// The parts of all ranks, with their numbers.
pub(crate) fn parts<'a, 'l, T>(
    all: &'a mut [T],
    lengths: &'l [usize],
) -> impl Iterator<Item = (usize, &'a mut [T])> + use<'a, 'l, T> {
    let mut rest = all;
    let parts = lengths.iter().map(move |&length| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(length);
        rest = after;
        part
    });
    parts.enumerate()
}

/// Gathers values at the root; `lengths` of all ranks; `out` has room for all at the root.
pub(crate) fn gather<T: Element>(
    comm: &Comm,
    values: &[T],
    lengths: &[usize],
    root: usize,
    out: &mut [T],
) -> Result<()> {
    let (from, to, kind) = (values.as_ptr().cast(), out.as_mut_ptr().cast(), kind::<T>());
    let (raw, at) = (comm.as_raw(), root as c_int);
    // SAFETY: counts and displacements partition the output, which only the root writes.
    let code = unsafe {
        match Layout::new(lengths) {
            Layout::Even(count) => ffi::PMPI_Gather(from, count, kind, to, count, kind, at, raw),
            Layout::Uneven(counts, starts) => {
                let own = counts[comm.rank()];
                let (counts, starts) = (counts.as_ptr(), starts.as_ptr());
                ffi::PMPI_Gatherv(from, own, kind, to, counts, starts, kind, at, raw)
            }
            Layout::Large => return gather_large(comm, values, lengths, root, out),
        }
    };
    check("MPI_Gather", code)
}

fn gather_large<T: Element>(
    comm: &Comm,
    values: &[T],
    lengths: &[usize],
    root: usize,
    out: &mut [T],
) -> Result<()> {
    if comm.rank() != root {
        return comm.send_long(root, Tag::Raw, bytemuck::cast_slice(values));
    }
    parts(out, lengths).try_for_each(|(rank, part)| match rank == root {
        true => {
            part.copy_from_slice(values);
            Ok(())
        }
        false => comm.receive_long(rank, Tag::Raw, bytemuck::cast_slice_mut(part)),
    })
}

/// Gathers values on every rank.
pub(crate) fn allgather<T: Element>(
    comm: &Comm,
    values: &[T],
    lengths: &[usize],
    out: &mut [T],
) -> Result<()> {
    if out.is_empty() {
        // Empty buffers have no unique address, and MPI may report aliasing.
        return Ok(());
    }
    let (from, to, kind) = (values.as_ptr().cast(), out.as_mut_ptr().cast(), kind::<T>());
    let raw = comm.as_raw();
    // SAFETY: counts and displacements partition the output.
    let code = unsafe {
        match Layout::new(lengths) {
            Layout::Even(count) => ffi::PMPI_Allgather(from, count, kind, to, count, kind, raw),
            Layout::Uneven(counts, starts) => {
                let own = counts[comm.rank()];
                let (counts, starts) = (counts.as_ptr(), starts.as_ptr());
                ffi::PMPI_Allgatherv(from, own, kind, to, counts, starts, kind, raw)
            }
            Layout::Large => {
                return parts(out, lengths).try_for_each(|(rank, part)| {
                    if rank == comm.rank() {
                        part.copy_from_slice(values);
                    }
                    comm.broadcast_in_place(rank, bytemuck::cast_slice_mut(part))
                });
            }
        }
    };
    check("MPI_Allgather", code)
}

/// Sends each rank its part of the root's values.
pub(crate) fn scatter<T: Element>(
    comm: &Comm,
    values: &[T],
    lengths: &[usize],
    root: usize,
    out: &mut [T],
) -> Result<()> {
    let (from, to, kind) = (values.as_ptr().cast(), out.as_mut_ptr().cast(), kind::<T>());
    let (raw, at) = (comm.as_raw(), root as c_int);
    // SAFETY: counts and displacements partition the values, which only the root reads.
    let code = unsafe {
        match Layout::new(lengths) {
            Layout::Even(count) => ffi::PMPI_Scatter(from, count, kind, to, count, kind, at, raw),
            Layout::Uneven(counts, starts) => {
                let own = counts[comm.rank()];
                let (counts, starts) = (counts.as_ptr(), starts.as_ptr());
                ffi::PMPI_Scatterv(from, counts, starts, kind, to, own, kind, at, raw)
            }
            Layout::Large => return scatter_large(comm, values, lengths, root, out),
        }
    };
    check("MPI_Scatter", code)
}

fn scatter_large<T: Element>(
    comm: &Comm,
    values: &[T],
    lengths: &[usize],
    root: usize,
    out: &mut [T],
) -> Result<()> {
    if comm.rank() != root {
        return comm.receive_long(root, Tag::Raw, bytemuck::cast_slice_mut(out));
    }
    let mut rest = values;
    for (rank, &length) in lengths.iter().enumerate() {
        let (part, after) = rest.split_at(length);
        rest = after;
        match rank == root {
            true => out.copy_from_slice(part),
            false => comm.send_long(rank, Tag::Raw, bytemuck::cast_slice(part))?,
        }
    }
    Ok(())
}
