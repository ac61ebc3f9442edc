//! `ebz sim`: the simulations, one file each.

mod rtm;

use crate::Outcome;
use crate::args::{Sim, Simulation};
use anyhow::Result;

pub fn run(args: &Sim) -> Result<Outcome> {
    match &args.simulation {
        Simulation::Rtm(args) => rtm::run(args),
    }
}
