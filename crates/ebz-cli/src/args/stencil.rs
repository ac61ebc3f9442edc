//! The arguments of `ebz sim heat`, `lbm` and `srad`.

use super::{Coding, Extents, Force, Talk, Threads, extents};
use crate::quantity;
use clap::{Args as Group, ValueEnum};
use std::path::PathBuf;

/// Options of all stencil runs.
#[derive(Debug, Group)]
pub struct Sweep {
    /// Type of the values, and arithmetic of the stencil
    #[arg(short = 't', long = "type", value_name = "TYPE", value_enum, default_value_t = Precision::F64)]
    pub element: Precision,
    /// Number of time steps
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub steps: u64,
    /// Time steps per pass over the grid, i.e. between reading and storing it
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub per_pass: usize,
    /// Where and how the grid is stored; may be repeated to run several states
    #[arg(
        long,
        value_name = "STATE,…",
        value_delimiter = ',',
        default_value = "compressed-memory"
    )]
    pub state: Vec<State>,
    /// Also run the raw state, and report the errors of the compressed one
    #[arg(long)]
    pub compare: bool,
    /// Run the states in turn this many times, and report medians: of the times, and of their ratios to the first state
    /// in the same round
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "resume",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: u16,
    /// Planes (3-D) or rows (2-D) per slab, which are compressed together [default: about 2 MiB]
    #[arg(long, value_name = "N")]
    pub slab: Option<usize>,
    /// Memory limit of the run [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub memory: Option<u64>,
    /// Folder for the states on disk
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Limit the disk to this speed
    #[arg(long, value_name = "500MB/s", value_parser = quantity::rate)]
    pub disk_rate: Option<u64>,
    /// Keep the grid in DIR at the end
    #[arg(long)]
    pub keep: bool,
    /// Resume from the last complete pass in DIR
    #[arg(long, conflicts_with = "compare")]
    pub resume: bool,
    /// Do not measure the limits of the machine (roofline)
    #[arg(long)]
    pub no_roofline: bool,
    #[command(flatten)]
    pub coding: Coding,
    #[command(flatten)]
    pub threads: Threads,
    /// Plot the result
    #[arg(short, long, value_name = "OUT.png|svg")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}

/// The types that stencils compute in.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Precision {
    F32,
    F64,
}

/// The states of the library.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum State {
    RawMemory,
    RawDisk,
    CompressedMemory,
    CompressedDisk,
}

impl From<State> for ebz_store::grid::State {
    fn from(state: State) -> Self {
        match state {
            State::RawMemory => Self::RawMemory,
            State::RawDisk => Self::RawDisk,
            State::CompressedMemory => Self::CompressedMemory,
            State::CompressedDisk => Self::CompressedDisk,
        }
    }
}

/// Heat in a solid (3-D, 7 points), on a raw or compressed grid
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz sim heat --grid 256x256x256 --steps 200 --compare -o heat.png
  ebz sim heat --state raw-memory,compressed-memory --per-pass 1 --rounds 9
  ebz sim heat --grid 1024x512x512 --state compressed-disk --memory 500MB --dir /scratch --keep
  ebz sim heat --grid 1024x512x512 --state compressed-disk --memory 500MB --dir /scratch --keep --resume")]
pub struct Heat {
    /// Cells, slowest axis first
    #[arg(long, value_name = "ZxYxX", default_value = "192x192x192", value_parser = extents)]
    pub grid: Extents,
    /// Diffusion number: diffusivity x time step / cell width squared; at most 1/6
    #[arg(long, value_name = "R", default_value_t = 0.15)]
    pub diffusion: f64,
    #[command(flatten)]
    pub sweep: Sweep,
}

/// Flow by the lattice Boltzmann method (2-D, D2Q9), on a raw or compressed grid
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz sim lbm --scene cylinder --grid 512x1024 --steps 2000 --per-pass 8 -o wake.png
  ebz sim lbm --scene cavity --grid 512x512 --tau 0.56 --velocity 0.1 --compare")]
pub struct Lbm {
    /// Cells: rows (across the flow) first
    #[arg(long, value_name = "YxX", default_value = "512x1024", value_parser = extents)]
    pub grid: Extents,
    /// Geometry of the flow
    #[arg(long, value_enum, default_value_t = Scene::Cylinder)]
    pub scene: Scene,
    /// Relaxation time T, above 0.5; the viscosity is (T - 0.5) / 3
    #[arg(long, value_name = "T", default_value_t = 0.6)]
    pub tau: f64,
    /// Velocity of the lid, or of the middle of an empty channel, in cells per step
    #[arg(long, value_name = "U", default_value_t = 0.1)]
    pub velocity: f64,
    #[command(flatten)]
    pub sweep: Sweep,
}

/// Geometry of the flow.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Scene {
    /// A channel between two walls, driven by a force
    Channel,
    /// The same with a cylinder in it
    Cylinder,
    /// A box with a moving lid
    Cavity,
}

/// Speckle reducing anisotropic diffusion of an image (2-D), raw or compressed
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz sim srad --grid 1024x1024 --steps 100 --compare -o clean.png
  ebz sim srad --image scan.npy --steps 200 -o clean.png")]
pub struct Srad {
    /// Size of the synthetic image: rows first
    #[arg(long, value_name = "YxX", default_value = "1024x1024", value_parser = extents)]
    pub grid: Extents,
    /// An input image, .npy, values above 0
    #[arg(long, value_name = "IMAGE.npy", conflicts_with = "grid")]
    pub image: Option<PathBuf>,
    /// Step size, at most 1
    #[arg(long, value_name = "L", default_value_t = 0.5)]
    pub lambda: f64,
    /// Initial speckle scale
    #[arg(long, value_name = "Q", default_value_t = 0.5)]
    pub q0: f64,
    /// Decay rate of the speckle scale per step
    #[arg(long, value_name = "R", default_value_t = 0.02)]
    pub rho: f64,
    /// Measure the speckle scale of the whole image before every step, instead of --q0 and --rho; needs --per-pass 1
    #[arg(long, conflicts_with_all = ["q0", "rho"])]
    pub measure_q0: bool,
    #[command(flatten)]
    pub sweep: Sweep,
}
