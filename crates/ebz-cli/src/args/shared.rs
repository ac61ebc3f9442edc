//! Options that several commands have: what the input is, threads, memory, outputs, remarks.

use crate::device::Device;
use crate::quantity;
use anyhow::{Result, bail};
use clap::Args as Group;
use ebz::{ElementType, Limits};

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
