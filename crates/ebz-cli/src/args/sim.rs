//! The arguments of `ebz sim`: shared by the simulations, and of each.

use super::stencil::{Heat, Lbm, Srad};
use super::{Coding, Extents, Force, Talk, Threads, extents};
use crate::quantity;
use clap::{Args as Group, Subcommand};
use ebz_sim::rtm::Model;
use std::path::PathBuf;

/// Run a simulation on compressed data
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

/// I/O options of a simulation.
#[derive(Debug, Group)]
pub struct Moving {
    /// Folder for scratch files, which are removed at the end
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    pub no_direct: bool,
    /// Limit the disk to this speed
    #[arg(long, value_name = "500MB/s", value_parser = quantity::rate)]
    pub disk_rate: Option<u64>,
    /// Threads that compress, write, read and decompress in the background
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub servants: u16,
    /// Buffers between the simulation and its servants
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub buffers: u16,
    /// Pin servants to cores, starting from the last one
    #[arg(long)]
    pub pin: bool,
    /// Memory limit of the simulation [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub memory: Option<u64>,
}

/// Reverse time migration: an image of the subsurface from a recorded shot
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz sim rtm --grid 96x96x96 --steps 500 -o image.png
  ebz sim rtm --grid 256x256x256 --steps 2400 --compare --disk-rate 500MB/s --dir /scratch
  ebz sim rtm --velocity model.npy --spacing 12.5 --policy disk --image image.npy
  ebz sim rtm --policy memory --policy compressed-disk-servants:frames --codec fre --precision 6
  ebz sim rtm --policy memory --policy compressed-memory --rounds 9

Grids are given slowest axis first; the first axis is depth. --range is relative to the range of
the previously stored frame (of the frame itself with --hand-over frames).")]
pub struct Rtm {
    /// Grid points, absorbing boundaries included, depth first [default: that of the velocity file, or 128x128x128]
    #[arg(long, value_name = "ZxYxX", value_parser = extents)]
    pub grid: Option<Extents>,
    /// Number of time steps
    #[arg(long, value_name = "N", default_value_t = 800)]
    pub steps: usize,
    /// Time steps per stored frame
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub every: usize,
    /// Built-in velocity model: layered or marmousi
    #[arg(long, value_name = "NAME", default_value = "layered")]
    pub model: Model,
    /// Velocities in m/s at every point: raw f32 or f64 values (with --grid), or .npy
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub velocity: Option<PathBuf>,
    /// Grid spacing in metres
    #[arg(long, value_name = "M", default_value_t = 10.0)]
    pub spacing: f64,
    /// Time step in seconds [default: nine tenths of the largest stable one]
    #[arg(long, value_name = "S")]
    pub time_step: Option<f64>,
    /// Peak frequency of the source in Hz [default: the highest that the grid resolves well]
    #[arg(long, value_name = "HZ")]
    pub frequency: Option<f64>,
    /// Width of the absorbing boundary on every side, in points [default: 20, less in small grids]
    #[arg(long, value_name = "N")]
    pub margin: Option<usize>,
    /// Where frames are stored: memory, disk, compressed-disk, compressed-disk-servants or compressed-memory,
    /// optionally followed by :slabs or :frames; may be repeated [default: compressed-disk-servants]
    #[arg(long, value_name = "POLICY")]
    pub policy: Vec<String>,
    /// Run every policy, one after the other
    #[arg(long, conflicts_with = "policy")]
    pub compare: bool,
    /// Run the policies in turn this many times, and report medians: of the times, and of their ratios to memory in the
    /// same round
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: u16,
    /// How frames get to the store: as slabs, encoded by the compute threads, or as whole frames, encoded by servants
    #[arg(long, value_name = "slabs|frames", default_value = "slabs")]
    pub hand_over: String,
    /// Planes per slab
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub slab: u16,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub coding: Coding,
    /// Compress frames, as slabs, with zfp and this many bits per value instead of a codec of ebz (needs a build
    /// with `--features peers`)
    #[arg(long, value_name = "BITS", conflicts_with_all = ["bound", "codec", "param"],
          value_parser = clap::value_parser!(u8).range(1..=32))]
    pub zfp_rate: Option<u8>,
    #[command(flatten)]
    pub moving: Moving,
    /// Print a histogram of the relative errors of the image, against the first lossless policy
    #[arg(long)]
    pub histogram: bool,
    /// Plot the middle slice of the image
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
