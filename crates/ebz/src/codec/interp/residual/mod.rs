//! Coding of rows of residuals.
//!
//! Input: 16-bit residuals in segments of 32 lanes, and their contexts. Output: three streams.
//!
//! * gaps: segments with only zeros around them are mostly zero, and are counted rather than coded;
//! * low bits: those of residuals with large neighbours, raw;
//! * symbols with their extra bits: the rest, through [`crate::stage::rans`].

#[cfg(target_arch = "x86_64")]
mod avx512;
mod decode;
mod encode;
mod segment;

pub(super) use decode::{Decoder, Memory, ResidualRow};
pub(super) use encode::Encoder;

use super::context::{Contexts, classify};
use super::geometry::lanes;
use super::number::Number;
use super::quantize::Prediction;
use super::walk::RowsAround;
use crate::error::Result;
use crate::simd::Level as Isa;

/// Rows to encode or decode one after the other, because contexts depend on the row before.
pub(super) struct ResidualRows<'a, T> {
    around: RowsAround<'a, T>,
    rows: usize,
    /// Where the magnitudes of the first row start, and the distance between rows.
    start: usize,
    pitch: usize,
    /// Values of a row.
    count: usize,
    /// Those of all rows of the chunk.
    magnitudes: &'a mut [u8],
    /// Whole segments for each row.
    residuals: &'a mut [i16],
}

impl<'a, T> ResidualRows<'a, T> {
    pub(super) fn new(
        around: RowsAround<'a, T>,
        prediction: &Prediction<T>,
        magnitudes: &'a mut [u8],
        residuals: &'a mut [i16],
    ) -> Self {
        Self {
            around,
            rows: prediction.rows,
            start: prediction.start,
            pitch: prediction.pitch,
            count: prediction.count,
            magnitudes,
            residuals,
        }
    }
}

/// Calls the kernel compiled for the number of sides.
#[cfg(target_arch = "x86_64")]
macro_rules! for_sides {
    ($kernel:ident($coder:ident, $contexts:ident, $rows:ident)) => {
        match $rows.around.around.side_count {
            0 => avx512::$kernel::<0, T>($coder, $contexts.kind, $rows),
            2 => avx512::$kernel::<2, T>($coder, $contexts.kind, $rows),
            4 => avx512::$kernel::<4, T>($coder, $contexts.kind, $rows),
            _ => avx512::$kernel::<6, T>($coder, $contexts.kind, $rows),
        }
    };
}

impl Encoder {
    /// Appends the next rows; `contexts` is scratch memory for one, of the right kind.
    pub(super) fn push_rows<T: Number>(
        &mut self,
        isa: Isa,
        contexts: &mut Contexts,
        mut rows: ResidualRows<'_, T>,
    ) {
        match isa {
            // SAFETY: a level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => unsafe { for_sides!(push_rows(self, contexts, rows)) },
            _ => {
                let residuals = rows.residuals.chunks_exact(lanes(rows.count));
                for residuals in residuals.take(rows.rows) {
                    let around = rows.around.next_row();
                    classify(isa, rows.magnitudes, around, rows.count, contexts);
                    self.push(isa, contexts, residuals);
                }
            }
        }
    }
}

impl Decoder<'_> {
    /// Decodes the next rows; `contexts` is scratch memory for one, of the right kind.
    pub(super) fn pull_rows<T: Number>(
        &mut self,
        isa: Isa,
        contexts: &mut Contexts,
        mut rows: ResidualRows<'_, T>,
    ) -> Result<()> {
        match isa {
            // SAFETY: a level exists only where the machine has its instructions.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => unsafe { for_sides!(pull_rows(self, contexts, rows)) },
            _ => {
                let width = lanes(rows.count);
                let mut start = rows.start;
                let residuals = rows.residuals.chunks_exact_mut(width);
                for residuals in residuals.take(rows.rows) {
                    let around = rows.around.next_row();
                    classify(isa, rows.magnitudes, around, rows.count, contexts);
                    let magnitudes = &mut rows.magnitudes[start..start + width];
                    let row = ResidualRow {
                        residuals,
                        magnitudes,
                    };
                    self.pull(isa, contexts, row)?;
                    start += rows.pitch;
                }
                Ok(())
            }
        }
    }
}
