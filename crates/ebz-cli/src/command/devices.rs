//! `ebz devices`: the GPUs for `--device`.

use crate::Outcome;
use crate::args::Devices;
use anyhow::Result;

#[cfg(feature = "gpu")]
pub fn run(args: &Devices) -> Result<Outcome> {
    use crate::report;
    let devices = ebz_gpu::devices();
    if args.json {
        let row = |device: &ebz_gpu::AdapterInfo| {
            serde_json::json!({
                "name": device.name,
                "kind": device.kind,
                "backend": device.backend,
                "driver": device.driver,
                "subgroups": [device.subgroups.0, device.subgroups.1],
                "max_buffer_bytes": device.most_bytes,
                "timestamps": device.timestamps,
            })
        };
        report::say_json(&devices.iter().map(row).collect())?;
    } else if devices.is_empty() {
        report::say("no GPU: no Vulkan, Metal or Direct3D 12 driver offers one")?;
    }
    for device in devices.iter().filter(|_| !args.json) {
        let (least, most) = device.subgroups;
        report::say(&format!(
            "{device}\n  subgroups of {least} to {most}, buffers of up to {}, {} timestamps",
            report::bytes(device.most_bytes),
            if device.timestamps { "with" } else { "no" },
        ))?;
    }
    Ok(Outcome::Fine)
}

#[cfg(not(feature = "gpu"))]
pub fn run(_: &Devices) -> Result<Outcome> {
    anyhow::bail!("{}", crate::device::NO_GPU_SUPPORT)
}
