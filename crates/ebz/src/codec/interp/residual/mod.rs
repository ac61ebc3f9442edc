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
use super::walk::RowsAround;
use crate::error::Result;
use crate::simd::Level as Isa;

/// Rows to decode one after the other, because contexts depend on the row before.
pub(super) struct ResidualRows<'a, T> {
    pub(super) around: RowsAround<'a, T>,
    pub(super) rows: usize,
    /// Where the magnitudes of the first row start, and the distance between rows.
    pub(super) start: usize,
    pub(super) pitch: usize,
    /// Values of a row.
    pub(super) count: usize,
    /// Those of all rows of the chunk.
    pub(super) magnitudes: &'a mut [u8],
    /// Whole segments for each row.
    pub(super) residuals: &'a mut [i16],
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
            Isa::Avx512(_) => unsafe {
                match rows.around.around.side_count {
                    0 => avx512::pull_rows::<0, T>(self, contexts.kind, rows),
                    2 => avx512::pull_rows::<2, T>(self, contexts.kind, rows),
                    4 => avx512::pull_rows::<4, T>(self, contexts.kind, rows),
                    _ => avx512::pull_rows::<6, T>(self, contexts.kind, rows),
                }
            },
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
