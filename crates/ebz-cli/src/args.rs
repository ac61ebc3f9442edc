//! The command line: subcommands, options, and their help.

mod bench;
mod coding;
mod report;
mod shared;
mod sim;
mod stencil;
mod suggest;

pub use bench::Bench;
pub use coding::{Coding, fill, params};
pub use report::Report;
pub use shared::{Extents, Force, Layout, Memory, OnDevice, Talk, Threads, extents};
pub use sim::{Rtm, Sim, Simulation};
pub use stencil::{Heat, Lbm, Precision, Scene, Srad, Sweep};
pub use suggest::Suggest;

use anyhow::Result;
use clap::{Args as Group, Parser, Subcommand};
use ebz::Options;
use std::path::PathBuf;

/// Error-bounded compression of floating-point arrays.
#[derive(Debug, Parser)]
#[command(
    name = "ebz",
    version,
    about = "Error-bounded compression of floating-point arrays",
    after_help = "Shapes are given slowest axis first, as in C and NumPy (zfp and sz3 list the fastest first).\n\
                  `-` is standard input or output. Exit codes: 0 success, 1 a check failed, 2 usage error or bad input."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Compress(Compress),
    Decompress(Decompress),
    Info(Info),
    Verify(Verify),
    Compare(Compare),
    Codecs(Codecs),
    Devices(Devices),
    Bench(Bench),
    Recover(Recover),
    Report(Report),
    Suggest(Suggest),
    Sim(Sim),
    Hdf5Args(Hdf5Args),
    Completions(Completions),
    Man(Man),
}

/// Compress an array (raw values or .npy) under a bound
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz compress temperature.npy --range 1e-3
  ebz compress -t f32 -s 100x500x500 wave.raw --abs 0.01 -o wave.ebz
  ebz compress ocean_6x384x320.f32 --range 1e-4 --fill 1e20 --stats
  simulate | ebz compress - -t f64 -s 512x512 --lossless > state.ebz
  ebz compress *.npy --range 0.1% -o compressed/
  ebz compress step*.npy --abs 1e-6 -o series.ebz --append

The output appears under its name when it is complete. Until then it is a hidden file in the same
folder, .OUT.ebz.XXXXXX.part; if the command is killed, the next one with the same output removes it.")]
pub struct Compress {
    /// Raw little-endian values, or .npy; - is standard input
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// Output, or a folder for several [default: IN.ebz; standard output if IN is -]
    #[arg(short, long, value_name = "OUT.ebz")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub layout: Layout,
    #[command(flatten)]
    pub coding: Coding,
    /// Extents of the chunks, the units of region reads [default: about 2 MiB each]
    #[arg(long, value_name = "AxBxC", value_parser = extents)]
    pub chunk: Option<Extents>,
    /// Metadata to store with the array: key=value, or a JSON object; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub meta: Vec<String>,
    /// Append the array to the output as its next frame; waits for other writers
    #[arg(long)]
    pub append: bool,
    /// With --append: fail instead of waiting if another command is writing to the output
    #[arg(long, requires = "append")]
    pub no_wait: bool,
    /// Decompress the result and report errors and quality
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub device: OnDevice,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}

/// Decompress to raw values or .npy
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz decompress temperature.npy.ebz -o again.npy
  ebz decompress wave.ebz -o part.npy --region 0:10,:,5:20
  ebz decompress series.ebz --frame 7 -o - | analyse

A file of several frames becomes one array with the frames along a new slowest axis,
unless --frame selects one.")]
pub struct Decompress {
    /// .ebz files; - is standard input
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// Output, .npy if its name ends so, else raw values; or a folder [default: IN without .ebz; standard output if IN
    /// is -]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// Part of each axis, as in NumPy: START:END, either may be missing, or one index; -1 is the last
    #[arg(long, value_name = "0:10,:,5:20", allow_hyphen_values = true)]
    pub region: Option<String>,
    /// Only this frame, counted from 0; -1 is the last
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frame: Option<i64>,
    #[command(flatten)]
    pub device: OnDevice,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub memory: Memory,
    #[command(flatten)]
    pub force: Force,
    /// No messages and no progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// Show the contents of an .ebz file
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz info wave.ebz
  ebz info series.ebz --json | jq '.frames[].metadata'")]
pub struct Info {
    /// .ebz files; - is standard input
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// JSON output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub memory: Memory,
}

/// Check that an .ebz file is intact, and that its bound holds
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz verify wave.ebz
  ebz verify wave.ebz --against wave.raw

Checks every checksum and decodes every chunk. With the original, checks every value against the
bound of the file, in exact arithmetic. Exit code 1 if a check fails.")]
pub struct Verify {
    /// .ebz files; - is standard input
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// The original, raw values or .npy
    #[arg(long, value_name = "ORIGINAL")]
    pub against: Option<PathBuf>,
    /// The frame to compare with ORIGINAL, counted from 0; -1 is the last
    #[arg(
        long,
        value_name = "N",
        requires = "against",
        allow_negative_numbers = true
    )]
    pub frame: Option<i64>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub memory: Memory,
    #[command(flatten)]
    pub talk: Talk,
}

/// Compare two arrays: errors and quality metrics
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz compare original.npy decoded.npy
  ebz compare wave_100x500x500.f32 wave.ebz --plot wave.png
  ebz compare -t f64 -s 512x512 a.raw b.raw --json

A and B are raw values, .npy or .ebz (its first frame); A is the original. Raw values take type and
shape from the other file. The names in --json are those of libpressio; non-finite numbers, such as
the PSNR of equal arrays, are null.")]
pub struct Compare {
    /// The original
    pub a: PathBuf,
    /// The decompressed array
    pub b: PathBuf,
    #[command(flatten)]
    pub layout: Layout,
    /// Missing data, excluded from errors and range: auto, none or values (see `ebz compress --help`)
    /// [default: as recorded in an .ebz file, else auto]
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
    /// Plot the middle slices of A, B and their difference, as PNG or SVG
    #[arg(long, value_name = "OUT.png|svg")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub memory: Memory,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}

/// List the codecs with their bounds and parameters
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz codecs
  ebz codecs --json")]
pub struct Codecs {
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

/// List the GPUs for --device
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz devices --json
  ebz compress wave_100x500x500.f32 --range 1e-3 --device gpu:radeon

Needs a build with `--features gpu`, and a driver for Vulkan, Metal or Direct3D 12.")]
pub struct Devices {
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

/// Recover what is intact in a damaged or unfinished .ebz file
#[derive(Debug, Group)]
#[command(after_help = "Example:
  ebz recover killed.ebz -o saved.ebz

Lost chunks become NaN. Frames that are almost entirely lost are left out.")]
pub struct Recover {
    /// The damaged file
    pub input: PathBuf,
    /// Output for the recovered frames
    #[arg(short, long, value_name = "OUT.ebz")]
    pub output: PathBuf,
    #[command(flatten)]
    pub memory: Memory,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}

/// Print the argument for h5repack or nccopy to compress with ebz
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  h5repack -f temperature:$(ebz hdf5-args --range 1e-3) in.h5 out.h5
  nccopy -F temperature,$(ebz hdf5-args --range 1e-3 --for nccopy) in.nc out.nc

Both look for the filter, libh5ebz.so, in the folders of HDF5_PLUGIN_PATH. A filter processes one chunk
at a time: range refers to the chunk, and every chunk reaches the ratio.")]
pub struct Hdf5Args {
    #[command(flatten)]
    pub coding: Coding,
    /// The program to print the argument for
    #[arg(long = "for", value_name = "PROGRAM", value_enum, default_value_t = Program::H5repack)]
    pub program: Program,
}

/// Print a completion script for a shell
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz completions bash > ~/.local/share/bash-completion/completions/ebz
  ebz completions zsh > ~/.zfunc/_ebz
  ebz completions fish > ~/.config/fish/completions/ebz.fish")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Write manual pages, one per command
#[derive(Debug, Group)]
#[command(after_help = "Example:
  ebz man ~/.local/share/man/man1 && man ebz-compress")]
pub struct Man {
    /// Output folder; created if missing
    pub folder: PathBuf,
}

/// Programs that apply filters to files.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Program {
    /// HDF5, option -f
    H5repack,
    /// netCDF, option -F
    Nccopy,
}

impl Compress {
    /// The library's options, validated as far as possible without the data.
    pub fn options(&self) -> Result<Options> {
        let mut options = self.coding.options()?;
        options.threads = self.threads.count();
        options.chunk = self.chunk.as_ref().map(|chunk| chunk.0.clone());
        options.metadata = coding::metadata(&self.meta)?;
        options.check()?;
        Ok(options)
    }
}
