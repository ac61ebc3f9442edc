//! The arguments of `ebz suggest`.

use super::{Layout, Talk};
use crate::criteria::Criterion;
use clap::Args as Group;
use std::path::PathBuf;

/// Suggest a bound from the values and from quality criteria
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz suggest temperature.npy
  ebz suggest wave_100x500x500.f32 --keep psnr=80 --keep ssim=0.999
  ebz suggest temperature.npy --keep spectrum=1% --json

From the values: decimals that they were rounded to, noise between neighbours, and the bits with 99 and 99.9 %
of the mutual information of neighbours (Kloewer et al. 2021, doi 10.1038/s43588-021-00156-2).
Criteria: minimum psnr (dB), ssim, dssim (data SSIM, usually 0.9995, Baker et al. 2022), correlation (Pearson)
and ks (p of the Kolmogorov-Smirnov test); maximum gradient (relative RMS change of differences of neighbours)
and spectrum (relative change of the power at any wavenumber along the fastest axis).
Defaults: correlation 0.99999, ssim 0.995, ks 0.05, the thresholds of ldcpy for climate data (Baker et al.), and
spectrum 1%. They are tested on a sample from the middle of the array.")]
pub struct Suggest {
    /// An array, raw values or .npy
    pub input: PathBuf,
    #[command(flatten)]
    pub layout: Layout,
    /// A quality criterion, as in ssim=0.995; may be repeated
    #[arg(long, value_name = "WHAT=THRESHOLD")]
    pub keep: Vec<Criterion>,
    /// Missing data: auto, none or values (see `ebz compress --help`)
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
    #[command(flatten)]
    pub talk: Talk,
}
