//! Arrays and compressed frames in device memory.
//!
//! The CPU encodes chunks that the kernels do not support and keeps their bodies in host memory: frames are
//! always complete, with the same bodies as on the CPU.

use crate::buffers::Buffers;
use crate::decode::Decoding;
use crate::device::Gpu;
use crate::encode::{Encoding, Marks};
use crate::error::{GpuError, Result};
use crate::run::{KernelTime, Recorder};
use crate::table::{Row, Table};
use crate::transfer::STORAGE;
use ebz::engine::Context;
use ebz::engine::fz::Task;
use ebz::engine::fz::{Narrow, UNIT, sampled_places};
use ebz::engine::{Body, Cpu, EncodedChunks, Engine, Form, Target, Values};
use ebz::slab::FramePlan;
use ebz::{Bound, Fill, FiniteRange, Options};

/// Workgroups per chunk that compute its range.
const RANGE_GROUPS: u32 = 64;

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

/// A planned frame, the chunks for the kernels, and those for the CPU.
pub(crate) type Prepared = (DeviceFrame, Vec<(usize, Narrow)>, Vec<usize>);

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

impl Gpu {
    /// Compresses an array of `f32` in a buffer of this device with usages `STORAGE` and `COPY_SRC`.
    ///
    /// With `range`, fill values must be given ([`Fill::None`] or values): detecting them takes more than a
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

    fn compress_guarded(
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

    /// Decompresses a frame to a buffer of the same device with usages `STORAGE` and `COPY_DST`.
    pub fn decompress_buffer(&self, frame: &DeviceFrame, out: &wgpu::Buffer) -> Result<()> {
        self.guarded(|| self.decompress_guarded(frame, out).map(|_| ()))
    }

    fn decompress_guarded(
        &self,
        frame: &DeviceFrame,
        out: &wgpu::Buffer,
    ) -> Result<Vec<KernelTime>> {
        let count = *frame.firsts.last().unwrap_or(&0);
        if out.size() < 4 * count as u64 {
            return Err(GpuError::Input(
                "the buffer is smaller than the array".into(),
            ));
        }
        let mut buffers = Buffers::default();
        let mut times = Vec::new();
        for batch in &frame.batches {
            let inputs = (
                batch.bodies.clone(),
                batch.marks.clone(),
                batch.offsets.clone(),
            );
            let decoding = Decoding::new(self, &batch.table, inputs, out.clone(), &mut buffers)?;
            let mut recorder = Recorder::timed(self);
            decoding.record(self, &batch.table, &mut recorder);
            if let Some((runs, count)) = &batch.runs {
                let buffer = |binding| {
                    if binding == 1 {
                        runs.clone()
                    } else {
                        out.clone()
                    }
                };
                recorder.kernel(&self.kernels.scatter, Some(*count), 1, buffer);
            }
            times.extend(recorder.submit_timed()?);
            self.add_work(0, batch.chunks.len());
        }
        for (chunk, body) in &frame.others {
            let mut values = vec![0f32; frame.plan.dims(*chunk).len()];
            for body in body.bodies() {
                let bytes = bytemuck::cast_slice_mut(&mut values);
                let mut target = [Target {
                    chunk: *chunk,
                    body,
                    out: bytes,
                }];
                Cpu.decode(&frame.plan, &mut target, &mut Context::default())?;
            }
            let at = 4 * frame.firsts[*chunk] as u64;
            self.queue
                .write_buffer(out, at, bytemuck::cast_slice(&values));
        }
        self.queue.submit([]);
        self.wait()?;
        Ok(times)
    }

    /// The bodies of a frame in chunk order: identical to those of the CPU.
    pub fn bodies(&self, frame: &DeviceFrame) -> Result<EncodedChunks> {
        let mut bodies: Vec<(usize, Form, Vec<u8>)> = Vec::new();
        for batch in &frame.batches {
            for (i, (&chunk, row)) in batch.chunks.iter().zip(&batch.table.rows).enumerate() {
                let part = (
                    &batch.bodies,
                    4 * u64::from(row.body),
                    batch.sizes[i].next_multiple_of(4) as u64,
                );
                let mut bytes = self
                    .guarded(|| self.download(&mut Buffers::default(), &[part], <[u8]>::to_vec))?;
                bytes.truncate(batch.sizes[i]);
                bytes.extend_from_slice(&batch.lists[i]);
                bodies.push((chunk, Form::Coded, bytes));
            }
        }
        for (chunk, body) in &frame.others {
            bodies.extend(body.bodies().map(|b| (*chunk, b.form, b.bytes.to_vec())));
        }
        bodies.sort_by_key(|(chunk, ..)| *chunk);
        let mut all = EncodedChunks::default();
        for (_, form, bytes) in &bodies {
            all.push(Body { form: *form, bytes });
        }
        Ok(all)
    }

    /// Ranges of parts of an array.
    fn ranges(
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
struct Range {
    is_constant: bool,
    finite: FiniteRange,
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

impl Table {
    /// Adds a part of an array whose range is to be computed.
    fn add_range(&mut self, first: usize, count: usize, fill: &Fill) {
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
