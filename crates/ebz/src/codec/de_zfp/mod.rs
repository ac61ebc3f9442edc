//! `de-zfp`: zfp's transform, with planes written by the dictionary of DE-ZFP.
//!
//! M. Habboush, A. El-Maleh, M. Elrabaa, S. AlSaleh: DE-ZFP: An FPGA implementation of a modified
//! ZFP compression/decompression algorithm. Section 3.4 and Figure 8 define the code.

mod dictionary;

use super::{Codec, Context, Dims, Info, Task};
use crate::bound::BoundKind;
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::stage::block_transform;
use dictionary::Dictionary;

/// Dictionary-coded bit planes of zfp's transform.
pub struct DeZfp;

impl Codec for DeZfp {
    const INFO: Info = Info {
        id: 3,
        name: "de-zfp",
        summary: "zfp's block transform, bit planes in a dictionary code; for smooth and wave-like fields",
        tolerances: &[BoundKind::Abs, BoundKind::Precision],
        params: &[],
    };

    fn encode<T: Element>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        use bytemuck::cast_slice;
        match T::TYPE {
            ElementType::F32 => {
                block_transform::encode::<f32, Dictionary>(cast_slice(values), task, context, out)
            }
            ElementType::F64 => {
                block_transform::encode::<f64, Dictionary>(cast_slice(values), task, context, out)
            }
        }
    }

    fn decode<T: Element>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        use bytemuck::cast_slice_mut;
        match T::TYPE {
            ElementType::F32 => block_transform::decode::<f32, Dictionary>(
                bytes,
                dims,
                context,
                cast_slice_mut(out),
            ),
            ElementType::F64 => block_transform::decode::<f64, Dictionary>(
                bytes,
                dims,
                context,
                cast_slice_mut(out),
            ),
        }
    }
}
