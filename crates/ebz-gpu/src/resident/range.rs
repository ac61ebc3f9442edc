//! Ranges of arrays on the device.

use crate::buffers::Buffers;
use crate::device::Gpu;
use crate::error::Result;
use crate::run::Recorder;
use crate::table::{Row, Table};
use crate::transfer::STORAGE;
use ebz::{Fill, FiniteRange};

/// Workgroups per chunk that compute its range.
const RANGE_GROUPS: u32 = 64;

impl Gpu {
    /// Ranges of parts of an array.
    pub(super) fn ranges(
        &self,
        table: &Table,
        values: &wgpu::Buffer,
        buffers: &mut Buffers,
    ) -> Result<Vec<Range>> {
        let rows: &[u8] = bytemuck::cast_slice(&table.rows);
        let chunks = self.buffer_for(STORAGE, rows.len() as u64)?;
        self.queue.write_buffer(&chunks, 0, rows);
        let start: Vec<[u32; 4]> = vec![[u32::MAX, 0, u32::MAX, 0]; table.rows.len()];
        let ranges = self.buffer_for(STORAGE, size_of_val(&start[..]) as u64)?;
        self.queue
            .write_buffer(&ranges, 0, bytemuck::cast_slice(&start));
        let mut recorder = Recorder::new(self);
        let count = table.rows.len() as u32;
        recorder.kernel(
            &self.kernels.range,
            Some(RANGE_GROUPS),
            count,
            |binding| match binding {
                0 => chunks.clone(),
                1 => values.clone(),
                _ => ranges.clone(),
            },
        );
        recorder.submit();
        let found: Vec<[u32; 4]> = self.download(
            buffers,
            &[(&ranges, 0, size_of_val(&start[..]) as u64)],
            bytemuck::pod_collect_to_vec,
        )?;
        Ok(found
            .iter()
            .zip(&table.rows)
            .map(|(f, row)| Range::new(*f, row))
            .collect())
    }
}

/// Statistics of a part of an array.
pub(super) struct Range {
    pub(super) is_constant: bool,
    pub(super) finite: FiniteRange,
}

impl Range {
    fn new([low, high, least, largest]: [u32; 4], row: &Row) -> Self {
        let value = |place: u32| {
            let bits = if place >> 31 == 1 {
                place ^ 1 << 31
            } else {
                !place
            };
            f64::from(f32::from_bits(bits))
        };
        Self {
            is_constant: low == high && row.count > 1,
            finite: match least <= largest {
                true => FiniteRange {
                    min: value(least),
                    max: value(largest),
                },
                false => FiniteRange::EMPTY,
            },
        }
    }
}

impl Table {
    /// Adds a part of an array whose range is to be computed.
    pub(super) fn add_range(&mut self, first: usize, count: usize, fill: &Fill) {
        let mut row = Row {
            first: first as u32,
            count: count as u32,
            fills: fill.values().as_slice().len() as u32,
            ..Row::default()
        };
        for (place, &value) in row.fill.iter_mut().zip(fill.values().as_slice()) {
            *place = (value as f32).to_bits();
        }
        self.rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Transpose;

    #[test]
    #[ignore = "needs an adapter: scripts/test_gpu"]
    fn range_is_that_of_the_finite_values() {
        let gpu = Gpu::untested(None, Transpose::Gather).expect("a GPU");
        let fill = Fill::from(-999.0);
        let wave = |i: usize| (i as f32 * 0.01).sin() * 1e3 + i as f32;
        let mut odd: Vec<f32> = (0..70_001).map(wave).collect();
        for (i, value) in odd.iter_mut().enumerate() {
            match i % 977 {
                3 => *value = f32::NAN,
                4 => *value = f32::NEG_INFINITY,
                5 => *value = -999.0,
                6 => *value = -f32::from_bits(i as u32),
                _ => {}
            }
        }
        let parts = [
            odd,
            vec![4.5; 300],
            vec![f32::NAN; 7],
            vec![-2.0, -0.0, 0.0],
        ];
        let mut table = Table::default();
        let mut first = 0;
        for part in &parts {
            table.add_range(first, part.len(), &fill);
            first += part.len();
        }
        let values = gpu.allocate(first).unwrap();
        gpu.upload(&parts.concat(), &values).unwrap();
        let found = gpu.ranges(&table, &values, &mut Buffers::default());
        for (found, part) in found.unwrap().iter().zip(&parts) {
            let expected = FiniteRange::of(part, &fill.values());
            assert_eq!(found.finite, expected);
            let constant = part.iter().all(|x| x.to_bits() == part[0].to_bits());
            assert_eq!(found.is_constant, constant);
        }
    }
}
