//! `de-zfp`: zfp's transform, with planes written by the dictionary of DE-ZFP.
//!
//! M. Habboush, A. El-Maleh, M. Elrabaa, S. AlSaleh: DE-ZFP: An FPGA implementation of a modified
//! ZFP compression/decompression algorithm. Section 3.4 and Figure 8 define the code.

mod dictionary;

use super::{Codec, Context, Dims, Info, Params, Task};
use crate::bound::BoundKind;
use crate::element::Element;
use crate::error::Result;
use crate::stage::block_transform;
use dictionary::Dictionary;

/// Default bytes per segment.
const SEGMENT: u32 = 65536;

/// Dictionary-coded bit planes of zfp's transform.
pub struct DeZfp;

impl Codec for DeZfp {
    const INFO: Info = Info {
        id: 3,
        name: "de-zfp",
        summary: "zfp's block transform, bit planes in a dictionary code; for smooth and wave-like fields",
        tolerances: &[BoundKind::Abs, BoundKind::Precision],
        params: &[block_transform::segment_param("65536")],
        rewrites_exactly: None,
    };

    fn validate(params: &Params) -> Result<()> {
        block_transform::segment_size(params, SEGMENT).map(|_| ())
    }

    fn encode<T: Element>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let segment = block_transform::segment_size(task.params, SEGMENT)?;
        block_transform::encode::<T, Dictionary>(values, task, segment, context, out)
    }

    fn decode<T: Element>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        block_transform::decode::<T, Dictionary>(bytes, dims, context, out)
    }
}
