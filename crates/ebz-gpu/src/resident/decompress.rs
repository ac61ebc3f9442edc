//! Decompression of a frame on the device.

use super::DeviceFrame;
use crate::buffers::Buffers;
use crate::decode::Decoding;
use crate::device::Gpu;
use crate::error::{GpuError, Result};
use crate::run::{KernelTime, Recorder};
use ebz::engine::{Body, Context, Cpu, EncodedChunks, Engine, Form, Target};

impl Gpu {
    /// Decompresses a frame to a buffer of the same device with usages `STORAGE` and `COPY_DST`.
    pub fn decompress_buffer(&self, frame: &DeviceFrame, out: &wgpu::Buffer) -> Result<()> {
        self.guarded(|| self.decompress_guarded(frame, out).map(|_| ()))
    }

    pub(super) fn decompress_guarded(
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
}
