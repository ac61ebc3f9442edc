//! `ebz sim`: the simulations, one file each.

mod rtm;
mod stencil;

use crate::Outcome;
use crate::args::{Sim, Simulation};
use anyhow::Result;

pub fn run(args: &Sim) -> Result<Outcome> {
    match &args.simulation {
        Simulation::Rtm(args) => rtm::run(args),
        Simulation::Heat(args) => stencil::heat(args),
        Simulation::Lbm(args) => stencil::lbm(args),
        Simulation::Srad(args) => stencil::srad(args),
    }
}

/// Index of the median, the upper one of two; there is at least one value.
fn median(values: &[f64]) -> usize {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order[order.len() / 2]
}

/// Available memory in bytes, if the system reports it.
fn memory_available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}
