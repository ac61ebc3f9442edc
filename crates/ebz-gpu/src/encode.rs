//! Encodes batches of chunks: values to bodies.

use crate::buffers::{Buffers, Role};
use crate::device::Gpu;
use crate::error::Result;
use crate::kernels::Kernel;
use crate::run::Recorder;
use crate::table::{HEADER, Row, TILE_UNITS, Table, codes_bytes};
use ebz::engine::fz::{Layout, UNIT};

/// The buffers of a batch being encoded.
pub(crate) struct Encoding {
    pub table: wgpu::Buffer,
    pub values: wgpu::Buffer,
    pub marks: wgpu::Buffer,
    pub slots: wgpu::Buffer,
    pub states: wgpu::Buffer,
    pub offsets: wgpu::Buffer,
    pub bodies: wgpu::Buffer,
    /// Shuffled tiles of `layout=flags`.
    pub tiles: Option<wgpu::Buffer>,
}

/// Bytes of a unit's slot: the longest unit, or 256 codes.
pub(crate) const SLOT_BYTES: u64 = 512;

/// Bytes of a tile.
pub(crate) const TILE_BYTES: u64 = SLOT_BYTES * TILE_UNITS as u64;

impl Encoding {
    /// Buffers for a batch; the caller fills `values`.
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
            slots: buffers.get(gpu, Role::Slots, SLOT_BYTES * units)?,
            states: buffers.get(gpu, Role::States, 4 * units)?,
            offsets: buffers.get(gpu, Role::Offsets, 4 * (units + chunks))?,
            bodies: buffers.get(gpu, Role::Bodies, 4 * table.body_words as u64)?,
            tiles: match table.layout {
                Layout::Planes => None,
                Layout::Flags => {
                    Some(buffers.get(gpu, Role::Tiles, TILE_BYTES * table.tiles() as u64)?)
                }
            },
        };
        let rows = bytemuck::cast_slice(&table.rows);
        gpu.queue.write_buffer(&encoding.table, 0, rows);
        Ok(encoding)
    }

    /// Adds all kernels.
    pub fn record(&self, gpu: &Gpu, table: &Table, recorder: &mut Recorder<'_>) {
        self.record_some(gpu, table, recorder, usize::MAX);
    }

    /// Adds the first `count` kernels.
    pub fn record_some(&self, gpu: &Gpu, table: &Table, recorder: &mut Recorder<'_>, count: usize) {
        let kernels = &gpu.kernels;
        let units = Some(table.most(|row| row.units));
        let tiles = Some(table.most(|row| row.units).div_ceil(TILE_UNITS as u32));
        let list = match table.layout {
            Layout::Planes => vec![
                (&kernels.encode, units),
                (&kernels.carry, None),
                (&kernels.resolve, units),
                (&kernels.offsets, None),
                (&kernels.compact, units),
            ],
            Layout::Flags => vec![
                (&kernels.flags.predict, units),
                (&kernels.carry, None),
                (&kernels.flags.resolve, units),
                (&kernels.flags.shuffle_mark, tiles),
                (&kernels.flags.sum_tiles, None),
                (&kernels.flags.encode_tiles, tiles),
            ],
        };
        for (kernel, groups) in list.into_iter().take(count) {
            self.record_one(kernel, groups, table, recorder);
        }
    }

    /// Adds one kernel.
    pub fn record_one(
        &self,
        kernel: &Kernel,
        groups: Option<u32>,
        table: &Table,
        recorder: &mut Recorder<'_>,
    ) {
        let chunks = table.rows.len() as u32;
        recorder.kernel(kernel, groups, chunks, |binding| self.buffer(binding));
    }

    pub fn buffer(&self, binding: u32) -> wgpu::Buffer {
        match binding {
            0 => &self.table,
            1 => &self.values,
            2 => &self.marks,
            3 => &self.slots,
            4 => &self.states,
            5 => &self.offsets,
            6 => &self.bodies,
            _ => self.tiles.as_ref().unwrap_or(&self.slots),
        }
        .clone()
    }
}

/// The device's results for the units of a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks<'a> {
    layout: Layout,
    units: &'a [u32],
}

impl<'a> Marks<'a> {
    /// The results of one chunk of a batch.
    pub fn of(all: &'a [u32], table: &Table, row: &Row) -> Self {
        let start = row.first_unit as usize;
        Self {
            layout: table.layout,
            units: &all[start..start + row.units as usize],
        }
    }

    /// Bytes of planes or blocks.
    pub fn planes(self) -> usize {
        let length: usize = self.units.iter().map(|&mark| length(mark)).sum();
        match self.layout {
            Layout::Planes => length,
            Layout::Flags => 16 * length,
        }
    }

    /// Bytes of the body without its exceptions.
    pub fn body_bytes(self) -> usize {
        HEADER + codes_bytes(self.layout, self.units.len()) + self.planes()
    }

    /// The units with exceptions.
    pub fn exceptions(self) -> impl Iterator<Item = usize> + 'a {
        let units = self.units.iter().enumerate();
        units
            .filter(|(_, mark)| **mark >> 31 == 1)
            .map(|(unit, _)| unit)
    }
}

/// Bytes of a unit's planes, or blocks of a tile in the mark of its first unit.
pub(crate) fn length(mark: u32) -> usize {
    (mark >> 8 & 0x3ff) as usize
}

/// The values of a unit of a chunk.
pub(crate) fn unit_of(values: &[f32], unit: usize) -> &[f32] {
    &values[unit * UNIT..values.len().min((unit + 1) * UNIT)]
}
