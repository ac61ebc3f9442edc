//! The device that encodes and decodes chunks: the CPU, or a GPU if the package was built for it.

use ebz::Result;
use ebz::engine::{Cpu, Engine};
use std::sync::Arc;

/// The engine of a device: `cpu`, `gpu`, or `gpu:NAME`.
pub fn engine(device: &str) -> Result<Arc<dyn Engine>> {
    match device.split_once(':').unwrap_or((device, "")) {
        ("cpu", "") => Ok(Arc::new(Cpu)),
        ("gpu", name) => gpu(name),
        _ => Err(ebz::Error::invalid(format!(
            "device {device}: use cpu, gpu or gpu:NAME"
        ))),
    }
}

/// Opens each device only once: that takes longer than compressing most arrays.
#[cfg(feature = "gpu")]
fn gpu(name: &str) -> Result<Arc<dyn Engine>> {
    use std::sync::Mutex;
    static OPEN: Mutex<Vec<(String, Arc<ebz_gpu::Gpu>)>> = Mutex::new(Vec::new());
    let mut open = OPEN.lock().unwrap_or_else(|broken| broken.into_inner());
    if let Some((_, gpu)) = open.iter().find(|(n, gpu)| n == name && !gpu.has_failed()) {
        return Ok(gpu.clone());
    }
    let wanted = (!name.is_empty()).then_some(name);
    let gpu =
        ebz_gpu::Gpu::open(wanted).map_err(|error| ebz::Error::unsupported(error.to_string()))?;
    let gpu = Arc::new(gpu);
    open.push((name.into(), gpu.clone()));
    Ok(gpu)
}

#[cfg(not(feature = "gpu"))]
fn gpu(_: &str) -> Result<Arc<dyn Engine>> {
    Err(ebz::Error::unsupported(
        "this package was built without GPU support: build it with the feature gpu",
    ))
}
