//! Times on a GPU: kernels by its own clock, and transfers.

use super::Buffers;
use anyhow::Result;
use ebz::{Bound, Element, Fill, Options};
use ebz_gpu::{Gpu, KernelTime};
use std::time::Instant;

/// Least times on a device, in seconds.
#[derive(Debug, serde::Serialize)]
pub struct Profile {
    device: String,
    bound: String,
    bytes: usize,
    ratio: f64,
    /// A copy within the device.
    copy: f64,
    upload: f64,
    download: f64,
    /// Kernels by name, in order; empty if the device has no timestamps.
    compress: Vec<(&'static str, f64)>,
    decompress: Vec<(&'static str, f64)>,
    /// Kernels of `layout=flags` before the optimizations of the paper, and after them.
    before: Vec<(&'static str, f64)>,
    after: Vec<(&'static str, f64)>,
}

/// Measures an array of `f32` that fits on the device.
pub fn profile<T: Element>(
    gpu: &Gpu,
    bench: &Buffers<T>,
    bound: Bound,
    resolved: Bound,
) -> Result<Option<Profile>> {
    let Ok(values) = bytemuck::try_cast_slice::<T, f32>(&bench.values) else {
        return Ok(None);
    };
    if T::TYPE != ebz::ElementType::F32 || size_of_val(values) as u64 > gpu.info().most_bytes {
        return Ok(None);
    }
    let fill = match bench.missing.is_empty() {
        true => Fill::None,
        false => bench.missing.into(),
    };
    let mut options = Options::new(resolved).fill(fill);
    // The parameters may belong to other codecs.
    if ebz::codec::by_name("fz")?.validate(&bench.params).is_ok() {
        options.params = bench.params.clone();
    }
    let buffer = gpu.allocate(values.len())?;
    let mut back = vec![0f32; values.len()];
    let mut result = Profile {
        device: gpu.info().to_string(),
        bound: bound.to_string(),
        bytes: size_of_val(values),
        ratio: 0.0,
        copy: f64::MAX,
        upload: f64::MAX,
        download: f64::MAX,
        compress: Vec::new(),
        decompress: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
    };
    for _ in 0..bench.repeats {
        let started = Instant::now();
        gpu.upload(values, &buffer)?;
        result.upload = result.upload.min(started.elapsed().as_secs_f64());
        let copy = gpu.copy_time(size_of_val(values) as u64)?;
        result.copy = result.copy.min(copy.as_secs_f64());
        let profile = gpu.profile(&buffer, &bench.shape, &options)?;
        keep_least(&mut result.compress, &profile.compress);
        keep_least(&mut result.decompress, &profile.decompress);
        result.ratio = result.bytes as f64 / profile.bytes as f64;
        if let Some(ablation) = gpu.ablation(&buffer, &bench.shape, &options)? {
            keep_least(&mut result.before, &ablation.before);
            keep_least(&mut result.after, &ablation.after);
        }
        let started = Instant::now();
        gpu.read_back(&buffer, &mut back)?;
        result.download = result.download.min(started.elapsed().as_secs_f64());
    }
    Ok(Some(result))
}

fn keep_least(least: &mut Vec<(&'static str, f64)>, times: &[KernelTime]) {
    for (i, time) in times.iter().enumerate() {
        let seconds = time.time.as_secs_f64();
        match least.get_mut(i) {
            Some((_, least)) => *least = least.min(seconds),
            None => least.push((time.kernel, seconds)),
        }
    }
}

impl Profile {
    /// As text.
    pub fn text(&self, links: &[u64]) -> String {
        let speed = |seconds: f64| self.bytes as f64 / seconds / 1e9;
        // A copy reads and writes each byte.
        let bandwidth = 2.0 * speed(self.copy);
        let mut lines = vec![
            format!(
                "{}, {}: times on the device, ratio {:.3}",
                self.device, self.bound, self.ratio
            ),
            format!(
                "  copy bandwidth {bandwidth:.2} GB/s, upload {:.2} GB/s, download {:.2} GB/s",
                speed(self.upload),
                speed(self.download)
            ),
        ];
        for (what, kernels) in [
            ("compress", &self.compress),
            ("decompress", &self.decompress),
        ] {
            let total: f64 = kernels.iter().map(|(_, seconds)| seconds).sum();
            if kernels.is_empty() {
                lines.push(format!("  {what}: the device has no clock for kernels"));
                continue;
            }
            let each: Vec<_> = kernels
                .iter()
                .map(|(name, seconds)| format!("{name} {:.3} ms", 1e3 * seconds))
                .collect();
            lines.push(format!(
                "  {what}: {:.3} GB/s, {:.1} % of the copy bandwidth ({})",
                speed(total),
                100.0 * speed(total) / bandwidth,
                each.join(", ")
            ));
            for &rate in links {
                let overall = 1.0 / (1.0 / (rate as f64 * self.ratio) + total / self.bytes as f64);
                let (rate, overall) = (rate as f64 / 1e9, overall / 1e9);
                lines.push(format!(
                    "    over a link of {rate} GB/s: {overall:.3} GB/s overall"
                ));
            }
        }
        // Figure 10 of the paper.
        for (what, kernels) in [
            ("before the paper's optimizations", &self.before),
            ("after them", &self.after),
        ] {
            if !kernels.is_empty() {
                let each: Vec<_> = kernels
                    .iter()
                    .map(|(name, seconds)| format!("{name} {:.3} GB/s", speed(*seconds)))
                    .collect();
                lines.push(format!("  {what}: {}", each.join("; ")));
            }
        }
        lines.join("\n")
    }
}
