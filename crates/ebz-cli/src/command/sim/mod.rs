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
