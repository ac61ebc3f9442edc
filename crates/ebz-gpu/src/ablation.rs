//! The ablation of the paper (figure 10) on this device: the kernels of `layout=flags` before and after its
//! optimizations.

use crate::buffers::Buffers;
use crate::device::Gpu;
use crate::encode::Encoding;
use crate::error::Result;
use crate::kernels::AblationKernels;
use crate::run::{KernelTime, Recorder};
use crate::table::{TILE_UNITS, Table};
use crate::transfer::STORAGE;
use ebz::Options;
use ebz::engine::fz::{Layout, UNIT};

/// Kernel times; empty if the device has no timestamps.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ablation {
    /// Separate outliers and codes around a radius (`pred-quant-v1`), separate shuffle and mark
    /// (`bitshuffle-mark-v1`), and the encoding of these codes (`prefix-sum-encode-v1`).
    pub before: Vec<KernelTime>,
    /// Sign-magnitude codes, fused shuffle and mark, and the encoding of these codes; plus the two kernels for
    /// exceptions, which the paper clips.
    pub after: Vec<KernelTime>,
}

impl Gpu {
    /// Times both on an array on the device; `None` if the device supports none of its chunks, or with another
    /// layout than flags.
    pub fn ablation(
        &self,
        values: &wgpu::Buffer,
        shape: &[usize],
        options: &Options,
    ) -> Result<Option<Ablation>> {
        self.guarded(|| {
            let mut buffers = Buffers::default();
            let (frame, jobs, _) = self.prepare(values, shape, options, &mut buffers)?;
            let table = frame.table(&jobs);
            if jobs.is_empty() || table.layout != Layout::Flags {
                return Ok(None);
            }
            let encoding = Encoding::new(self, &table, values.clone(), &mut buffers)?;
            let mut recorder = Recorder::timed(self);
            self.record_before(&encoding, &table, &mut recorder)?;
            let before = recorder.submit_timed()?;
            let mut recorder = Recorder::timed(self);
            encoding.record(self, &table, &mut recorder);
            let after = recorder.submit_timed()?;
            Ok(Some(Ablation { before, after }))
        })
    }

    /// Adds the kernels before the optimizations; returns the buffer of outliers.
    pub(crate) fn record_before(
        &self,
        encoding: &Encoding,
        table: &Table,
        recorder: &mut Recorder<'_>,
    ) -> Result<wgpu::Buffer> {
        let outliers = self.buffer_for(STORAGE, (4 * UNIT * table.units) as u64)?;
        let (kernels, chunks) = (AblationKernels::new(&self.device), table.rows.len() as u32);
        let units = Some(table.most(|row| row.units));
        let tiles = units.map(|units| units.div_ceil(TILE_UNITS as u32));
        recorder.kernel(
            &kernels.predict_v1,
            units,
            chunks,
            |binding| match binding {
                7 => outliers.clone(),
                other => encoding.buffer(other),
            },
        );
        for (kernel, groups) in [
            (&kernels.shuffle, tiles),
            (&kernels.mark, tiles),
            (&self.kernels.flags.sum_tiles, None),
            (&self.kernels.flags.encode_tiles, tiles),
        ] {
            encoding.record_one(kernel, groups, table, recorder);
        }
        Ok(outliers)
    }
}
