//! Times operations, raw and compressed: `mpirun -n 4 ebz-mpi-bench gather|allreduce|adaptive|write|codecs …`.
//! `scripts/mpi_tables` runs it over links of several speeds. One line of JSON per variant.

mod adaptive;
mod codecs;
mod field;
mod gathers;
mod raw;
mod sums;
mod timing;
mod writes;

use ebz_mpi::{Comm, mpi};

fn main() {
    let universe = mpi::initialize().expect("MPI starts");
    let comm = Comm::new(&universe.world()).expect("a communicator");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number");
    match args[..] {
        ["gather", megabytes, ref codecs @ ..] => gathers::bench(&comm, number(megabytes), codecs),
        ["codecs", megabytes, ref codecs @ ..] => {
            codecs::bench(&field::Field::new(&comm, number(megabytes)), codecs);
        }
        ["allreduce", megabytes] => sums::bench(&comm, number(megabytes)),
        ["adaptive", megabytes] => adaptive::bench(&comm, number(megabytes)),
        ["write", megabytes, path, ref codecs @ ..] => {
            writes::bench(&comm, number(megabytes), path, codecs);
        }
        _ => panic!("gather, allreduce, adaptive, write or codecs"),
    }
}
