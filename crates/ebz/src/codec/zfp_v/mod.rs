//! `zfp-v`: zfp's transform, with planes written behind headers that are known before them.
//!
//! G. Sun, S. Kang, S.-W. Jun: BurstZ+: Eliminating the communication bottleneck of scientific
//! computing accelerators via accelerated compression. Section 4.1 defines ZFP-V2 for two axes and
//! ZFP-V1 for one; three axes are an extension of ZFP-V2.

mod headers;
mod regions;

use super::{Codec, Context, Dims, Info, Params, Task};
use crate::bound::BoundKind;
use crate::element::Element;
use crate::error::Result;
use crate::stage::block_transform::{self, BitReader, BitWriter, PlaneCode, Planes, STREAMS};

/// Default bytes per segment: the paper's chunks (4.1.4).
const SEGMENT: u32 = 6144;

/// Header-coded bit planes of zfp's transform.
pub struct ZfpV;

impl Codec for ZfpV {
    const INFO: Info = Info {
        id: 4,
        name: "zfp-v",
        summary: "zfp's block transform, bit planes behind two levels of headers, in 6 KB segments",
        tolerances: &[BoundKind::Abs, BoundKind::Precision],
        params: &[block_transform::segment_param("6144")],
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
        block_transform::encode::<T, Headers>(values, task, segment, context, out)
    }

    fn decode<T: Element>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        block_transform::decode::<T, Headers>(bytes, dims, context, out)
    }
}

/// ZFP-V1 for planes of 4 bits, ZFP-V2 for the others.
#[derive(Debug, Clone, Copy)]
struct Headers;

impl PlaneCode for Headers {
    #[inline(always)]
    fn most_planes<const N: usize>() -> u32 {
        if N == 4 { regions::MOST_PLANES } else { 64 }
    }

    #[inline(always)]
    fn most_bits<const N: usize>(planes: usize) -> usize {
        planes * (N + 4) + 4
    }

    #[inline(always)]
    fn write<const N: usize>(planes: &[u64], writer: &mut BitWriter) {
        if N == 4 {
            regions::write(planes, writer);
        } else {
            headers::write::<N>(planes, writer);
        }
    }

    #[inline(always)]
    fn read<const N: usize>(
        readers: &mut [BitReader<'_>; STREAMS],
        counts: [usize; STREAMS],
        planes: &mut [Planes; STREAMS],
    ) {
        for ((reader, count), planes) in readers.iter_mut().zip(counts).zip(planes) {
            if count == 0 {
                continue;
            }
            if N == 4 {
                regions::read(reader, &mut planes[..count]);
            } else {
                headers::read::<N>(reader, &mut planes[..count]);
            }
        }
    }
}
