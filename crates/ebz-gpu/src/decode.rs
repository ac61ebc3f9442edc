//! Decodes batches of chunks: bodies to values.

use crate::buffers::{Buffers, Role};
use crate::device::Gpu;
use crate::error::Result;
use crate::run::Recorder;
use crate::table::Table;
use ebz::engine::fz::Layout;

/// The buffers of a batch being decoded.
pub(crate) struct Decoding {
    pub table: wgpu::Buffer,
    pub bodies: wgpu::Buffer,
    pub marks: wgpu::Buffer,
    pub offsets: wgpu::Buffer,
    pub sums: wgpu::Buffer,
    pub totals: wgpu::Buffer,
    pub values: wgpu::Buffer,
}

/// Bytes of the 16-bit sums of a segment.
pub(crate) const SEGMENT_BYTES: u64 = 512;

impl Decoding {
    /// Buffers for a batch whose bodies, marks and offsets are on the device.
    pub fn new(
        gpu: &Gpu,
        table: &Table,
        (bodies, marks, offsets): (wgpu::Buffer, wgpu::Buffer, wgpu::Buffer),
        values: wgpu::Buffer,
        buffers: &mut Buffers,
    ) -> Result<Self> {
        let segments = table.segments as u64;
        let decoding = Self {
            table: buffers.get(gpu, Role::Table, size_of_val(&*table.rows) as u64)?,
            sums: buffers.get(gpu, Role::Slots, SEGMENT_BYTES * segments)?,
            totals: buffers.get(gpu, Role::States, 4 * segments)?,
            bodies,
            marks,
            offsets,
            values,
        };
        let rows = table.decoding();
        gpu.queue
            .write_buffer(&decoding.table, 0, bytemuck::cast_slice(&rows));
        Ok(decoding)
    }

    /// Adds the three kernels.
    pub fn record(&self, gpu: &Gpu, table: &Table, recorder: &mut Recorder<'_>) {
        let (kernels, chunks) = (&gpu.kernels, table.rows.len() as u32);
        let columns = table.decoding().iter().map(|row| row.nx).max();
        let unpack = match table.layout {
            Layout::Planes => &kernels.unpack,
            Layout::Flags => &kernels.flags.unpack,
        };
        for (kernel, groups) in [
            (unpack, Some(table.most(|row| row.segments))),
            (&kernels.totals, None),
            (&kernels.columns, Some(columns.unwrap_or(0).div_ceil(64))),
        ] {
            recorder.kernel(kernel, groups, chunks, |binding| self.buffer(binding));
        }
    }

    fn buffer(&self, binding: u32) -> wgpu::Buffer {
        match binding {
            0 => &self.table,
            1 => &self.bodies,
            2 => &self.marks,
            3 => &self.sums,
            4 => &self.totals,
            5 => &self.offsets,
            _ => &self.values,
        }
        .clone()
    }
}
