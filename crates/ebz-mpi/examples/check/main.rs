//! Checks that run on any number of ranks: `mpirun -n 4 check collectives|reductions|files|…`.
//! `scripts/test_mpi` runs them all.

mod collectives;
mod faults;
mod fields;
mod files;
mod reductions;
mod traffic;

use ebz_mpi::{Comm, mpi};

fn main() {
    let universe = mpi::initialize().expect("MPI starts");
    let comm = Comm::new(&universe.world()).expect("a communicator");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["collectives"] => collectives::check(&comm),
        ["reductions"] => reductions::check(&comm),
        ["files", folder] => files::check(&comm, folder),
        ["traffic", mode] => traffic::check(&comm, mode),
        ["large", folder] => files::large(&comm, folder),
        ["fault", name, path] => faults::check(&comm, name, path),
        _ => panic!("unknown check {args:?}"),
    }
    if comm.rank() == 0 {
        println!("{} on {} ranks: ok", args.join(" "), comm.size());
    }
    drop(comm);
}
