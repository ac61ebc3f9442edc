//! Options that several commands share: input layout, threads, memory, outputs, messages.

use crate::device::Device;
use crate::quantity;
use anyhow::{Result, bail};
use clap::Args as Group;
use ebz::{ElementType, Limits};

#[derive(Debug, Clone, Group)]
pub struct Layout {
    /// Type of the values: f16, bf16, f32 or f64 (not needed for .npy) [default: from the name, as in wave.f32]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub element: Option<ElementType>,
    /// Extents, slowest axis first (not needed for .npy) [default: from the name, as in wave_100x500x500.f32]
    #[arg(short, long, value_name = "100x500x500", value_parser = extents)]
    pub shape: Option<Extents>,
    /// Treat the input as raw values, even if it looks like another format
    #[arg(long)]
    pub raw: bool,
}

/// Extents of an array, as one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Extents(pub Vec<usize>);

#[derive(Debug, Group)]
pub struct OnDevice {
    /// Device that encodes and decodes codec fz: cpu, gpu, or gpu:NAME for the first whose name contains NAME; the
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
    /// Memory limit for reading .ebz, as in 4GB [default: what the machine, the control group and ulimit allow]
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
    /// Wait until the output is on disk (fsync), so that it survives a power failure
    #[arg(long)]
    pub sync: bool,
}

#[derive(Debug, Group)]
pub struct Talk {
    /// JSON output
    #[arg(long)]
    pub json: bool,
    /// No messages and no progress bar
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
