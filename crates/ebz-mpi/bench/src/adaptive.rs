//! Adaptive operations next to MPI's own, for ranks that share a host: both send raw data.

use crate::field::Field;
use crate::gathers::of;
use crate::raw;
use crate::timing::{Run, Way, compare};
use ebz::Bound;
use ebz_mpi::{Comm, Settings, allgather, allreduce_from, bcast, gather, recv, scatter, send};
use std::cell::RefCell;

/// Megabytes of all ranks together.
pub fn bench(comm: &Comm, megabytes: usize) {
    let field = &Field::new(comm, megabytes / comm.size());
    let (values, shape, rank) = (&field.values[..], &field.shape, comm.rank());
    let last = comm.size() - 1;
    let settings = &Settings::new(Bound::Abs(field.bound));
    let all = &RefCell::new(vec![0f32; values.len() * comm.size()]);
    let one = &RefCell::new(values.to_vec());
    let pair = |name: &str, mpi: &str, by_mpi: &dyn Fn(), by_ebz: &dyn Fn() -> Run| {
        let bytes = field.bytes() as u64;
        let raw = || {
            by_mpi();
            Run {
                bytes,
                ..Run::default()
            }
        };
        let adaptive = || Run { bytes, ..by_ebz() };
        let ways = vec![Way::new(mpi, raw), Way::new("adaptive", adaptive)];
        compare(comm, name, bytes * comm.size() as u64, ways);
    };
    pair(
        "gather",
        "MPI_Gather",
        &|| raw::gather(values, &mut all.borrow_mut()),
        &|| {
            let mut all = all.borrow_mut();
            let out = (rank == 0).then_some(&mut all[..]);
            of(gather(comm, values, shape, 0, out, settings).expect("gather"))
        },
    );
    pair(
        "allgather",
        "MPI_Allgather",
        &|| raw::allgather(values, &mut all.borrow_mut()),
        &|| {
            let out = &mut all.borrow_mut();
            of(allgather(comm, values, shape, out, settings).expect("allgather"))
        },
    );
    pair(
        "scatter",
        "MPI_Scatter",
        &|| raw::scatter(&all.borrow(), &mut one.borrow_mut()),
        &|| {
            let (all, mut out) = (all.borrow(), one.borrow_mut());
            let given = (rank == 0).then_some(&all[..]);
            of(scatter(comm, given, &mut out, shape, 0, settings).expect("scatter"))
        },
    );
    pair(
        "bcast",
        "MPI_Bcast",
        &|| raw::bcast(&mut one.borrow_mut()),
        &|| of(bcast(comm, &mut one.borrow_mut(), shape, 0, settings).expect("bcast")),
    );
    pair(
        "allreduce",
        "MPI_Allreduce",
        &|| raw::allreduce(values, &mut one.borrow_mut()),
        &|| {
            let out = &mut one.borrow_mut();
            of(allreduce_from(comm, values, out, shape, settings).expect("allreduce"))
        },
    );
    pair(
        "send and recv",
        "MPI_Send",
        &|| match rank {
            0 => raw::receive_values(&mut one.borrow_mut(), last),
            _ if rank == last => raw::send_values(values),
            _ => {}
        },
        &|| match rank {
            0 => of(recv(comm, &mut one.borrow_mut(), shape, last, settings).expect("recv")),
            _ if rank == last => of(send(comm, values, shape, 0, settings).expect("send")),
            _ => Run::default(),
        },
    );
}
