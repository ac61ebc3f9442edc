//! `ebz sim`: what the simulations have in common, and what each takes.

use super::stencil::{Heat, Lbm, Srad};
use super::{Coding, Extents, Force, Talk, Threads, extents};
use crate::quantity;
use clap::{Args as Group, Subcommand};
use ebz_sim::rtm::Model;
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
    /// Bind servants to cores, the last ones first
    #[arg(long)]
    pub pin: bool,
    /// Memory that the simulation may take [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub memory: Option<u64>,
}

/// Reverse time migration: an image of the underground from a recorded shot
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz sim rtm --grid 96x96x96 --steps 500 -o image.png
  ebz sim rtm --grid 256x256x256 --steps 2400 --compare --disk-rate 500MB/s --dir /scratch
  ebz sim rtm --velocity model.npy --spacing 12.5 --policy disk --image image.npy
  ebz sim rtm --policy memory --policy compressed-disk-servants:frames --codec fre --precision 6

Grids are given slowest axis first; the first axis is depth. --range is relative to the range of
the frame that was stored before (of the frame itself where whole frames are handed over).")]
pub struct Rtm {
    /// Points of the grid, absorbing margins included, depth first [default: that of the velocity file, or 128x128x128]
    #[arg(long, value_name = "ZxYxX", value_parser = extents)]
    pub grid: Option<Extents>,
    /// Time steps
    #[arg(long, value_name = "N", default_value_t = 800)]
    pub steps: usize,
    /// Steps from a stored frame to the next
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub every: usize,
    /// Built-in velocity model: layered or marmousi
    #[arg(long, value_name = "NAME", default_value = "layered")]
    pub model: Model,
    /// Velocities in m/s at every point: raw f32 or f64 values (with --grid), or .npy
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub velocity: Option<PathBuf>,
    /// Metres between points
    #[arg(long, value_name = "M", default_value_t = 10.0)]
    pub spacing: f64,
    /// Seconds of a time step [default: nine tenths of the largest stable one]
    #[arg(long, value_name = "S")]
    pub time_step: Option<f64>,
    /// Peak frequency of the source in Hz [default: the highest that the grid carries well]
    #[arg(long, value_name = "HZ")]
    pub frequency: Option<f64>,
    /// Points of the absorbing margin on every side [default: 20, less in small grids]
    #[arg(long, value_name = "N")]
    pub margin: Option<usize>,
    /// Where frames live: memory, disk, compressed-disk, compressed-disk-servants or compressed-memory, possibly followed by :slabs or :frames; may be repeated [default: compressed-disk-servants]
    #[arg(long, value_name = "POLICY")]
    pub policy: Vec<String>,
    /// Run every policy, one after the other
    #[arg(long, conflicts_with = "policy")]
    pub compare: bool,
    /// How frames get to the store: slabs, coded by the threads that compute, or whole frames, coded by servants
    #[arg(long, value_name = "slabs|frames", default_value = "slabs")]
    pub hand_over: String,
    /// Planes of a slab
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub slab: u16,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub coding: Coding,
    #[command(flatten)]
    pub moving: Moving,
    /// Print how many points of the image have which relative error, against the first policy that keeps
    /// every bit
    #[arg(long)]
    pub histogram: bool,
    /// Draw the middle slice of the image
    #[arg(short, long, value_name = "OUT.png|svg")]
    pub output: Option<PathBuf>,
    /// Write the image: raw f32 values, or .npy if its name ends so
    #[arg(long, value_name = "OUT")]
    pub image: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}
