//! Values to bytes.

use super::HEADER;
use crate::codec::{Context, Task};
use crate::element::Float;
use crate::element::word::Word;
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Estimate, Sink};
use crate::stage::exceptions::Exceptions;
use crate::stage::planes::{self, MAX_UNIT};

/// Buffers that are kept from chunk to chunk.
#[derive(Default)]
struct Scratch {
    exceptions: Exceptions,
    units: CodedUnits,
}

/// Coded units: a code for each 16-bit part of a unit, and the planes behind each other.
#[derive(Default)]
struct CodedUnits {
    level: Option<Level>,
    codes: Vec<u8>,
    /// Longer than what is in use, so that a unit can be written at the end without growing.
    planes: Vec<u8>,
    length: usize,
}

/// Bytes of units as bit planes.
#[derive(Default)]
pub(super) struct PlaneBytes(usize);

impl Estimate for PlaneBytes {
    fn samples(units: usize) -> usize {
        (units / 96).clamp(1, 8)
    }

    fn add<W: Word>(&mut self, level: Level, residuals: &[W; UNIT]) {
        let mut out = [0; MAX_UNIT];
        for part in 0..W::PARTS {
            self.0 += planes::encode(level, &residuals.map(|r| r.part(part)), &mut out).1 + 1;
        }
    }

    fn cost(&self) -> u64 {
        self.0 as u64
    }
}

impl Sink for CodedUnits {
    type Estimate = PlaneBytes;

    fn restart(&mut self) {
        self.codes.clear();
        self.length = 0;
    }

    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]) {
        let level = self.level.unwrap_or(Level::Portable);
        for part in 0..W::PARTS {
            let end = self.length + MAX_UNIT;
            if self.planes.len() < end {
                self.planes.resize(end * 2, 0);
            }
            let Some(out) = self.planes[self.length..].first_chunk_mut() else {
                return;
            };
            let (code, length) = match bytemuck::try_cast_ref(residuals) {
                Ok(unit) => planes::encode(level, unit, out),
                Err(_) => planes::encode(level, &residuals.map(|r| r.part(part)), out),
            };
            self.codes.push(code);
            self.length += length;
        }
    }
}

/// Appends the coded chunk.
pub(super) fn encode<T: Float>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) {
    let mut scratch = context.take::<Scratch>();
    let Scratch { exceptions, units } = &mut *scratch;
    units.level = Some(context.simd());

    // 1. Quantize and predict. 2. Bit planes of every unit.
    let plan = dualquant::forward(values, task, context, exceptions, units);

    // 3. Header, codes, planes, exceptions.
    out.reserve(HEADER + units.codes.len() + units.length);
    plan.write_to(out);
    out.extend_from_slice(&(units.length as u32).to_le_bytes());
    out.extend_from_slice(&units.codes);
    out.extend_from_slice(&units.planes[..units.length]);
    exceptions.write_to::<T>(out);
    context.put_back(scratch);
}
