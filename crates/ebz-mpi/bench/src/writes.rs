//! One file written by all ranks, synced to disk.

use crate::field::{Field, SIDE};
use crate::gathers::ZFP_PLANES;
use crate::raw;
use crate::timing::{Run, Way, compare};
use ebz::{Bound, Options};
use ebz_mpi::{Comm, FileWriter};
use ebz_peers::{Goal, Peer, ZfpC};

/// Megabytes of all ranks together, written as planes of one array.
pub fn bench(comm: &Comm, megabytes: usize, path: &str, codecs: &[&str]) {
    let field = &Field::new(comm, megabytes / comm.size());
    let own = comm.rank();
    let by_mpi = move || {
        let bytes = bytes_of(&field.values);
        raw::write(comm, path, bytes);
        Run {
            bytes: bytes.len() as u64,
            ..Run::default()
        }
    };
    let by_zfp = move || {
        let mut bytes = Vec::new();
        for part in field.values.chunks(ZFP_PLANES * SIDE * SIDE) {
            let dims = [part.len() / (SIDE * SIDE), SIDE, SIDE];
            bytes.extend(ZfpC.compress_f32(part, &dims, Goal::Abs(field.bound)));
        }
        raw::write(comm, path, &bytes);
        Run {
            compressed: true,
            bytes: bytes.len() as u64,
            estimate: None,
        }
    };
    let by_ebz = |options: Options| {
        move || {
            let planes = field.shape[0];
            let shape = [planes * comm.size(), SIDE, SIDE];
            let block = [planes * own..planes * (own + 1), 0..SIDE, 0..SIDE];
            let mut writer = FileWriter::create(comm, path).expect("a file");
            let report = writer.frame(&shape, &block, &field.values, &options);
            writer.finish().expect("a file");
            let stored = report.expect("a frame").stored_bytes;
            Run {
                compressed: true,
                bytes: if own == 0 { stored } else { 0 },
                estimate: None,
            }
        }
    };
    let mut ways: Vec<Way> = vec![
        Way::new("MPI_File_write_at_all", by_mpi),
        Way::new("zfp", by_zfp),
    ];
    for codec in codecs {
        let options = Options::new(Bound::Abs(field.bound)).codec(*codec);
        ways.push(Way::new(*codec, by_ebz(options)));
    }
    compare(comm, "write", (field.bytes() * comm.size()) as u64, ways);
}

fn bytes_of(values: &[f32]) -> &[u8] {
    // SAFETY: numbers have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
