//! `gather` of all values at rank 0.

use crate::field::{Field, SIDE};
use crate::raw;
use crate::timing::{Run, Way, compare};
use ebz::Bound;
use ebz_mpi::{Comm, Mode, Report, Settings, gather};
use ebz_peers::{Goal, Peer, ZfpC};
use std::cell::RefCell;

/// Megabytes of all ranks together.
pub fn bench(comm: &Comm, megabytes: usize, codecs: &[&str]) {
    let field = &Field::new(comm, megabytes / comm.size());
    let is_root = comm.rank() == 0;
    let room = if is_root {
        field.values.len() * comm.size()
    } else {
        0
    };
    let out = &RefCell::new(vec![0f32; room]);
    let by_mpi = move || {
        raw::gather(&field.values, &mut out.borrow_mut());
        Run {
            bytes: if is_root { 0 } else { field.bytes() as u64 },
            ..Run::default()
        }
    };
    let by_ebz = |settings: Settings| {
        move || {
            let mut out = out.borrow_mut();
            let target = is_root.then_some(&mut out[..]);
            let report = gather(comm, &field.values, &field.shape, 0, target, &settings);
            of(report.expect("gather"))
        }
    };
    let by_zfp = move || with_zfp(comm, field, &mut out.borrow_mut());
    let mut ways: Vec<Way> = vec![Way::new("MPI_Gather", by_mpi), Way::new("zfp", by_zfp)];
    let bound = Bound::Abs(field.bound);
    for codec in codecs {
        let settings = Settings::new(bound).codec(codec).mode(Mode::Always);
        ways.push(Way::new(*codec, by_ebz(settings)));
    }
    ways.push(Way::new("adaptive", by_ebz(Settings::new(bound))));
    let crossing = field.bytes() * (comm.size() - 1);
    compare(comm, "gather", crossing as u64, ways);
}

pub fn of(report: Report) -> Run {
    Run {
        compressed: report.compressed,
        bytes: report.sent_bytes,
        estimate: report.estimate,
    }
}

/// Planes per zfp message: as many bytes as in our messages.
pub const ZFP_PLANES: usize = 8;

/// zfp with the same overlap: slabs are sent while later ones are compressed.
fn with_zfp(comm: &Comm, field: &Field, out: &mut [f32]) -> Run {
    let goal = Goal::Abs(field.bound);
    let slab = ZFP_PLANES * SIDE * SIDE;
    let mut run = Run {
        compressed: true,
        ..Run::default()
    };
    let dims = |values: usize| [values / (SIDE * SIDE), SIDE, SIDE];
    if comm.rank() != 0 {
        let mut sending = Vec::new();
        for part in field.values.chunks(slab) {
            let bytes = ZfpC.compress_f32(part, &dims(part.len()), goal);
            run.bytes += bytes.len() as u64;
            sending.push(raw::send(bytes));
        }
        return run;
    }
    let length = field.values.len();
    out[..length].copy_from_slice(&field.values);
    let mut next = vec![0; comm.size()];
    let mut bytes = Vec::new();
    for _ in 0..length.div_ceil(slab) * (comm.size() - 1) {
        let from = raw::receive(&mut bytes);
        let start = next[from] * slab;
        let end = (start + slab).min(length);
        next[from] += 1;
        let part = &mut out[from * length..][start..end];
        ZfpC.decompress_f32(&bytes, &dims(end - start), goal, part);
    }
    run
}
