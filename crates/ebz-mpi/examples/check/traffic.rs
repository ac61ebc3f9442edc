//! Sends a known amount of data between hosts; `scripts/test_mpi` compares it with the counters of their
//! links.

use crate::fields::smooth;
use ebz::Bound;
use ebz_mpi::{Comm, Mode, Settings, allgather, gather};

/// Prints the bytes that all ranks sent.
pub fn check(comm: &Comm, mode: &str) {
    let mode = match mode {
        "raw" => Mode::Never,
        _ => Mode::Always,
    };
    let settings = Settings::new(Bound::Range(1e-3)).mode(mode);
    let length = 2_000_000;
    let values: Vec<f32> = smooth(length, comm.rank());
    let mut out = vec![0f32; length * comm.size()];
    let target = (comm.rank() == 0).then_some(&mut out[..]);
    let gathered = gather(comm, &values, &[length], 0, target, &settings).expect("gather");
    let all = allgather(comm, &values, &[length], &mut out, &settings).expect("allgather");
    let mut sent = gathered.sent_bytes + all.sent_bytes;
    if mode == Mode::Never {
        // Every rank's values reach all others, in some way.
        sent += all.raw_bytes * (comm.size() as u64 - 2);
    }
    let sums = comm.allgather_pair([sent, 0]).expect("all ranks");
    if comm.rank() == 0 {
        println!("sent {}", sums.iter().map(|pair| pair[0]).sum::<u64>());
    }
}
