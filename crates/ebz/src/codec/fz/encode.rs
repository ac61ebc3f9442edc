//! Encoder of a chunk.

use super::{Layout, header};
use crate::codec::{Context, Task};
use crate::element::Float;
use crate::element::word::Word;
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Estimate, Sink};
use crate::stage::exceptions::Exceptions;
use crate::stage::fused::{self, Source};
use crate::stage::planes::{self, MAX_UNIT};
use crate::stage::quantize::PointRange;

/// Bytes by which the output grows at a time: small enough to be cleared within the L1 cache.
const ROOM: usize = 8 << 10;

/// Writes units directly to the output: a code for each 16-bit part of a unit, and the concatenated
/// planes.
struct CodedUnits<'a> {
    level: Level,
    out: &'a mut Vec<u8>,
    /// Offset of the chunk.
    start: usize,
    /// Offsets of the next code and of the next planes.
    code: usize,
    planes: usize,
}

/// Size of units as bit planes, in bytes.
#[derive(Default)]
pub(super) struct PlaneBytes(usize);

impl Estimate for PlaneBytes {
    fn samples(units: usize) -> usize {
        (units / 96).clamp(1, 8)
    }

    fn add<W: Word>(&mut self, level: Level, residuals: &[W; UNIT]) {
        for part in 0..W::PARTS {
            self.0 += 1 + match bytemuck::try_cast_ref(residuals) {
                Ok(unit) => planes::encoded_length(level, unit),
                Err(_) => planes::encoded_length(level, &residuals.map(|r| r.part(part))),
            };
        }
    }

    fn cost(&self) -> u64 {
        self.0 as u64
    }
}

impl Sink for CodedUnits<'_> {
    type Estimate = PlaneBytes;

    fn restart<W: Word>(&mut self, units: usize) {
        self.code = self.start + header::SIZE;
        self.planes = self.code + units * W::PARTS;
        self.out.resize(self.planes, 0);
    }

    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]) {
        for part in 0..W::PARTS {
            if self.out.len() < self.planes + MAX_UNIT {
                self.out.resize(self.planes + ROOM, 0);
            }
            let Some(out) = self.out[self.planes..].first_chunk_mut() else {
                return;
            };
            let (code, length) = match bytemuck::try_cast_ref(residuals) {
                Ok(unit) => planes::encode(self.level, unit, out),
                Err(_) => planes::encode(self.level, &residuals.map(|r| r.part(part)), out),
            };
            self.out[self.code] = code;
            self.code += 1;
            self.planes += length;
        }
    }

    fn fused<T: Float>(
        &mut self,
        source: Source<'_, T>,
        context: &mut Context,
    ) -> Option<Option<PointRange>> {
        let mut scratch = context.take::<fused::Scratch>();
        let units = self.planes - self.code;
        let done = fused::encode(context, source, units, &mut scratch, self.out);
        if let Some(Some(_)) = done {
            self.out[self.code..self.planes].copy_from_slice(&scratch.codes);
            (self.code, self.planes) = (self.planes, self.out.len());
        }
        context.put_back(scratch);
        done
    }
}

/// Appends the encoded chunk.
pub(super) fn encode<T: Float>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) {
    let mut exceptions = context.take::<Exceptions>();
    let start = out.len();
    let mut units = CodedUnits {
        level: context.simd(),
        out,
        start,
        code: start,
        planes: start,
    };

    // 1. Quantize and predict. 2. Bit planes of every unit.
    let plan = dualquant::forward(values, task, context, &mut exceptions, &mut units);

    // 3. Header, codes, planes, exceptions.
    let CodedUnits { code, planes, .. } = units;
    out.truncate(planes);
    header::write(Layout::Planes, &plan, planes - code, &mut out[start..]);
    exceptions.write_to::<T>(out);
    context.put_back(exceptions);
}
