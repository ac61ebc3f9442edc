//! Transfers of arrays, and the copy bandwidth of a device.

use crate::buffers::Buffers;
use crate::device::Gpu;
use crate::error::Result;
use crate::run::Recorder;
use std::time::{Duration, Instant};

/// Usages of buffers that kernels read and write.
pub(crate) const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// Number of copies timed together.
const COPIES: u32 = 8;

impl Gpu {
    /// A buffer for this many values, for [`Gpu::compress_buffer`].
    pub fn allocate(&self, values: usize) -> Result<wgpu::Buffer> {
        self.guarded(|| self.buffer_for(STORAGE, 4 * values as u64))
    }

    /// Copies values to a buffer, and waits.
    pub fn upload(&self, values: &[f32], to: &wgpu::Buffer) -> Result<()> {
        self.guarded(|| {
            self.queue.write_buffer(to, 0, bytemuck::cast_slice(values));
            self.queue.submit([]);
            self.wait()
        })
    }

    /// Copies values back.
    pub fn read_back(&self, from: &wgpu::Buffer, out: &mut [f32]) -> Result<()> {
        let bytes = size_of_val(out) as u64;
        self.guarded(|| {
            self.download(&mut Buffers::default(), &[(from, 0, bytes)], |bytes| {
                bytemuck::cast_slice_mut::<f32, u8>(out).copy_from_slice(bytes);
            })
        })
    }

    /// Time of a copy of this many bytes within the device.
    pub fn copy_time(&self, bytes: u64) -> Result<Duration> {
        self.guarded(|| {
            let from = self.buffer_for(STORAGE, bytes)?;
            let to = self.buffer_for(STORAGE, bytes)?;
            let run = || {
                let started = Instant::now();
                let mut recorder = Recorder::new(self);
                for _ in 0..COPIES {
                    recorder.copy((&from, 0), (&to, 0), from.size());
                }
                recorder.submit();
                self.wait()?;
                Ok(started.elapsed() / COPIES)
            };
            // The first copy also initializes the buffers.
            run()?;
            run()
        })
    }
}
