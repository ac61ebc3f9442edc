//! The device that encodes and decodes chunks: the CPU, or a GPU if the command was built with it.

use anyhow::{Result, bail};
use ebz::engine::{Cpu, Engine};
use std::str::FromStr;
use std::sync::Arc;

/// The value of `--device`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Device {
    Cpu,
    /// The best one, or the first whose name contains this.
    Gpu(Option<String>),
}

impl FromStr for Device {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("cpu", "") => Ok(Self::Cpu),
            ("gpu", "") => Ok(Self::Gpu(None)),
            ("gpu", name) => Ok(Self::Gpu(Some(name.into()))),
            _ => bail!("'{text}' is not a device: write cpu, gpu or gpu:NAME; see `ebz devices`"),
        }
    }
}

/// An open device.
pub struct Opened {
    #[cfg(feature = "gpu")]
    pub gpu: Option<Arc<ebz_gpu::Gpu>>,
}

impl Opened {
    #[cfg(feature = "gpu")]
    pub fn new(device: &Device) -> Result<Self> {
        let gpu = match device {
            Device::Cpu => None,
            Device::Gpu(name) => Some(Arc::new(ebz_gpu::Gpu::open(name.as_deref())?)),
        };
        Ok(Self { gpu })
    }

    #[cfg(not(feature = "gpu"))]
    pub fn new(device: &Device) -> Result<Self> {
        match device {
            Device::Cpu => Ok(Self {}),
            Device::Gpu(_) => bail!("{NO_GPU_SUPPORT}"),
        }
    }

    /// The engine for the library.
    pub fn engine(&self) -> Arc<dyn Engine> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            return gpu.clone();
        }
        Arc::new(Cpu)
    }

    /// Prints what the device left to the CPU.
    #[cfg(feature = "gpu")]
    pub fn report(&self, quiet: bool) {
        for notice in self.gpu.iter().flat_map(|gpu| gpu.notices()) {
            crate::report::note(quiet, &notice);
        }
    }

    /// The CPU has no notices.
    #[cfg(not(feature = "gpu"))]
    pub fn report(&self, _quiet: bool) {}
}

/// The message of a build without GPU support.
#[cfg(not(feature = "gpu"))]
pub const NO_GPU_SUPPORT: &str =
    "this ebz was built without GPU support: build it with `--features gpu`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        assert_eq!("cpu".parse::<Device>().unwrap(), Device::Cpu);
        assert_eq!("gpu".parse::<Device>().unwrap(), Device::Gpu(None));
        let named = Device::Gpu(Some("radeon: 7".into()));
        assert_eq!("gpu:radeon: 7".parse::<Device>().unwrap(), named);
        for wrong in ["", "GPU", "cpu:0", "tpu", ":gpu"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
    }
}
