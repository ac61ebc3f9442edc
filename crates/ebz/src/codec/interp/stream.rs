//! The streams of an encoded chunk.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | mode in the low 3 bits, axis order in the high 5 |
//! | 1 | Lorenzo: axes of the predictor |
//! | 8 | bound, f64 |
//! | framed | predictors, 5 bits each |
//! | framed ×2 | escapes: those that predictions use, excluded ones |
//! | framed ×3, rest | residuals: gaps, low bits, extra bits, entropy coder |
//!
//! Framed: length as a LEB128 integer, then the bytes.

use super::escape::{EscapeReader, EscapeWriter};
use super::number::Number;
use super::residual;
use crate::bits::varint;
use crate::bits::{BitReader, BitWriter};
use crate::error::Result;
use crate::simd::Level as Isa;

/// Output of the row encoder.
#[derive(Default)]
pub(super) struct StreamWriter {
    pub(super) predictors: BitWriter,
    pub(super) escapes: EscapeWriter,
    pub(super) residuals: residual::Encoder,
    /// Values so far.
    pub(super) position: usize,
}

impl StreamWriter {
    /// Removes everything but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.predictors.clear();
        self.escapes.clear();
        self.residuals.clear();
        self.position = 0;
    }

    /// Estimated size in bits so far, without the fixed cost of a chunk.
    pub(super) fn estimate(&mut self) -> u64 {
        8 * self.escapes.bytes() as u64 + self.residuals.estimate()
    }

    /// Appends all streams to `out`.
    pub(super) fn finish<T: Number>(&mut self, isa: Isa, out: &mut Vec<u8>) {
        varint::write_block(self.predictors.finish(), out);
        self.escapes.write_to::<T>(out);
        self.residuals.finish(isa, out);
    }
}

/// Input of the row decoder.
pub(super) struct StreamReader<'a, T> {
    pub(super) predictors: BitReader<'a>,
    pub(super) escapes: EscapeReader<'a, T>,
    pub(super) residuals: residual::Decoder<'a>,
    /// Values so far.
    pub(super) position: usize,
}

impl<'a, T: Number> StreamReader<'a, T> {
    pub(super) fn new(
        isa: Isa,
        mut bytes: &'a [u8],
        count: usize,
        memory: &'a mut residual::Memory,
    ) -> Result<Self> {
        let predictors = BitReader::new(varint::read_block(&mut bytes)?);
        Ok(Self {
            predictors,
            escapes: EscapeReader::new(&mut bytes, count)?,
            residuals: residual::Decoder::new(isa, memory, bytes)?,
            position: 0,
        })
    }

    pub(super) fn finish(&self) -> Result<()> {
        self.predictors.finish()?;
        self.residuals.finish()
    }
}
