//! `raw`: uncompressed values. Also the fallback for incompressible chunks.

use super::{Codec, Context, Dims, Info, Task};
use crate::bound::BoundKind;
use crate::element::{Element, Float};
use crate::error::{Error, Result};
use crate::simd::memory;

/// The codec that stores values uncompressed.
pub struct Raw;

impl Codec for Raw {
    const INFO: Info = Info {
        id: 0,
        name: "raw",
        summary: "uncompressed values",
        tolerances: &[
            BoundKind::Abs,
            BoundKind::Pointwise,
            BoundKind::Precision,
            BoundKind::Lossless,
        ],
        params: &[],
        rewrites_exactly: Some(&[]),
    };

    fn encode<T: Float>(
        values: &[T],
        _task: &Task<'_>,
        _context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        store(values, out);
        Ok(())
    }

    fn decode<T: Float>(
        bytes: &[u8],
        _dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        load(bytes, context, out)
    }
}

/// Appends raw values.
pub(super) fn store<T: Element>(values: &[T], out: &mut Vec<u8>) {
    out.extend_from_slice(bytemuck::cast_slice(values));
}

/// Reads the output of [`store`].
pub(super) fn load<T: Element>(bytes: &[u8], context: &Context, out: &mut [T]) -> Result<()> {
    let out: &mut [u8] = bytemuck::cast_slice_mut(out);
    if bytes.len() != out.len() {
        return Err(Error::corrupt(format!(
            "raw chunk of {} bytes, expected {}",
            bytes.len(),
            out.len()
        )));
    }
    if !context.streaming {
        out.copy_from_slice(bytes);
        return Ok(());
    }
    const PIECE: usize = 4096;
    let (pieces, rest) = out.as_chunks_mut::<PIECE>();
    let (from, last) = bytes.as_chunks::<PIECE>();
    for (to, from) in pieces.iter_mut().zip(from) {
        memory::stream(context.simd(), from, to);
    }
    rest.copy_from_slice(last);
    memory::end_streaming();
    Ok(())
}
