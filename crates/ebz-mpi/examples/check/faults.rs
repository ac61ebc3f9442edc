//! What goes wrong: each ends with an error on every rank.

use crate::fields::smooth;
use ebz::{Bound, Options};
use ebz_mpi::{Algorithm, Comm, FileWriter, Mode, Settings, allgather, allreduce, gather};

/// The name of a fault, and a path for files.
pub fn check(comm: &Comm, name: &str, path: &str) {
    match name {
        "killed" => write(comm, path, true),
        "disk" => write(comm, path, false),
        "message" => messages(comm),
        _ => panic!("unknown fault {name}"),
    }
}

/// A file of which one rank is killed while it encodes, or whose disk is full.
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
        unreachable!("MPI ends all ranks with the one that is gone");
    }
    let error = match first {
        Ok(_) => writer.finish().expect_err("the disk is full"),
        Err(error) => error,
    };
    println!("rank {}: {error}", comm.rank());
    assert!(!std::path::Path::new(path).exists());
}

/// Messages that are damaged on their way, by `flip.c`.
fn messages(comm: &Comm) {
    let settings = Settings::new(Bound::Abs(1e-3)).mode(Mode::Always);
    let own = comm.rank();
    let length = 300_000;
    let mut values: Vec<f32> = smooth(length, own);
    let mut all = vec![0f32; length * comm.size()];
    let results = [
        {
            let out = (own == 0).then_some(&mut all[..]);
            gather(comm, &values, &[length], 0, out, &settings)
        },
        allgather(comm, &values, &[length], &mut all, &settings),
        allreduce(comm, &mut values, &[length], Algorithm::Ring, &settings),
    ];
    for result in results {
        let error = result.expect_err("a damaged message is found");
        let text = error.to_string();
        println!("rank {own}: {text}");
        assert!(text.contains("damaged on its way"), "{text}");
    }
}
