//! Adapters and devices: finds, opens, tests and runs them.

use crate::buffers::Buffers;
use crate::error::{GpuError, Result};
use crate::kernels::{Kernel, Kernels, Transpose};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time limit of one batch: far more than any needs, to detect hangs only.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A GPU that encodes and decodes chunks of codec `fz`: an [`Engine`](ebz::engine::Engine).
///
/// Unsupported chunks fall back to the CPU, and so does everything after a fault; [`Gpu::notices`] gives the
/// reasons.
#[derive(Debug)]
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) kernels: Kernels,
    pub(crate) limits: wgpu::Limits,
    /// Buffers not in use by a batch.
    pub(crate) free: Mutex<Vec<Buffers>>,
    info: AdapterInfo,
    timeout: Duration,
    failed: Arc<AtomicBool>,
    encoded: AtomicU64,
    decoded: AtomicU64,
    notices: Mutex<Vec<String>>,
}

/// Number of chunks processed by the device itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Work {
    /// Chunks encoded.
    pub encoded: u64,
    /// Chunks decoded.
    pub decoded: u64,
}

/// Properties of an adapter.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AdapterInfo {
    /// Name of the device.
    pub name: String,
    /// Kind of device: `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// Vulkan, Metal or Direct3D 12.
    pub backend: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Smallest and largest subgroup size; zeros if subgroups are not supported.
    pub subgroups: (u32, u32),
    /// Largest buffer that a kernel can bind, in bytes.
    pub most_bytes: u64,
    /// Whether the device can time kernels (timestamps).
    pub timestamps: bool,
}

impl AdapterInfo {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, features) = (adapter.get_info(), adapter.features());
        Self {
            kind: match info.device_type {
                wgpu::DeviceType::DiscreteGpu => "discrete",
                wgpu::DeviceType::IntegratedGpu => "integrated",
                wgpu::DeviceType::VirtualGpu => "virtual",
                wgpu::DeviceType::Cpu => "software",
                wgpu::DeviceType::Other => "other",
            },
            backend: info.backend.to_string(),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .into(),
            subgroups: match features.contains(wgpu::Features::SUBGROUP) {
                true => (info.subgroup_min_size, info.subgroup_max_size),
                false => (0, 0),
            },
            most_bytes: adapter.limits().max_storage_buffer_binding_size,
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            name: info.name,
        }
    }
}

impl std::fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ({}, {}, {})",
            self.name, self.kind, self.backend, self.driver
        )
    }
}

fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.flags = descriptor.flags.with_env();
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    // A stable sort keeps the order of the drivers within a kind.
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

/// The adapters of this machine, best first; software ones last.
pub fn devices() -> Vec<AdapterInfo> {
    adapters().iter().map(AdapterInfo::of).collect()
}

impl Gpu {
    pub(crate) fn untested(name: Option<&str>, transpose: Transpose) -> Result<Self> {
        let wanted = name.map(str::to_lowercase);
        let adapters = adapters();
        let fits = |adapter: &&wgpu::Adapter| match &wanted {
            Some(wanted) => adapter.get_info().name.to_lowercase().contains(wanted),
            None => true,
        };
        let Some(adapter) = adapters.iter().find(fits) else {
            let found: Vec<_> = adapters.iter().map(|a| a.get_info().name).collect();
            return Err(GpuError::NoAdapter(match (name, found.is_empty()) {
                (Some(name), false) => {
                    format!("none matches '{name}', only {}", found.join(", "))
                }
                _ => "no Vulkan, Metal or Direct3D 12 driver offers one".into(),
            }));
        };
        let wished = wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY;
        let limits = adapter.limits();
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("ebz"),
            required_features: adapter.features() & wished,
            required_limits: limits.clone(),
            ..Default::default()
        });
        let (device, queue) =
            pollster::block_on(request).map_err(|e| GpuError::Unsuitable(e.to_string()))?;
        let failed = Arc::new(AtomicBool::new(false));
        let lost = failed.clone();
        device.set_device_lost_callback(move |_, _| lost.store(true, Ordering::Relaxed));
        // Uncaptured errors must not abort the process.
        let uncaught = failed.clone();
        device.on_uncaptured_error(Arc::new(move |_| uncaught.store(true, Ordering::Relaxed)));

        let subgroups = device.features().contains(wgpu::Features::SUBGROUP);
        let transpose = if subgroups {
            transpose
        } else {
            Transpose::Gather
        };
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let kernels = Kernels::new(&device, transpose);
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(GpuError::Unsuitable(error.to_string()));
        }
        Ok(Self {
            info: AdapterInfo::of(adapter),
            device,
            queue,
            kernels,
            limits,
            free: Mutex::default(),
            timeout: TIMEOUT,
            failed,
            encoded: AtomicU64::new(0),
            decoded: AtomicU64::new(0),
            notices: Mutex::default(),
        })
    }

    /// The properties of the adapter.
    pub fn info(&self) -> &AdapterInfo {
        &self.info
    }

    /// The device, for programs that keep their data on it.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue of the device.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Sets the time limit of a batch, after which the device is abandoned.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Number of chunks that the device processed itself since it was opened; the others fell back to the CPU.
    pub fn work(&self) -> Work {
        Work {
            encoded: self.encoded.load(Ordering::Relaxed),
            decoded: self.decoded.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn add_work(&self, encoded: usize, decoded: usize) {
        self.encoded.fetch_add(encoded as u64, Ordering::Relaxed);
        self.decoded.fetch_add(decoded as u64, Ordering::Relaxed);
    }

    pub(crate) fn forget_work(&self) {
        self.encoded.store(0, Ordering::Relaxed);
        self.decoded.store(0, Ordering::Relaxed);
        if let Ok(mut notices) = self.notices.lock() {
            notices.clear();
        }
    }

    /// Why work fell back to the CPU, each reason once.
    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().map(|n| n.clone()).unwrap_or_default()
    }

    pub(crate) fn notice(&self, text: String) {
        if let Ok(mut notices) = self.notices.lock()
            && !notices.contains(&text)
        {
            notices.push(text);
        }
    }

    /// Whether the device failed: it gets no more work.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Abandons the device.
    pub(crate) fn give_up(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Runs work on the device; driver errors become errors of the call.
    pub(crate) fn guarded<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        if self.has_failed() {
            return Err(GpuError::Lost("it failed before".into()));
        }
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let result = work();
        let internal = pollster::block_on(internal.pop());
        let memory = pollster::block_on(memory.pop());
        let validation = pollster::block_on(validation.pop());
        if let Some(error) = memory {
            return Err(GpuError::Memory(error.to_string()));
        }
        if let Some(error) = internal.or(validation) {
            self.give_up();
            return Err(GpuError::Lost(error.to_string()));
        }
        if matches!(result, Err(GpuError::Timeout | GpuError::Lost(_))) {
            self.give_up();
        }
        result
    }

    /// Waits for all work, up to the time limit.
    pub(crate) fn wait(&self) -> Result<()> {
        let wait = wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(self.timeout),
        };
        match self.device.poll(wait) {
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(GpuError::Timeout),
            Err(error) => Err(GpuError::Lost(error.to_string())),
        }
    }

    /// Binds buffers to a kernel.
    pub(crate) fn bind(
        &self,
        kernel: &Kernel,
        buffer: impl Fn(u32) -> wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let buffers: Vec<_> = kernel.bindings.iter().map(|&b| (b, buffer(b))).collect();
        let entries: Vec<_> = buffers
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding: *binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(kernel.name),
            layout: &kernel.pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }
}
