//! Batches of chunks: values to bodies.

use crate::buffers::{Buffers, Role};
use crate::device::Gpu;
use crate::error::Result;
use crate::run::Recorder;
use crate::table::{HEADER, Row, Table};
use ebz::engine::fz::UNIT;

/// The buffers of a batch that is encoded.
pub(crate) struct Encoding {
    pub table: wgpu::Buffer,
    pub values: wgpu::Buffer,
    pub marks: wgpu::Buffer,
    pub slots: wgpu::Buffer,
    pub states: wgpu::Buffer,
    pub offsets: wgpu::Buffer,
    pub bodies: wgpu::Buffer,
}

/// Bytes of a unit's slot.
pub(crate) const SLOT: u64 = 512;

impl Encoding {
    /// Buffers for a batch, of which `values` is filled by the caller.
    pub fn new(
        gpu: &Gpu,
        table: &Table,
        values: wgpu::Buffer,
        buffers: &mut Buffers,
    ) -> Result<Self> {
        let (units, chunks) = (table.units as u64, table.rows.len() as u64);
        let encoding = Self {
            table: buffers.get(gpu, Role::Table, size_of_val(&*table.rows) as u64)?,
            values,
            marks: buffers.get(gpu, Role::Marks, 4 * units)?,
            slots: buffers.get(gpu, Role::Slots, SLOT * units)?,
            states: buffers.get(gpu, Role::States, 4 * units)?,
            offsets: buffers.get(gpu, Role::Offsets, 4 * (units + chunks))?,
            bodies: buffers.get(gpu, Role::Bodies, 4 * table.body_words as u64)?,
        };
        let rows = bytemuck::cast_slice(&table.rows);
        gpu.queue.write_buffer(&encoding.table, 0, rows);
        Ok(encoding)
    }

    /// Adds the five kernels.
    pub fn record(&self, gpu: &Gpu, table: &Table, recorder: &mut Recorder<'_>) {
        self.record_some(gpu, table, recorder, 5);
    }

    /// Adds the first so many of them.
    pub fn record_some(&self, gpu: &Gpu, table: &Table, recorder: &mut Recorder<'_>, count: usize) {
        let (kernels, chunks) = (&gpu.kernels, table.rows.len() as u32);
        let units = Some(table.most(|row| row.units));
        for (kernel, groups) in [
            (&kernels.encode, units),
            (&kernels.carry, None),
            (&kernels.resolve, units),
            (&kernels.offsets, None),
            (&kernels.compact, units),
        ]
        .into_iter()
        .take(count)
        {
            recorder.kernel(kernel, groups, chunks, |binding| self.buffer(binding));
        }
    }

    fn buffer(&self, binding: u32) -> wgpu::Buffer {
        match binding {
            0 => &self.table,
            1 => &self.values,
            2 => &self.marks,
            3 => &self.slots,
            4 => &self.states,
            5 => &self.offsets,
            _ => &self.bodies,
        }
        .clone()
    }
}

/// What the device says of the units of a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks<'a>(pub &'a [u32]);

impl<'a> Marks<'a> {
    /// Those of one chunk among those of a batch.
    pub fn of(all: &'a [u32], row: &Row) -> Self {
        let start = row.first_unit as usize;
        Self(&all[start..start + row.units as usize])
    }

    /// Bytes of planes.
    pub fn planes(self) -> usize {
        self.0.iter().map(|&mark| length(mark)).sum()
    }

    /// Bytes of the body without its exceptions.
    pub fn body_bytes(self) -> usize {
        HEADER + self.0.len() + self.planes()
    }

    /// The units with exceptions.
    pub fn exceptions(self) -> impl Iterator<Item = usize> + 'a {
        let units = self.0.iter().enumerate();
        units
            .filter(|(_, mark)| **mark >> 31 == 1)
            .map(|(unit, _)| unit)
    }
}

/// Bytes of a unit's planes.
pub(crate) fn length(mark: u32) -> usize {
    (mark >> 8 & 0x3ff) as usize
}

/// The values of a unit of a chunk.
pub(crate) fn unit_of(values: &[f32], unit: usize) -> &[f32] {
    &values[unit * UNIT..values.len().min((unit + 1) * UNIT)]
}
