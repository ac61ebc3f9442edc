//! `allreduce` of sums.

use crate::field::Field;
use crate::gathers::of;
use crate::timing::{Way, compare};
use ebz::Bound;
use ebz_mpi::{Algorithm, Comm, Mode, Settings, allreduce};
use std::cell::RefCell;

/// Megabytes per rank.
pub fn bench(comm: &Comm, megabytes: usize) {
    let field = &Field::new(comm, megabytes);
    let bound = Bound::Abs(field.bound);
    let always = Settings::new(bound).mode(Mode::Always);
    let out = &RefCell::new(field.values.clone());
    let never = Settings::new(bound).mode(Mode::Never);
    let settings = [
        // Passes through to MPI_Allreduce.
        ("MPI_Allreduce", never, Algorithm::Ring),
        ("plain, fz", always.clone(), Algorithm::Plain),
        (
            "plain, ceaz",
            always.clone().codec("ceaz"),
            Algorithm::Plain,
        ),
        ("lattice, fz", always.clone(), Algorithm::Ring),
        (
            "lattice, ceaz",
            always.clone().codec("ceaz"),
            Algorithm::Ring,
        ),
        (
            "lattice, fz, doubling",
            always,
            Algorithm::RecursiveDoubling,
        ),
        ("adaptive", Settings::new(bound), Algorithm::Ring),
    ];
    let ways = settings.into_iter().map(|(name, settings, algorithm)| {
        let run = move || {
            let mut out = out.borrow_mut();
            let report = allreduce(comm, &mut out, &field.shape, algorithm, &settings);
            let mut run = of(report.expect("allreduce"));
            if !run.compressed {
                run.bytes = crossing(comm, field) / comm.size() as u64;
            }
            run
        };
        Way::new(name, run).after(|| out.borrow_mut().copy_from_slice(&field.values))
    });
    compare(comm, "allreduce", crossing(comm, field), ways.collect());
}

/// Bytes that all ranks send in a ring.
fn crossing(comm: &Comm, field: &Field) -> u64 {
    (2 * field.bytes() * (comm.size() - 1)) as u64
}
