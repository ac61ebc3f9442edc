//! The arguments of `ebz report`.

use super::{Coding, Force, Layout, Talk};
use clap::Args as Group;
use std::path::PathBuf;

/// Write an HTML page that shows how compression affects an array
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz report temperature.npy
  ebz report wave_100x500x500.f32 --range 0.01% --codec interp -o wave.html

The page is self-contained: slices before and after, errors, spectra, and ratio, quality and speed of
every codec on a sample. The default bound is --range 0.1%.")]
pub struct Report {
    /// An array, raw values or .npy
    pub input: PathBuf,
    /// Output page [default: IN.html]
    #[arg(short, long, value_name = "OUT.html")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub layout: Layout,
    #[command(flatten)]
    pub coding: Coding,
    /// Also try other compressors (needs a build with `--features peers`)
    #[arg(long)]
    pub peers: bool,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}
