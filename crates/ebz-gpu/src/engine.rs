//! The GPU as an engine: batches of chunks in host memory.

use crate::buffers::{Buffers, Role};
use crate::decode::Decoding;
use crate::device::Gpu;
use crate::encode::{Encoding, Marks, unit_of};
use crate::error::{GpuError, Result};
use crate::run::Recorder;
use crate::table::Table;
use ebz::engine::Context;
use ebz::engine::fz::{Coded, Layout, Narrow};
use ebz::engine::{Body, Cpu, EncodedChunks, Engine, Form, Target, Values};
use ebz::slab::FramePlan;
use ebz::{ElementType, FoundFill, Tolerance};

/// Raw bytes per batch: large enough to keep a device busy, small enough for the transfers and kernels of
/// several batches to overlap.
const BATCH_BYTES: usize = 32 << 20;

/// Minimum row length: the device sums up one column per thread, and shorter rows give too few threads.
const MIN_COLUMNS: usize = 16;

/// A chunk for the device.
struct Job<'a> {
    /// Its index in the batch.
    number: usize,
    values: &'a [f32],
    narrow: Narrow,
    found: FoundFill,
}

/// The device's output for a chunk: planes and side list.
struct Done {
    body: Vec<u8>,
    found: FoundFill,
}

impl Engine for Gpu {
    fn batch(&self, plan: &FramePlan) -> usize {
        let header = plan.header();
        let chunk = header.raw_bytes() / plan.chunks().max(1);
        let room = BATCH_BYTES.min(self.most_bytes() as usize);
        match self.takes(plan) {
            true => (room / chunk.max(1)).clamp(1, 1024),
            false => Cpu.batch(plan),
        }
    }

    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> ebz::Result<()> {
        let done = match self.takes(plan) {
            true => self.encode_some(plan, chunks, context)?,
            false => Vec::new(),
        };
        let mut done = done.into_iter().peekable();
        for (number, chunk) in chunks.iter().enumerate() {
            match done.next_if(|(of, _)| *of == number) {
                Some((_, done)) => {
                    // As on the CPU: bodies that are not smaller than the values are stored raw.
                    let body = match done.body.len() < chunk.bytes.len() {
                        true => Body {
                            form: Form::Coded,
                            bytes: &done.body,
                        },
                        false => Body {
                            form: Form::Raw,
                            bytes: chunk.bytes,
                        },
                    };
                    out.push_found(body, done.found);
                }
                None => Cpu.encode(plan, &[*chunk], context, out)?,
            }
        }
        Ok(())
    }

    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> ebz::Result<()> {
        for chunk in chunks {
            let done = self.takes(plan)
                && chunk.body.form == Form::Coded
                && self.decode_one(plan, chunk)?;
            if !done {
                Cpu.decode(plan, std::slice::from_mut(chunk), context)?;
            }
        }
        Ok(())
    }
}

impl Gpu {
    /// Whether the device supports chunks of this frame, at least some of them.
    fn takes(&self, plan: &FramePlan) -> bool {
        let header = plan.header();
        let why = if !ebz::codec::by_id(header.codec).is_ok_and(|codec| codec.info.name == "fz") {
            "another codec than fz"
        } else if header.element != ElementType::F32 {
            "another element type than f32"
        } else if !matches!(header.tolerance, Tolerance::Abs(_)) {
            "another bound than abs and range"
        } else {
            return !self.has_failed();
        };
        self.notice(format!("{why}: done by the CPU"));
        false
    }

    /// Encodes the chunks that the device supports; returns each with its index, in order.
    fn encode_some(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
    ) -> ebz::Result<Vec<(usize, Done)>> {
        let mut jobs = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            let Some((task, found)) = plan.task(*chunk, context)? else {
                continue;
            };
            let Ok(values) = bytemuck::try_cast_slice(chunk.bytes) else {
                continue;
            };
            match Narrow::choose(values, &task, context.simd()) {
                Some(narrow) => jobs.push(Job {
                    number,
                    values,
                    narrow,
                    found,
                }),
                None => self.notice("chunks that need more than 16 bits: done by the CPU".into()),
            }
        }
        let mut done = Vec::new();
        let mut rest = &jobs[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.fitting(rest));
            rest = later;
            match self.with_buffers(|buffers| self.encode_batch(now, buffers)) {
                Ok(bodies) => done.extend(bodies),
                Err(error) => self.notice(format!("{error}: done by the CPU")),
            }
        }
        Ok(done)
    }

    /// How many of these jobs fit the buffers of a batch; at least one.
    fn fitting(&self, jobs: &[Job<'_>]) -> usize {
        let mut bytes = 0;
        let fits = |job: &&Job<'_>| {
            bytes += size_of_val(job.values) as u64 + 64;
            bytes <= self.most_bytes()
        };
        jobs.iter().take_while(fits).count().max(1)
    }

    fn encode_batch(&self, jobs: &[Job<'_>], buffers: &mut Buffers) -> Result<Vec<(usize, Done)>> {
        // 1. Upload the values, run the kernels.
        let mut table = Table::default();
        for job in jobs {
            table.add_values(&job.narrow);
        }
        let values = buffers.get(self, Role::Values, 4 * table.values as u64)?;
        for (job, row) in jobs.iter().zip(&table.rows) {
            let bytes = bytemuck::cast_slice(job.values);
            self.queue
                .write_buffer(&values, 4 * u64::from(row.first), bytes);
        }
        let encoding = Encoding::new(self, &table, values, buffers)?;
        let mut recorder = Recorder::new(self);
        encoding.record(self, &table, &mut recorder);
        recorder.submit();

        // 2. Download the units' results.
        let marks: Vec<u32> = self.download(
            buffers,
            &[(&encoding.marks, 0, 4 * table.units as u64)],
            bytemuck::pod_collect_to_vec,
        )?;

        // 3. Download bodies that are smaller than their values, without the gaps between them.
        let sizes: Vec<_> = table
            .rows
            .iter()
            .map(|row| Marks::of(&marks, &table, row).body_bytes())
            .collect();
        let fits = |(row, size): (&crate::table::Row, usize)| size <= 4 * row.body_words as usize;
        let parts: Vec<_> = table
            .rows
            .iter()
            .zip(&sizes)
            .map(|(row, &size)| match fits((row, size)) {
                true => (
                    &encoding.bodies,
                    4 * u64::from(row.body),
                    size.next_multiple_of(4) as u64,
                ),
                false => (&encoding.bodies, 0, 0),
            })
            .collect();
        let bodies = self.download(buffers, &parts, |mut bytes| {
            let mut bodies = Vec::new();
            for (part, &size) in parts.iter().zip(&sizes) {
                let (body, rest) = bytes.split_at(part.2 as usize);
                bodies.push(body[..size.min(body.len())].to_vec());
                bytes = rest;
            }
            bodies
        })?;

        // 4. Exceptions.
        let mut done = Vec::new();
        for ((job, row), (mut body, size)) in jobs
            .iter()
            .zip(&table.rows)
            .zip(bodies.into_iter().zip(sizes))
        {
            let units = Marks::of(&marks, &table, row).exceptions();
            let units = units.map(|unit| (unit, unit_of(job.values, unit)));
            match job.narrow.exceptions(units, |_, _| ()) {
                Some(list) => {
                    // Chunks that do not shrink are stored raw, whatever the device's bytes.
                    body.resize(size, 0);
                    body.extend_from_slice(&list);
                    let found = job.found;
                    done.push((job.number, Done { body, found }));
                }
                None => self.notice("chunks with many exceptions: done by the CPU".into()),
            }
        }
        self.add_work(done.len(), 0);
        Ok(done)
    }

    /// Decodes a chunk; false if the device does not support it.
    fn decode_one(&self, plan: &FramePlan, chunk: &mut Target<'_>) -> ebz::Result<bool> {
        let dims = plan.dims(chunk.chunk);
        let Some(coded) = Coded::new(chunk.body.bytes, dims.len())? else {
            self.notice("chunks of more than 16 bits: done by the CPU".into());
            return Ok(false);
        };
        if coded.lags & 2 != 0 && dims.nx < MIN_COLUMNS {
            self.notice("chunks of short rows: decoded by the CPU".into());
            return Ok(false);
        }
        let Ok(out) = bytemuck::try_cast_slice_mut(chunk.out) else {
            return Ok(false);
        };
        let body = chunk.body.bytes;
        match self.with_buffers(|buffers| self.decode_body(&coded, dims, body, out, buffers)) {
            Ok(()) => {
                self.add_work(0, 1);
                coded.restore_exceptions(out).map(|()| true)
            }
            Err(error) => {
                self.notice(format!("{error}: done by the CPU"));
                Ok(false)
            }
        }
    }

    fn decode_body(
        &self,
        coded: &Coded<'_>,
        dims: ebz::engine::fz::Dims,
        body: &[u8],
        out: &mut [f32],
        buffers: &mut Buffers,
    ) -> Result<()> {
        // 1. Upload header, codes and planes.
        let length = body.len() - coded.list_bytes();
        let mut table = Table::default();
        table.add_body(coded, dims, length);
        if out.len() != dims.len() {
            return Err(GpuError::Input(
                "the buffer does not have the size of the chunk".into(),
            ));
        }
        let units = table.units as u64;
        let bodies = buffers.get(self, Role::Bodies, 4 * table.body_words as u64)?;
        let whole = length / 4 * 4;
        self.queue.write_buffer(&bodies, 0, &body[..whole]);
        if whole < length {
            let mut last = [0; 4];
            last[..length - whole].copy_from_slice(&body[whole..length]);
            self.queue.write_buffer(&bodies, whole as u64, &last);
        }
        let marks = buffers.get(self, Role::Marks, 4 * units)?;
        if coded.layout == Layout::Planes {
            let codes: Vec<u32> = coded.codes.iter().map(|&code| code.into()).collect();
            self.queue
                .write_buffer(&marks, 0, bytemuck::cast_slice(&codes));
        }
        let offsets = buffers.get(self, Role::Offsets, 4 * (units + 1))?;
        let mut starts = coded.starts.clone();
        starts.push(coded.planes.len() as u32);
        self.queue
            .write_buffer(&offsets, 0, bytemuck::cast_slice(&starts));

        // 2. Run the kernels. 3. Download the values.
        let values = buffers.get(self, Role::Values, size_of_val(out) as u64)?;
        let inputs = (bodies, marks, offsets);
        let decoding = Decoding::new(self, &table, inputs, values, buffers)?;
        let mut recorder = Recorder::new(self);
        decoding.record(self, &table, &mut recorder);
        recorder.submit();
        let bytes = size_of_val(out) as u64;
        self.download(buffers, &[(&decoding.values, 0, bytes)], |bytes| {
            bytemuck::cast_slice_mut::<f32, u8>(out).copy_from_slice(bytes);
        })
    }
}
