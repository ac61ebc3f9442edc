//! The arguments of `ebz suggest`.

use super::{Layout, Talk};
use crate::wish::Wish;
use clap::Args as Group;
use std::path::PathBuf;

/// Suggest a bound from the values and from quality criteria
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz suggest temperature.npy
  ebz suggest wave_100x500x500.f32 --keep psnr=80 --keep ssim=0.999
  ebz suggest temperature.npy --keep spectrum=1% --json

From the values: decimals that they were rounded to, noise between neighbours, and the bits that hold 99 and
99.9 % of the information that neighbours share (Kloewer et al. 2021, doi 10.1038/s43588-021-00156-2).
Wishes: psnr (dB, at least), ssim (at least), dssim (the climate scientists', at least: 0.9995, Baker et al. 2022),
correlation (Pearson's, at least), gradient (relative root mean square change of differences of neighbours, at
most), spectrum (largest relative change of the power at a wavenumber, along the fastest axis), ks (p of the
Kolmogorov-Smirnov test, at least).
Without any: correlation 0.99999, ssim 0.995, ks 0.05, as ldcpy asks of climate data (Baker et al.), and
spectrum 1%. They are checked on a part from the middle of the array.")]
pub struct Suggest {
    /// An array, raw values or .npy
    pub input: PathBuf,
    #[command(flatten)]
    pub layout: Layout,
    /// A quality criterion, as in ssim=0.995; may be repeated
    #[arg(long, value_name = "WHAT=THRESHOLD")]
    pub keep: Vec<Wish>,
    /// Missing data: auto, none or values (see `ebz compress --help`)
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
    #[command(flatten)]
    pub talk: Talk,
}
