//! Faults: each ends with an error on every rank.

use crate::fields::smooth;
use ebz::{Bound, Options};
use ebz_mpi::{Algorithm, Comm, FileWriter, Mode, Settings};
use ebz_mpi::{allgather, allreduce, bcast, gather, recv, reduce, reduce_scatter, scatter, send};

/// Runs a fault by name, with a path for files.
pub fn check(comm: &Comm, name: &str, path: &str) {
    match name {
        "killed" => write(comm, path, true),
        "disk" => write(comm, path, false),
        "message" => messages(comm, path),
        _ => panic!("unknown fault {name}"),
    }
}

/// Writes a file while one rank is killed during encoding, or to a full disk.
fn write(comm: &Comm, path: &str, killed: bool) {
    let rows = 64 * comm.size();
    let block = vec![64 * comm.rank()..64 * (comm.rank() + 1), 0..50_000];
    let values: Vec<f32> = smooth(64 * 50_000, comm.rank());
    let options = Options::new(Bound::Abs(1e-4)).chunk(&[8, 50_000]);
    let mut writer = FileWriter::create(comm, path).expect("a file");
    let first = writer.frame(&[rows, 50_000], &block, &values, &options);
    if killed {
        first.expect("a frame");
        let mut parts = 0;
        let _ = writer.frame_from(&[rows, 50_000], &block, &options, |_, out| {
            parts += 1;
            if comm.rank() == 1 && parts == 4 {
                std::process::abort();
            }
            out.fill(1f32);
            Ok(())
        });
        unreachable!("MPI aborts all ranks with the killed one");
    }
    let error = match first {
        Ok(_) => writer.finish().expect_err("the disk is full"),
        Err(error) => error,
    };
    println!("rank {}: {error}", comm.rank());
    assert!(!std::path::Path::new(path).exists());
}

/// Messages of rank 1 damaged in transit by `flip.c`: every operation fails on every rank.
fn messages(comm: &Comm, path: &str) {
    let settings = &Settings::new(Bound::Abs(1e-3)).mode(Mode::Always);
    let (own, length) = (comm.rank(), 300_000);
    let shape = [length];
    let values: Vec<f32> = smooth(length, own);
    let mut all = vec![0f32; length * comm.size()];
    let mut sums = values.clone();
    let out = (own == 0).then_some(&mut all[..]);
    let gathered = gather(comm, &values, &shape, 0, out, settings);
    let shared = allgather(comm, &values, &shape, &mut all, settings);
    let given = (own == 1).then_some(&all[..]);
    let scattered = scatter(comm, given, &mut sums, &shape, 1, settings);
    let broadcast = bcast(comm, &mut sums, &shape, 1, settings);
    let summed = allreduce(comm, &mut sums, &shape, Algorithm::Ring, settings);
    let doubled = Algorithm::RecursiveDoubling;
    let doubled = allreduce(comm, &mut sums, &shape, doubled, settings);
    let reduced = reduce(comm, &mut sums, &shape, 0, settings);
    let parts = reduce_scatter(comm, &mut sums, &shape, settings).map(|(report, _)| report);
    let exact = Settings::new(Bound::Lossless).mode(Mode::Always);
    let exact = allreduce(comm, &mut sums, &shape, Algorithm::Ring, &exact);
    let results = [
        gathered, shared, scattered, broadcast, summed, doubled, reduced, parts, exact,
    ];
    for (number, result) in results.into_iter().enumerate() {
        expect_damage(own, &format!("operation {number}"), result.map(|_| ()));
    }
    // Between two ranks, both fail.
    match own {
        0 => expect_damage(
            own,
            "recv",
            recv(comm, &mut sums, &shape, 1, settings).map(|_| ()),
        ),
        1 => expect_damage(
            own,
            "send",
            send(comm, &values, &shape, 0, settings).map(|_| ()),
        ),
        _ => {}
    }
    // Every rank holds some columns of each chunk, so parts are sent before they are encoded.
    let mut writer = FileWriter::create(comm, path).expect("a file");
    let (rows, columns) = (300, 1000 * comm.size());
    let block = [0..rows, 1000 * own..1000 * (own + 1)];
    let options = Options::new(Bound::Abs(1e-3)).chunk(&[rows, columns]);
    let written = writer.frame(&[rows, columns], &block, &values, &options);
    expect_damage(own, "write", written.map(|_| ()));
}

fn expect_damage(rank: usize, what: &str, result: Result<(), ebz_mpi::Error>) {
    let error = result.expect_err(what);
    let text = error.to_string();
    assert!(
        text.contains("damaged in transit"),
        "rank {rank}, {what}: {text}"
    );
}
