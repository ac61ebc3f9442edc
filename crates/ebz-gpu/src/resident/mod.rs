//! Arrays and compressed frames in device memory.
//!
//! The CPU encodes chunks that the kernels do not support and keeps their bodies in host memory: frames are
//! always complete, with the same bodies as on the CPU.

mod compress;
mod decompress;
mod range;

use crate::device::Gpu;
use crate::error::Result;
use crate::run::KernelTime;
use crate::table::Table;
use crate::transfer::STORAGE;
use ebz::Options;
use ebz::engine::EncodedChunks;
use ebz::engine::fz::Narrow;
use ebz::slab::FramePlan;

/// A compressed array on the device.
#[derive(Debug)]
pub struct DeviceFrame {
    plan: FramePlan,
    /// Offset of each chunk's first value in the array.
    firsts: Vec<usize>,
    batches: Vec<Batch>,
    /// Chunks encoded by the CPU.
    others: Vec<(usize, EncodedChunks)>,
}

/// Chunks encoded together by the kernels.
#[derive(Debug)]
struct Batch {
    chunks: Vec<usize>,
    /// Table rows; their values are in the buffer of the whole array.
    table: Table,
    bodies: wgpu::Buffer,
    marks: wgpu::Buffer,
    offsets: wgpu::Buffer,
    sizes: Vec<usize>,
    /// Side lists as in a file, and as runs of one value for the device.
    lists: Vec<Vec<u8>>,
    runs: Option<(wgpu::Buffer, u32)>,
}

impl DeviceFrame {
    /// The frame header.
    pub fn plan(&self) -> &FramePlan {
        &self.plan
    }

    /// Bytes of all bodies.
    pub fn bytes(&self) -> u64 {
        let coded = self.batches.iter().flat_map(|batch| {
            let lists = batch.lists.iter().map(Vec::len);
            batch
                .sizes
                .iter()
                .zip(lists)
                .map(|(size, list)| size + list)
        });
        let others = self.others.iter().flat_map(|(_, body)| body.bodies());
        let others = others.map(|body| body.bytes.len());
        coded.chain(others).map(|bytes| bytes as u64).sum()
    }

    /// The table of some chunks, whose values are in the buffer of the whole array.
    pub(crate) fn table(&self, jobs: &[(usize, Narrow)]) -> Table {
        let mut table = Table::default();
        for (chunk, narrow) in jobs {
            table.add_values(narrow);
            if let Some(row) = table.rows.last_mut() {
                row.first = self.firsts[*chunk] as u32;
            }
        }
        table
    }

    /// Number of chunks encoded by the CPU.
    pub fn chunks_of_the_cpu(&self) -> usize {
        self.others.len()
    }
}

/// Runs of exact values: start, length, bits, 0.
struct Runs(Vec<[u32; 4]>);

impl Runs {
    fn push(&mut self, place: usize, value: f32) {
        match self.0.last_mut() {
            Some([start, length, bits, _])
                if *bits == value.to_bits() && (*start + *length) as usize == place =>
            {
                *length += 1;
            }
            _ => self.0.push([place as u32, 1, value.to_bits(), 0]),
        }
    }
}

/// Kernel times of one compression and one decompression of an array on the device.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Profile {
    /// Kernels of the compression, in order.
    pub compress: Vec<KernelTime>,
    /// Kernels of the decompression, in order.
    pub decompress: Vec<KernelTime>,
    /// Bytes of the compressed frame.
    pub bytes: u64,
}

impl Gpu {
    /// Times the kernels on an array on the device; empty lists if the device has no timestamps.
    pub fn profile(
        &self,
        values: &wgpu::Buffer,
        shape: &[usize],
        options: &Options,
    ) -> Result<Profile> {
        self.guarded(|| {
            let (frame, compress) = self.compress_guarded(values, shape, options)?;
            let out = self.buffer_for(STORAGE, values.size())?;
            let decompress = self.decompress_guarded(&frame, &out)?;
            Ok(Profile {
                compress,
                decompress,
                bytes: frame.bytes(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Transpose;
    use crate::run::Recorder;

    #[test]
    #[ignore = "needs an adapter: scripts/test_gpu"]
    fn scatter_writes_runs_and_nothing_else() {
        let gpu = Gpu::untested(None, Transpose::Gather).expect("a GPU");
        let mut expected: Vec<f32> = (0..3000).map(|i| i as f32).collect();
        let values = gpu.allocate(expected.len()).unwrap();
        gpu.upload(&expected, &values).unwrap();
        let mut runs = Runs(Vec::new());
        for (start, length, value) in [
            (0, 1, -1.0),
            (5, 700, -2.0),
            (705, 2, f32::NAN),
            (2999, 1, 0.0),
        ] {
            (start..start + length).for_each(|place| runs.push(place, value));
            expected[start..start + length].fill(value);
        }
        assert_eq!(runs.0.len(), 4);
        let list = gpu
            .buffer_for(STORAGE, size_of_val(&runs.0[..]) as u64)
            .unwrap();
        gpu.queue
            .write_buffer(&list, 0, bytemuck::cast_slice(&runs.0));
        let mut recorder = Recorder::new(&gpu);
        recorder.kernel(&gpu.kernels.scatter, Some(4), 1, |binding| match binding {
            1 => list.clone(),
            _ => values.clone(),
        });
        recorder.submit();
        let mut found = vec![0f32; expected.len()];
        gpu.read_back(&values, &mut found).unwrap();
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert!(bits(&found) == bits(&expected));
    }
}
