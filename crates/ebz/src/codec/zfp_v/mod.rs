//! `zfp-v`: zfp's transform, with planes preceded by headers that give their lengths.
//!
//! G. Sun, S. Kang, S.-W. Jun: BurstZ+: Eliminating the communication bottleneck of scientific
//! computing accelerators via accelerated compression. Section 4.1 defines ZFP-V2 for two axes and
//! ZFP-V1 for one; three axes are an extension of ZFP-V2.

mod headers;
mod regions;

use super::Info;
use super::zfp_family::{Member, PLANES_PARAM, TOLERANCES, ZfpFamily, segment_param};
use crate::bits::{BitReader, BitWriter};
use crate::stage::block_transform::{PlaneCode, Planes, STREAMS};

/// Header-coded bit planes of zfp's transform.
pub type ZfpV = ZfpFamily<Headers>;

impl Member for Headers {
    const INFO: Info = Info {
        id: 4,
        name: "zfp-v",
        summary: "zfp's block transform, bit planes behind two levels of headers, in 6 KB segments",
        tolerances: TOLERANCES,
        params: &[segment_param("6144"), PLANES_PARAM],
        rewrites_exactly: None,
    };
    /// The paper's chunks (4.1.4).
    const SEGMENT: u32 = 6144;
}

/// ZFP-V1 for planes of 4 bits, ZFP-V2 for the others.
#[derive(Debug, Clone, Copy)]
pub struct Headers;

impl PlaneCode for Headers {
    #[inline(always)]
    fn max_planes<const N: usize>() -> u32 {
        if N == 4 { regions::MAX_PLANES } else { 64 }
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
