//! Compression of an array on the device.

use super::{Batch, DeviceFrame, Runs};
use crate::buffers::Buffers;
use crate::device::Gpu;
use crate::encode::{Encoding, Marks};
use crate::error::{GpuError, Result};
use crate::run::{KernelTime, Recorder};
use crate::table::Table;
use crate::transfer::STORAGE;
use ebz::engine::fz::{Narrow, Task, UNIT, sampled_places};
use ebz::engine::{Context, Cpu, EncodedChunks, Engine, Values};
use ebz::slab::FramePlan;
use ebz::{Bound, Options};

/// A planned frame, the chunks for the kernels, and those for the CPU.
pub(crate) type Prepared = (DeviceFrame, Vec<(usize, Narrow)>, Vec<usize>);

impl Gpu {
    /// Compresses an array of `f32` in a buffer of this device with usages `STORAGE` and `COPY_SRC`.
    ///
    /// With `range`, fill values must be given ([`ebz::Fill::None`] or values): detecting them takes more than a
    /// range.
    pub fn compress_buffer(
        &self,
        values: &wgpu::Buffer,
        shape: &[usize],
        options: &Options,
    ) -> Result<DeviceFrame> {
        self.guarded(|| {
            self.compress_guarded(values, shape, options)
                .map(|(frame, _)| frame)
        })
    }

    /// Plans a frame of the array.
    pub(crate) fn prepare(
        &self,
        values: &wgpu::Buffer,
        shape: &[usize],
        options: &Options,
        buffers: &mut Buffers,
    ) -> Result<Prepared> {
        // 1. The bound in units of the values.
        let count = ebz::element_count(shape)?;
        let bytes = 4 * count as u64;
        if count == 0 || values.size() < bytes || bytes > self.most_bytes() {
            return Err(GpuError::Input(format!(
                "a buffer of {} bytes for {count} values, of at most {}",
                values.size(),
                self.most_bytes() / 4
            )));
        }
        if options.needs_range() && options.fill.is_auto() {
            return Err(GpuError::Input(
                "a range bound of an array on a device needs explicit fill values, or none".into(),
            ));
        }
        if !ebz::codec::by_name(&options.codec)?.info.name.eq("fz") {
            return Err(GpuError::Input("arrays on a device need codec fz".into()));
        }
        let mut whole = Table::default();
        whole.add_range(0, count, &options.fill);
        let tolerance = options.tolerance(|| {
            let ranges = self.ranges(&whole, values, buffers)?;
            Ok(ranges[0].finite.extent())
        })?;
        if !matches!(options.bound, Bound::Abs(_) | Bound::Range(_)) {
            return Err(GpuError::Input(
                "arrays on a device need an abs or range bound".into(),
            ));
        }
        let plan = FramePlan::new::<f32>(shape, tolerance, options)?;
        if plan.slabs() != plan.chunks() {
            return Err(GpuError::Input(
                "arrays on a device need contiguous chunks".into(),
            ));
        }
        let mut firsts = vec![0];
        for chunk in 0..plan.chunks() {
            firsts.push(firsts[chunk] + plan.dims(chunk).len());
        }

        // 2. Constant chunks, and those with unspecified missing data, go to the CPU.
        let mut parts = Table::default();
        for (chunk, &first) in firsts.iter().enumerate().take(plan.chunks()) {
            parts.add_range(first, plan.dims(chunk).len(), &options.fill);
        }
        let ranges = self.ranges(&parts, values, buffers)?;
        let auto = plan.header().fill.is_auto();
        let frame = DeviceFrame {
            plan,
            firsts,
            batches: Vec::new(),
            others: Vec::new(),
        };
        let (mut jobs, mut rest) = (Vec::new(), Vec::new());
        for (chunk, range) in ranges.iter().enumerate() {
            let missing =
                auto && ebz::engine::fz::may_be_missing(range.finite, ebz::ElementType::F32);
            match range.is_constant || missing {
                true => rest.push(chunk),
                false => match self.choose(&frame, chunk, values, buffers)? {
                    Some(narrow) => jobs.push((chunk, narrow)),
                    None => rest.push(chunk),
                },
            }
        }

        Ok((frame, jobs, rest))
    }

    pub(super) fn compress_guarded(
        &self,
        values: &wgpu::Buffer,
        shape: &[usize],
        options: &Options,
    ) -> Result<(DeviceFrame, Vec<KernelTime>)> {
        let mut buffers = Buffers::default();
        let (mut frame, jobs, mut rest) = self.prepare(values, shape, options, &mut buffers)?;

        // The kernels, then the CPU for the remaining chunks.
        let mut times = Vec::new();
        if !jobs.is_empty() {
            let (batch, left, took) = self.encode_resident(&frame, &jobs, values, &mut buffers)?;
            if !batch.chunks.is_empty() {
                frame.batches.push(batch);
            }
            rest.extend(left);
            times = took;
        }
        rest.sort_unstable();
        for chunk in rest {
            self.notice("some chunks of an array on the device: done by the CPU".into());
            let length = 4 * frame.plan.dims(chunk).len() as u64;
            let part = (values, 4 * frame.firsts[chunk] as u64, length);
            let host: Vec<f32> =
                self.download(&mut buffers, &[part], bytemuck::pod_collect_to_vec)?;
            let bytes = bytemuck::cast_slice(&host);
            let mut body = EncodedChunks::default();
            let mut context = Context::default();
            Cpu.encode(
                &frame.plan,
                &[Values { chunk, bytes }],
                &mut context,
                &mut body,
            )?;
            frame.others.push((chunk, body));
        }
        Ok((frame, times))
    }

    /// Lattice and lags of a chunk, from sampled values alone.
    fn choose(
        &self,
        frame: &DeviceFrame,
        chunk: usize,
        values: &wgpu::Buffer,
        buffers: &mut Buffers,
    ) -> Result<Option<Narrow>> {
        let header = frame.plan.header();
        let dims = frame.plan.dims(chunk);
        let first = frame.firsts[chunk];
        let places = sampled_places(dims);
        let parts: Vec<_> = places
            .iter()
            .map(|place| {
                (
                    values,
                    4 * (first + place.start) as u64,
                    4 * place.len() as u64,
                )
            })
            .collect();
        let mut sparse = vec![0f32; dims.len()];
        self.download(buffers, &parts, |mut bytes| {
            for place in &places {
                let (now, rest) = bytes.split_at(4 * place.len());
                bytemuck::cast_slice_mut::<f32, u8>(&mut sparse[place.clone()])
                    .copy_from_slice(now);
                bytes = rest;
            }
        })?;
        let task = Task {
            dims,
            tolerance: header.tolerance,
            fill: header.fill.values(),
            params: &header.params,
        };
        Ok(Narrow::choose(&sparse, &task, Context::default().simd()))
    }

    /// Encodes chunks; returns those with too many exceptions and those that do not shrink.
    fn encode_resident(
        &self,
        frame: &DeviceFrame,
        jobs: &[(usize, Narrow)],
        values: &wgpu::Buffer,
        buffers: &mut Buffers,
    ) -> Result<(Batch, Vec<usize>, Vec<KernelTime>)> {
        // 1. Kernels.
        let table = frame.table(jobs);
        let encoding = Encoding::new(self, &table, values.clone(), buffers)?;
        let mut recorder = Recorder::timed(self);
        encoding.record(self, &table, &mut recorder);
        let times = recorder.submit_timed()?;
        let units = 4 * table.units as u64;
        let marks: Vec<u32> = self.download(
            buffers,
            &[(&encoding.marks, 0, units)],
            bytemuck::pod_collect_to_vec,
        )?;

        // 2. Exceptions of the units that have any.
        let (mut kept, mut lists, mut runs, mut left) =
            (Vec::new(), Vec::new(), Runs(Vec::new()), Vec::new());
        for (old, ((chunk, narrow), row)) in jobs.iter().zip(&table.rows).enumerate() {
            let marks = Marks::of(&marks, &table, row);
            let numbers: Vec<_> = marks.exceptions().collect();
            let place = |unit: usize| {
                let start = unit * UNIT;
                (start, UNIT.min(row.count as usize - start))
            };
            let parts: Vec<_> = numbers
                .iter()
                .map(|&unit| {
                    let (start, length) = place(unit);
                    (
                        values,
                        4 * (u64::from(row.first) + start as u64),
                        4 * length as u64,
                    )
                })
                .collect();
            let host: Vec<f32> = self.download(buffers, &parts, bytemuck::pod_collect_to_vec)?;
            let mut host = &host[..];
            let pieces: Vec<_> = numbers
                .iter()
                .map(|&unit| {
                    let (now, rest) = host.split_at(place(unit).1);
                    host = rest;
                    (unit, now)
                })
                .collect();
            let before = runs.0.len();
            let list = narrow.exceptions(pieces, |place, value| {
                runs.push(row.first as usize + place, value);
            });
            match list {
                Some(list) if marks.body_bytes() + list.len() < 4 * row.count as usize => {
                    kept.push((*chunk, old, marks.body_bytes()));
                    lists.push(list);
                }
                _ => {
                    runs.0.truncate(before);
                    left.push(*chunk);
                }
            }
        }

        // 3. Copy the bodies without gaps.
        let mut own = Table {
            layout: table.layout,
            ..Table::default()
        };
        let words: usize = kept.iter().map(|(_, _, size)| size.div_ceil(4)).sum();
        let units: usize = kept
            .iter()
            .map(|(_, old, _)| table.rows[*old].units as usize)
            .sum();
        let bodies = self.buffer_for(STORAGE, 4 * words as u64)?;
        let marks = self.buffer_for(STORAGE, 4 * units as u64)?;
        let offsets = self.buffer_for(STORAGE, 4 * (units + kept.len()) as u64)?;
        let mut recorder = Recorder::new(self);
        for (number, &(_, old, size)) in kept.iter().enumerate() {
            let row = &table.rows[old];
            let word = |n: usize| 4 * n as u64;
            let copy = word(size.div_ceil(4));
            recorder.copy(
                (&encoding.bodies, word(row.body as usize)),
                (&bodies, word(own.body_words)),
                copy,
            );
            recorder.copy(
                (&encoding.marks, word(row.first_unit as usize)),
                (&marks, word(own.units)),
                word(row.units as usize),
            );
            recorder.copy(
                (&encoding.offsets, word(row.first_unit as usize + old)),
                (&offsets, word(own.units + number)),
                word(row.units as usize + 1),
            );
            own.add_row(*row, size.div_ceil(4));
        }
        recorder.submit();
        let runs = match runs.0.len() {
            0 => None,
            count => {
                let bytes = bytemuck::cast_slice(&runs.0);
                let buffer = self.buffer_for(STORAGE, bytes.len() as u64)?;
                self.queue.write_buffer(&buffer, 0, bytes);
                Some((buffer, count as u32))
            }
        };
        self.add_work(kept.len(), 0);
        let batch = Batch {
            chunks: kept.iter().map(|(chunk, ..)| *chunk).collect(),
            sizes: kept.iter().map(|(.., size)| *size).collect(),
            table: own,
            bodies,
            marks,
            offsets,
            lists,
            runs,
        };
        Ok((batch, left, times))
    }
}
