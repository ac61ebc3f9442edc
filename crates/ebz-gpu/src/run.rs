//! Buffers of a batch, kernel submission, and downloads.

use crate::buffers::{Buffers, Role};
use crate::device::Gpu;
use crate::error::{GpuError, Result};
use crate::kernels::Kernel;
use std::time::Duration;

impl Buffers {
    /// The buffer of this role with at least `bytes` bytes.
    pub fn get(&mut self, gpu: &Gpu, role: Role, bytes: u64) -> Result<wgpu::Buffer> {
        let kept = &mut self.0[role as usize];
        match kept {
            Some(buffer) if buffer.size() >= bytes => Ok(buffer.clone()),
            _ => {
                *kept = None;
                let buffer = gpu.buffer(role, bytes)?;
                *kept = Some(buffer.clone());
                Ok(buffer)
            }
        }
    }
}

/// Time of a kernel by the clock of the device.
#[derive(Debug, Clone, Copy)]
pub struct KernelTime {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Time from start to end.
    pub time: Duration,
}

/// Kernels submitted together.
pub(crate) struct Recorder<'a> {
    gpu: &'a Gpu,
    encoder: wgpu::CommandEncoder,
    clock: Option<wgpu::QuerySet>,
    names: Vec<&'static str>,
}

/// Maximum number of timed kernels in a batch.
const MAX_TIMED_KERNELS: u32 = 8;

impl<'a> Recorder<'a> {
    /// A batch whose kernels are timed if the device supports it.
    pub fn timed(gpu: &'a Gpu) -> Self {
        let clock = gpu.info().timestamps.then(|| {
            gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("kernel times"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * MAX_TIMED_KERNELS,
            })
        });
        Self {
            clock,
            ..Self::new(gpu)
        }
    }

    pub fn new(gpu: &'a Gpu) -> Self {
        Self {
            gpu,
            encoder: gpu.device.create_command_encoder(&Default::default()),
            clock: None,
            names: Vec::new(),
        }
    }

    /// Adds a kernel: `groups` workgroups for each of `chunks` chunks, or one per chunk.
    pub fn kernel(
        &mut self,
        kernel: &Kernel,
        groups: Option<u32>,
        chunks: u32,
        buffer: impl Fn(u32) -> wgpu::Buffer,
    ) {
        let bound = self.gpu.bind(kernel, buffer);
        let number = self.names.len() as u32;
        let times = self.clock.as_ref().filter(|_| number < MAX_TIMED_KERNELS);
        let mut pass = self
            .encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(kernel.name),
                timestamp_writes: times.map(|query_set| wgpu::ComputePassTimestampWrites {
                    query_set,
                    beginning_of_pass_write_index: Some(2 * number),
                    end_of_pass_write_index: Some(2 * number + 1),
                }),
            });
        self.names.push(kernel.name);
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, &bound, &[]);
        let most = self.gpu.limits.max_compute_workgroups_per_dimension;
        match groups {
            Some(groups) => {
                let x = groups.clamp(1, most);
                pass.dispatch_workgroups(x, groups.div_ceil(x), chunks);
            }
            None => pass.dispatch_workgroups(chunks, 1, 1),
        }
    }

    /// Adds a copy.
    pub fn copy(&mut self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        self.encoder
            .copy_buffer_to_buffer(from.0, from.1, to.0, to.1, bytes);
    }

    /// Submits everything.
    pub fn submit(self) {
        self.gpu.queue.submit([self.encoder.finish()]);
    }

    /// Submits everything, waits, and reads the time of each kernel.
    pub fn submit_timed(mut self) -> Result<Vec<KernelTime>> {
        let gpu = self.gpu;
        let Some(clock) = self.clock.take() else {
            self.submit();
            gpu.wait()?;
            return Ok(Vec::new());
        };
        let count = (self.names.len() as u32).min(MAX_TIMED_KERNELS);
        let bytes = u64::from(2 * count) * 8;
        let resolved = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("kernel times"),
            size: bytes.max(8),
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        self.encoder
            .resolve_query_set(&clock, 0..2 * count, &resolved, 0);
        let names = std::mem::take(&mut self.names);
        self.submit();
        let ticks: Vec<u64> =
            gpu.download(&mut Buffers::default(), &[(&resolved, 0, bytes)], |bytes| {
                bytemuck::pod_collect_to_vec(bytes)
            })?;
        let period = f64::from(gpu.queue.get_timestamp_period());
        let times = names.iter().zip(ticks.as_chunks::<2>().0);
        Ok(times
            .map(|(&kernel, [start, end])| KernelTime {
                kernel,
                time: Duration::from_nanos((end.saturating_sub(*start) as f64 * period) as u64),
            })
            .collect())
    }
}

impl Gpu {
    fn buffer(&self, role: Role, bytes: u64) -> Result<wgpu::Buffer> {
        use wgpu::BufferUsages as Usage;
        let usage = match role {
            Role::Staging => Usage::MAP_READ | Usage::COPY_DST,
            _ => Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST,
        };
        self.buffer_for(usage, bytes)
    }

    /// A new buffer of at least `bytes` bytes.
    pub(crate) fn buffer_for(&self, usage: wgpu::BufferUsages, bytes: u64) -> Result<wgpu::Buffer> {
        let bytes = bytes.next_multiple_of(4).max(16);
        let most = match usage.contains(wgpu::BufferUsages::STORAGE) {
            true => self.most_bytes(),
            false => self.limits.max_buffer_size,
        };
        if bytes > most {
            return Err(GpuError::Memory(format!(
                "a buffer of {bytes} bytes, but the device allows {most}"
            )));
        }
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("ebz"),
            size: bytes,
            usage,
            mapped_at_creation: false,
        }))
    }

    /// Largest buffer that a kernel can bind, in bytes.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.limits
            .max_storage_buffer_binding_size
            .min(self.limits.max_buffer_size)
    }

    /// Copies parts of buffers to the host, back to back, and passes them to `take`.
    pub(crate) fn download<R>(
        &self,
        buffers: &mut Buffers,
        parts: &[(&wgpu::Buffer, u64, u64)],
        take: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        let total: u64 = parts.iter().map(|part| part.2).sum();
        if total == 0 {
            return Ok(take(&[]));
        }
        let staging = buffers.get(self, Role::Staging, total)?;
        let mut recorder = Recorder::new(self);
        let mut at = 0;
        for &(buffer, start, bytes) in parts {
            recorder.copy((buffer, start), (&staging, at), bytes);
            at += bytes;
        }
        recorder.submit();
        let (sender, receiver) = std::sync::mpsc::channel();
        staging
            .slice(..total)
            .map_async(wgpu::MapMode::Read, move |result| {
                // After a timeout the receiver is gone.
                let _ = sender.send(result);
            });
        self.wait()?;
        let lost = |error: String| GpuError::Lost(error);
        receiver
            .try_recv()
            .map_err(|_| GpuError::Timeout)?
            .map_err(|e| lost(e.to_string()))?;
        let result = {
            let view = staging
                .get_mapped_range(..total)
                .map_err(|e| lost(e.to_string()))?;
            take(&view)
        };
        staging.unmap();
        Ok(result)
    }

    /// Borrows buffers for a batch.
    pub(crate) fn with_buffers<R>(
        &self,
        work: impl FnOnce(&mut Buffers) -> Result<R>,
    ) -> Result<R> {
        let kept = self.free.lock().ok().and_then(|mut free| free.pop());
        let mut buffers = kept.unwrap_or_default();
        let result = self.guarded(|| work(&mut buffers));
        // Buffers in an undefined state after a fault are dropped.
        if result.is_ok()
            && let Ok(mut free) = self.free.lock()
        {
            free.push(buffers);
        }
        result
    }
}
