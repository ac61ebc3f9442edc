//! The streams of an encoded chunk.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | mode in the low 3 bits, axis order in the high 5 |
//! | 1 | Lorenzo: axes of the predictor |
//! | 8 | bound, f64 |
//! | framed | predictors, 5 bits each |
//! | framed, framed | escapes: runs, values |
//! | framed ×3, rest | residuals: gaps, low bits, extra bits, entropy coder |
//!
//! Framed: length as a LEB128 integer, then the bytes.

use super::real::Real;
use super::{escape, residual};
use crate::bits::varint;
use crate::bits::{BitReader, BitWriter};
use crate::error::Result;
use crate::simd::Level as Isa;

/// Output of the row encoder.
#[derive(Default)]
pub(super) struct StreamWriter {
    pub(super) predictors: BitWriter,
    pub(super) escapes: escape::Writer,
    pub(super) residuals: residual::Encoder,
    /// Values so far.
    pub(super) position: u32,
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
    pub(super) fn estimate<T: Real>(&mut self) -> u64 {
        let (runs, words) = self.escapes.finish::<T>(self.position);
        8 * (runs.len() + words.len()) as u64 + self.residuals.estimate()
    }

    /// Appends all streams to `out`.
    pub(super) fn finish<T: Real>(&mut self, isa: Isa, out: &mut Vec<u8>) {
        varint::write_block(self.predictors.finish(), out);
        let (runs, words) = self.escapes.finish::<T>(self.position);
        varint::write_block(runs, out);
        varint::write_block(words, out);
        self.residuals.finish(isa, out);
    }
}

/// Input of the row decoder.
pub(super) struct StreamReader<'a> {
    pub(super) predictors: BitReader<'a>,
    pub(super) escapes: escape::Reader<'a>,
    pub(super) residuals: residual::Decoder<'a>,
    /// Values so far.
    pub(super) position: u32,
}

impl<'a> StreamReader<'a> {
    pub(super) fn new(
        isa: Isa,
        mut bytes: &'a [u8],
        count: u32,
        memory: &'a mut residual::Memory,
    ) -> Result<Self> {
        let predictors = BitReader::new(varint::read_block(&mut bytes)?);
        let runs = varint::read_block(&mut bytes)?;
        let words = varint::read_block(&mut bytes)?;
        Ok(Self {
            predictors,
            escapes: escape::Reader::new(runs, words, count)?,
            residuals: residual::Decoder::new(isa, memory, bytes)?,
            position: 0,
        })
    }

    pub(super) fn finish(&self) -> Result<()> {
        self.predictors.finish()?;
        self.escapes.finish()?;
        self.residuals.finish()
    }
}
