//! `ebz sim`: what the simulations have in common, and what each takes.

use super::stencil::{Heat, Lbm, Srad};
use super::{Extents, Force, OneBound, Talk, Threads, extents, key_value};
use crate::quantity;
use anyhow::Result;
use clap::{Args as Group, Subcommand};
use ebz::{Bound, Options};
use std::path::PathBuf;

/// Run a simulation whose data lives compressed
#[derive(Debug, Group)]
pub struct Sim {
    #[command(subcommand)]
    pub simulation: Simulation,
}

#[derive(Debug, Subcommand)]
pub enum Simulation {
    Rtm(Box<Rtm>),
    Heat(Box<Heat>),
    Lbm(Box<Lbm>),
    Srad(Box<Srad>),
}

/// How the data of a simulation is compressed.
#[derive(Debug, Group)]
pub struct Coding {
    /// How to compress: see `ebz codecs`
    #[arg(long, value_name = "NAME", default_value = ebz::codec::DEFAULT)]
    pub codec: String,
    /// A parameter of the codec; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub param: Vec<String>,
    #[command(flatten)]
    pub bound: OneBound,
}

impl Coding {
    /// Checked options; `default` is the bound where none is given.
    pub fn options(&self, default: Bound) -> Result<Options> {
        let mut options = Options::new(self.bound.given()?.unwrap_or(default)).codec(&self.codec);
        for param in &self.param {
            let (key, value) = key_value(param, "--param")?;
            options = options.param(key, value);
        }
        options.check()?;
        Ok(options)
    }
}

/// How the data of a simulation gets to the disk and back.
#[derive(Debug, Group)]
pub struct Moving {
    /// Folder for the scratch files, which are removed at the end
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Let the system's page cache help instead of direct I/O
    #[arg(long)]
    pub no_direct: bool,
    /// Pretend that the disk is no faster than this
    #[arg(long, value_name = "500MB/s", value_parser = quantity::rate)]
    pub disk_rate: Option<u64>,
    /// Threads that compress, write, read and decompress beside the simulation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub servants: u16,
    /// Buffers between the simulation and its servants
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub buffers: u16,
    /// Memory that frames and buffers may take [default: what the machine has available]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub memory: Option<u64>,
}

/// Reverse time migration: an image of the underground from a recorded shot
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz sim rtm --grid 96x96x96 --steps 500 -o image.png
  ebz sim rtm --compare --disk-rate 500MB/s --dir /scratch
  ebz sim rtm --velocity model.npy --spacing 12.5 --policy disk --image image.npy

Grids are given slowest axis first; the first axis is depth.")]
pub struct Rtm {
    /// Points of the grid, absorbing margin included: depth first
    #[arg(long, value_name = "ZxYxX", default_value = "128x128x128", value_parser = extents)]
    pub grid: Extents,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub coding: Coding,
    #[command(flatten)]
    pub moving: Moving,
    /// Draw the middle slice of the image
    #[arg(short, long, value_name = "OUT.png")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}
