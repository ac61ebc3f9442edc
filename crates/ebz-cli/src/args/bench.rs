//! The arguments of `ebz bench`.

use super::{Layout, OnDevice, Talk};
use crate::quantity;
use clap::Args as Group;
use ebz::Favor;
use std::path::PathBuf;

/// Measure ratio, speed and error of codecs on your data
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz bench wave_100x500x500.f32 --range 1e-3
  ebz bench a.npy b.npy --codec all --range 1% --range 1e-4 --repeats 10
  ebz bench *.npy --codec fz,interp --csv > results.csv
  ebz bench wave_100x500x500.f32 --codec interp --param mode=isotropic --range 1e-3
  ebz bench -t f32 -s 256x256x256 wave.raw --abs 0.01 --threads 2 --json

Method: everything is in memory and buffers are reused. Range bounds are resolved to absolute ones
outside of the timed section, for every compressor. Times are the minimum over the repeats: CPU time
with one thread, wall time otherwise. `x memcpy` is relative to a copy of the
same buffer in the same run. Small inputs are repeated along their slowest axis.")]
pub struct Bench {
    /// Arrays, raw values or .npy
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub layout: Layout,
    /// Comma-separated codecs, auto or all; may be repeated
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = ebz::codec::DEFAULT)]
    pub codec: Vec<String>,
    /// What --codec auto favors, as in `ebz compress`
    #[arg(
        long,
        value_name = "speed|balanced|ratio",
        default_value = "balanced",
        hide_default_value = true
    )]
    pub favor: Favor,
    /// A parameter that all of the codecs have; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub param: Vec<String>,
    /// |x - x'| <= E; may be repeated
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = quantity::bound)]
    pub abs: Vec<f64>,
    /// |x - x'| <= E (max - min); may be repeated [default: 1e-2 1e-3 1e-4 if no bound is given]
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = quantity::share)]
    pub range: Vec<f64>,
    /// |x - x'| <= E |x|; may be repeated
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = quantity::share)]
    pub pointwise: Vec<f64>,
    /// Bits to keep; may be repeated
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub precision: Vec<f64>,
    /// Bit-exact
    #[arg(long)]
    pub lossless: bool,
    /// Missing data, stored exactly and excluded from the range: auto, none or values
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
    /// Also measure other compressors, on one thread (needs a build with `--features peers`)
    #[arg(long)]
    pub peers: bool,
    #[command(flatten)]
    pub device: OnDevice,
    /// Also report the overall throughput over a link of this rate, (1 / (rate x ratio) + 1 / speed)^-1; may
    /// be repeated [default: 11.4GB/s and 32GB/s with a GPU]
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub link: Vec<u64>,
    /// Number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// Repeat smaller inputs up to this many MiB
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    pub min_size: usize,
    /// Threads; 0 means all cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// CSV output, one line per measurement
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    #[command(flatten)]
    pub talk: Talk,
}
