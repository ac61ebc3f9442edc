//! What users may write: subcommands, options, and their help.

mod sim;
mod stencil;

pub use sim::{Rtm, Sim, Simulation};
pub use stencil::{Heat, Lbm, Scene, Srad, Sweep};

use crate::device::Device;
use crate::quantity;
use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args as Group, Parser, Subcommand};
use ebz::codec::Params;
use ebz::{Bound, BoundKind, ElementType, Fill, Limits, Options};
use std::path::PathBuf;

/// Error-bounded compression of floating-point arrays.
#[derive(Debug, Parser)]
#[command(
    name = "ebz",
    version,
    about = "Error-bounded compression of floating-point arrays",
    after_help = "Shapes are given slowest axis first, as in C and NumPy (zfp and sz3 list the fastest first).\n\
                  `-` is standard input or output. Exit codes: 0 fine, 1 a check failed, 2 wrong use or bad input."
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
    Sim(Sim),
    Hdf5Args(Hdf5Args),
}

/// Compress an array (raw values or .npy) under a bound
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz compress temperature.npy --range 1e-3
  ebz compress -t f32 -s 100x500x500 wave.raw --abs 0.01 -o wave.ebz
  ebz compress ocean_6x384x320.f32 --range 1e-4 --fill 1e20 --stats
  simulate | ebz compress - -t f64 -s 512x512 --lossless > state.ebz
  for f in step*.npy; do ebz compress $f --abs 1e-6 -o series.ebz --append; done

The output appears under its name when it is complete. Until then it is a hidden file beside it,
.OUT.ebz.XXXXXX.part; if the command is killed, the next one with the same output removes it.")]
pub struct Compress {
    /// Raw little-endian values, or .npy; - is standard input
    pub input: PathBuf,
    /// Output [default: IN.ebz; standard output if IN is -]
    #[arg(short, long, value_name = "OUT.ebz")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub layout: Layout,
    #[command(flatten)]
    pub coding: Coding,
    /// Extents of the chunks, which are what region reads decode [default: about 2 MiB each]
    #[arg(long, value_name = "AxBxC", value_parser = extents)]
    pub chunk: Option<Extents>,
    /// Something to keep with the array: key=value, or a JSON object; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub meta: Vec<String>,
    /// Add the array to the output as its next frame, after any other command that does the same
    #[arg(long)]
    pub append: bool,
    /// With --append: fail if another command is writing to the output
    #[arg(long, requires = "append")]
    pub no_wait: bool,
    /// Decode the result again and report errors and quality
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
unless one is chosen with --frame.")]
pub struct Decompress {
    /// An .ebz file; - is standard input
    pub input: PathBuf,
    /// Output, as .npy if its name ends so, else raw values [default: IN without .ebz; standard output if IN is -]
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
    /// No remarks and no progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// Show what is inside an .ebz file
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz info wave.ebz
  ebz info series.ebz --json | jq '.frames[].metadata'")]
pub struct Info {
    /// An .ebz file; - is standard input
    pub input: PathBuf,
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub memory: Memory,
}

/// Check an .ebz file: that it is whole, and that its bound holds
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz verify wave.ebz
  ebz verify wave.ebz --against wave.raw

Every checksum is compared and every chunk decoded. With the original, every value is compared
with the bound of the file, in exact arithmetic. Exit code 1 if anything is wrong.")]
pub struct Verify {
    /// An .ebz file; - is standard input
    pub input: PathBuf,
    /// What it was made from, raw values or .npy
    #[arg(long, value_name = "ORIGINAL")]
    pub against: Option<PathBuf>,
    /// The frame that ORIGINAL became, counted from 0; -1 is the last
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

/// Tell how far two arrays are from each other
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz compare original.npy decoded.npy
  ebz compare wave_100x500x500.f32 wave.ebz --plot wave.png
  ebz compare -t f64 -s 512x512 a.raw b.raw --json

A and B are raw values, .npy or .ebz (its first frame); A counts as the original. What one of
them says of type and shape holds for both. The names in --json are libpressio's; numbers that
are not finite, such as the PSNR of equal arrays, are null.")]
pub struct Compare {
    /// The original
    pub a: PathBuf,
    /// What became of it
    pub b: PathBuf,
    #[command(flatten)]
    pub layout: Layout,
    /// Missing data, left out of errors and range: auto, none or values (see `ebz compress --help`)
    /// [default: what an .ebz file records, else auto]
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
    /// Draw the middle slices of A, B and their difference
    #[arg(long, value_name = "OUT.png")]
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

/// List the codecs, the bounds they offer and their parameters
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz codecs
  ebz codecs --json")]
pub struct Codecs {
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

/// List the GPUs that --device can name
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz devices
  ebz compress wave_100x500x500.f32 --range 1e-3 --device gpu:radeon

Needs a build with `--features gpu`, and a driver for Vulkan, Metal or Direct3D 12.")]
pub struct Devices {
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

/// Measure ratio, speed and error of codecs on your data
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  ebz bench wave_100x500x500.f32 --range 1e-3
  ebz bench a.npy b.npy --codec all --range 1e-2 --range 1e-4 --repeats 10
  ebz bench wave_100x500x500.f32 --codec interp --param mode=isotropic --range 1e-3
  ebz bench -t f32 -s 256x256x256 wave.raw --abs 0.01 --threads 2 --json

How it is measured: everything is in memory and buffers are reused. Range bounds are resolved to
absolute ones before the clock starts, for every compressor. Times are the least over the
repeats: CPU time with one thread, wall time otherwise. `x memcpy` is relative to a copy of the
same buffer in the same run. Small inputs are repeated along their slowest axis.")]
pub struct Bench {
    /// Arrays, raw values or .npy
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub layout: Layout,
    /// A codec, or all; may be repeated
    #[arg(long, value_name = "NAME", default_value = ebz::codec::DEFAULT)]
    pub codec: Vec<String>,
    /// A parameter of the codecs, which all of them must know; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub param: Vec<String>,
    /// |x - x'| <= E; may be repeated
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub abs: Vec<f64>,
    /// |x - x'| <= E (max - min); may be repeated [default: 1e-2 1e-3 1e-4 if no bound is given]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub range: Vec<f64>,
    /// |x - x'| <= E |x|; may be repeated
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub pointwise: Vec<f64>,
    /// Bits to keep; may be repeated
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub precision: Vec<f64>,
    /// Bit-exact
    #[arg(long)]
    pub lossless: bool,
    /// Missing data, kept exactly and left out of the range: auto, none or values
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
    /// Also measure other compressors, on one thread (needs a build with `--features peers`)
    #[arg(long)]
    pub peers: bool,
    #[command(flatten)]
    pub device: OnDevice,
    /// Also tell the overall throughput over a link of this rate, (1 / (rate x ratio) + 1 / speed)^-1; may be
    /// repeated [default: 11.4GB/s and 32GB/s with a GPU]
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub link: Vec<u64>,
    /// How often everything is measured
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// Smaller inputs are repeated up to this many MiB
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    pub min_size: usize,
    /// Threads; 0 means all cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    #[command(flatten)]
    pub talk: Talk,
}

/// Save what is left of a damaged or unfinished .ebz file
#[derive(Debug, Group)]
#[command(after_help = "Example:
  ebz recover killed.ebz -o saved.ebz

Chunks that are lost become NaN. Frames of which next to nothing is left are left out.")]
pub struct Recover {
    /// The damaged file
    pub input: PathBuf,
    /// Where to write what can be read
    #[arg(short, long, value_name = "OUT.ebz")]
    pub output: PathBuf,
    #[command(flatten)]
    pub memory: Memory,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub talk: Talk,
}

/// Print the argument that makes h5repack or nccopy compress with ebz
#[derive(Debug, Group)]
#[command(after_help = "Examples:
  h5repack -f temperature:$(ebz hdf5-args --range 1e-3) in.h5 out.h5
  nccopy -F temperature,$(ebz hdf5-args --range 1e-3 --for nccopy) in.nc out.nc

Both find the filter, libh5ebz.so, in the folders of HDF5_PLUGIN_PATH. A filter sees one chunk at a
time: range is that of the chunk, and ratio is reached by every chunk.")]
pub struct Hdf5Args {
    #[command(flatten)]
    pub coding: Coding,
    /// The program that gets the argument
    #[arg(long = "for", value_name = "PROGRAM", value_enum, default_value_t = Program::H5repack)]
    pub program: Program,
}

/// Programs that apply filters to files.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Program {
    /// HDF5's, option -f
    H5repack,
    /// netCDF's, option -F
    Nccopy,
}

#[derive(Debug, Clone, Group)]
pub struct Layout {
    /// Type of the values: f16, bf16, f32 or f64 (.npy tells it itself) [default: the end of the name, as in wave.f32]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub element: Option<ElementType>,
    /// Extents, slowest axis first (.npy tells them itself) [default: from the name, as in wave_100x500x500.f32]
    #[arg(short, long, value_name = "100x500x500", value_parser = extents)]
    pub shape: Option<Extents>,
    /// Raw values, even if the file begins like one of another format
    #[arg(long)]
    pub raw: bool,
}

/// Extents of an array, as one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Extents(pub Vec<usize>);

#[derive(Debug, Group)]
#[command(group = ArgGroup::new("bound").multiple(false))]
pub struct OneBound {
    /// |x - x'| <= E
    #[arg(long, value_name = "E", group = "bound", allow_hyphen_values = true)]
    pub abs: Option<f64>,
    /// |x - x'| <= E (max - min) of the array
    #[arg(long, value_name = "E", group = "bound", allow_hyphen_values = true)]
    pub range: Option<f64>,
    /// |x - x'| <= E |x|
    #[arg(long, value_name = "E", group = "bound", allow_hyphen_values = true)]
    pub pointwise: Option<f64>,
    /// PSNR of at least DB
    #[arg(long, value_name = "DB", group = "bound", allow_hyphen_values = true)]
    pub psnr: Option<f64>,
    /// Raw size / compressed size of at least R
    #[arg(long, value_name = "R", group = "bound", allow_hyphen_values = true)]
    pub ratio: Option<f64>,
    /// Bits to keep
    #[arg(long, value_name = "N", group = "bound", allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// Bit-exact
    #[arg(long, group = "bound")]
    pub lossless: bool,
}

impl OneBound {
    /// The bound, if there is one.
    fn given(&self) -> Result<Option<Bound>> {
        let given = [
            (BoundKind::Abs, self.abs),
            (BoundKind::Range, self.range),
            (BoundKind::Pointwise, self.pointwise),
            (BoundKind::Psnr, self.psnr),
            (BoundKind::Ratio, self.ratio),
            (BoundKind::Precision, self.precision),
            (BoundKind::Lossless, self.lossless.then_some(0.0)),
        ];
        let bound = given.into_iter().find_map(|(kind, e)| Some((kind, e?)));
        let checked = bound.map(|(kind, value)| Bound::new(kind, value));
        Ok(checked.transpose()?)
    }

    fn bound(&self) -> Result<Bound> {
        self.given()?.context(
            "what may change? Give a bound, for example --range 1e-3 or --abs 0.01, or --lossless",
        )
    }
}

impl Compress {
    /// Everything that the library needs to know, checked as far as possible without the data.
    pub fn options(&self) -> Result<Options> {
        let mut options = self.coding.options()?;
        options.threads = self.threads.count();
        options.chunk = self.chunk.as_ref().map(|chunk| chunk.0.clone());
        options.metadata = metadata(&self.meta)?;
        options.check()?;
        Ok(options)
    }
}

/// What to do with values, in memory or in a filter.
#[derive(Debug, Group)]
pub struct Coding {
    #[command(flatten)]
    pub bound: OneBound,
    /// How to compress: see `ebz codecs`
    #[arg(long, value_name = "NAME", default_value = ebz::codec::DEFAULT)]
    pub codec: String,
    /// A parameter of the codec; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub param: Vec<String>,
    /// Missing data, kept exactly and left out of the range (NaN always is): auto (the default) finds
    /// values such as 9.96921e36, 1e20 or -999 that lie far outside of all others; none; or values,
    /// with commas between them or repeated
    #[arg(long, value_name = "FILL", allow_hyphen_values = true)]
    pub fill: Vec<String>,
}

/// What marks missing data, from all that was said of it.
pub fn fill(given: &[String]) -> Result<Fill> {
    Ok(match given {
        [] => Fill::Auto,
        given => given.join(",").parse()?,
    })
}

impl Coding {
    /// As the library takes it.
    pub fn options(&self) -> Result<Options> {
        self.with(self.bound.bound()?)
    }

    /// The same, checked; `default` is the bound where none is given.
    pub fn options_or(&self, default: Bound) -> Result<Options> {
        let options = self.with(self.bound.given()?.unwrap_or(default))?;
        options.check()?;
        Ok(options)
    }

    fn with(&self, bound: Bound) -> Result<Options> {
        let mut options = Options::new(bound).codec(&self.codec);
        options.params = params(&self.param)?;
        options.fill = fill(&self.fill)?;
        Ok(options)
    }
}

#[derive(Debug, Group)]
pub struct OnDevice {
    /// Who encodes and decodes codec fz: cpu, gpu, or gpu:NAME for the first whose name contains NAME; the
    /// bytes are the same. Needs a build with `--features gpu`
    #[arg(long, value_name = "cpu|gpu[:NAME]", default_value = "cpu")]
    pub device: Device,
}

#[derive(Debug, Group)]
pub struct Threads {
    /// Threads; 0 means all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
}

impl Threads {
    pub fn count(&self) -> usize {
        self.threads.into()
    }
}

#[derive(Debug, Group)]
pub struct Memory {
    /// The most memory that reading .ebz may take, as in 4GB [default: what the machine, the control group and ulimit allow]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_memory: Option<u64>,
}

impl Memory {
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.max_memory = self.max_memory.unwrap_or(limits.max_memory);
        limits
    }
}

#[derive(Debug, Group)]
pub struct Force {
    /// Replace the output if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Wait until the output is on the disk, not only with the system: it then outlives a power failure
    #[arg(long)]
    pub sync: bool,
}

#[derive(Debug, Group)]
pub struct Talk {
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
    /// No remarks and no progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// Extents as in `100x500x500`.
pub fn extents(text: &str) -> Result<Extents> {
    let extents = text.split(['x', ',']).map(|extent| extent.trim().parse());
    match extents.collect() {
        Ok(extents) => Ok(Extents(extents)),
        Err(_) => bail!("'{text}' is not a shape: write 100x500x500, slowest axis first"),
    }
}

fn key_value<'a>(text: &'a str, option: &str) -> Result<(&'a str, &'a str)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key, value)),
        _ => bail!("{option} {text}: write it as KEY=VALUE"),
    }
}

/// Everything given with `--param`.
pub fn params(given: &[String]) -> Result<Params> {
    let mut params = Params::default();
    for param in given {
        let (key, value) = key_value(param, "--param")?;
        params.set(key, value);
    }
    Ok(params)
}

/// Everything given with `--meta`, as one JSON object.
fn metadata(given: &[String]) -> Result<Option<serde_json::Value>> {
    let mut all = serde_json::Map::new();
    for text in given {
        if text.trim_start().starts_with('{') {
            let object: serde_json::Map<_, _> = serde_json::from_str(text)
                .with_context(|| format!("--meta {text}: not a JSON object"))?;
            all.extend(object);
        } else {
            let (key, value) = key_value(text, "--meta")?;
            // Numbers, booleans and so on as such, everything else as text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            all.insert(key.into(), value);
        }
    }
    Ok((!all.is_empty()).then(|| all.into()))
}
