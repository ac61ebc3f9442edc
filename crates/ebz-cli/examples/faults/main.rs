//! Runs the command while things fail, and checks that nothing that was complete is lost. Prints tables
//! of docs/reliability.md, or stops at the first loss.
//!
//! ```console
//! cargo run --release -p ebz-cli --example faults -- target/release/ebz kill 200
//! cargo run --release -p ebz-cli --example faults -- target/release/ebz errors
//! cargo run --release -p ebz-cli --example faults -- target/release/ebz power 500
//! cargo run --release -p ebz-cli --example faults -- target/release/ebz memory 200
//! ```

mod bench;
mod errors;
mod kill;
mod memory;
mod power;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: faults EBZ kill COUNT | errors | power COUNT | memory COUNT";
    let ebz = PathBuf::from(args.next().context(usage)?).canonicalize()?;
    let what = args.next().context(usage)?;
    let count = args.next().map_or(Ok(200), |count| count.parse())?;
    match what.as_str() {
        "kill" => kill::run(&ebz, count),
        "errors" => errors::run(&ebz),
        "power" => power::run(&ebz, count),
        "memory" => memory::run(&ebz, count),
        _ => bail!(usage),
    }
}
