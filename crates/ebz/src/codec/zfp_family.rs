//! Codecs that share zfp's block transform and differ in the encoding of bit planes.

use super::{Codec, Context, Dims, Info, Param, Params, Task};
use crate::bound::BoundKind;
use crate::element::Float;
use crate::error::{Error, Result};
use crate::stage::block_transform::{self, PlaneCode, Scratch, Settings};
use std::marker::PhantomData;

/// The codec with this plane code.
pub struct ZfpFamily<C>(PhantomData<C>);

/// A codec of the family.
pub trait Member: PlaneCode {
    /// See [`Codec::INFO`].
    const INFO: Info;
    /// Default size of a segment in bytes.
    const SEGMENT: u32;
    /// Index of the requested variant of the plane code.
    fn code(params: &Params) -> Result<u8>;
}

/// The tolerances of the family.
pub const TOLERANCES: &[BoundKind] = &[BoundKind::Abs, BoundKind::Precision];

/// The parameter that sets the size of segments.
pub const fn segment_param(default: &'static str) -> Param {
    Param {
        name: "segment",
        default,
        help: "bytes per segment, which can be decoded without the others; 1024 to 2^30",
    }
}

/// Rules for the number of planes, default first.
const PLANES: [&str; 2] = ["fewest", "formula"];

/// The parameter that sets the rule for the number of planes.
pub const PLANES_PARAM: Param = Param {
    name: "planes",
    default: PLANES[0],
    help: "the fewest that satisfy the bound, or zfp's formula for a tolerance, as in the papers; blocks \
           that then violate the bound are stored exactly",
};

/// Layouts, default first.
const LAYOUTS: [&str; 2] = ["blocks", "coefficients"];

/// The parameter that sets the layout.
pub const LAYOUT_PARAM: Param = Param {
    name: "layout",
    default: LAYOUTS[0],
    help: "blocks, as in the papers, or coefficients: one coefficient of many blocks together, which is up to \
           twice as fast; for abs and range, others use blocks",
};

/// The requested size of segments.
fn segment_size<C: Member>(params: &Params) -> Result<u32> {
    let size = params.parse("segment", C::SEGMENT)?;
    if (1 << 10..=1 << 30).contains(&size) {
        Ok(size)
    } else {
        Err(Error::invalid(format!(
            "segment={size}: use 1024 to 1073741824 bytes"
        )))
    }
}

impl<C: Member> Codec for ZfpFamily<C> {
    const INFO: Info = C::INFO;

    fn validate(params: &Params) -> Result<()> {
        params.choice("planes", &PLANES)?;
        params.choice("layout", &LAYOUTS)?;
        C::code(params)?;
        segment_size::<C>(params).map(|_| ())
    }

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let settings = Settings {
            dims: task.dims,
            tolerance: task.tolerance,
            fill: task.fill,
            planes_by_formula: task.params.choice("planes", &PLANES)? == PLANES[1],
            by_coefficient: task.params.choice("layout", &LAYOUTS)? == LAYOUTS[1],
            code: C::code(task.params)?,
            segment: segment_size::<C>(task.params)?,
            simd: context.simd(),
        };
        let mut scratch = context.take::<Scratch>();
        let result = block_transform::encode::<T, C>(values, &settings, &mut scratch, out);
        context.put_back(scratch);
        result
    }

    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        block_transform::decode::<T, C>(bytes, dims, context.simd(), out)
    }
}
