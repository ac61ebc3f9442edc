//! `zfp-v`: zfp's transform, with planes preceded by headers that give their lengths.
//!
//! G. Sun, S. Kang, S.-W. Jun: BurstZ+: Eliminating the communication bottleneck of scientific
//! computing accelerators via accelerated compression. Section 4.1 defines ZFP-V2 for two axes and
//! ZFP-V1 for one; three axes are an extension of ZFP-V2.

mod headers;
mod regions;

use super::zfp_family::{LAYOUT_PARAM, Member, PLANES_PARAM, TOLERANCES, ZfpFamily, segment_param};
use super::{Info, Param, Params};
use crate::bits::{BitReader, BitWriter};
use crate::error::Result;
use crate::stage::block_transform::{PlaneCode, Planes, STREAMS};

/// Header-coded bit planes of zfp's transform.
pub type ZfpV = ZfpFamily<Headers>;

impl Member for Headers {
    const INFO: Info = Info {
        id: 4,
        name: "zfp-v",
        summary: "zfp's block transform, bit planes behind two levels of headers, in 6 KB segments",
        tolerances: TOLERANCES,
        params: &[
            segment_param("6144"),
            PLANES_PARAM,
            LAYOUT_PARAM,
            Param {
                name: "widths",
                default: WIDTHS[0],
                help: "bits that level-2 codes of 16-bit planes stand for: the paper's 2-4-8-16, or \
                       5-9-14-16, which is smaller",
            },
        ],
        rewrites_exactly: None,
    };
    /// The paper's chunks (4.1.4).
    const SEGMENT: u32 = 6144;

    fn code(params: &Params) -> Result<u8> {
        let widths = params.choice("widths", &WIDTHS)?;
        Ok(u8::from(widths == WIDTHS[1]))
    }
}

/// Level-2 widths for two axes, those of the paper first.
const WIDTHS: [&str; 2] = ["2-4-8-16", "5-9-14-16"];

/// ZFP-V1 for planes of 4 bits, ZFP-V2 for the others.
#[derive(Debug, Clone, Copy)]
pub struct Headers {
    /// Whether planes of 16 bits use the widths for the measured distribution.
    measured: bool,
}

impl PlaneCode for Headers {
    const ALL: &'static [Self] = &[Self { measured: false }, Self { measured: true }];

    #[inline(always)]
    fn max_planes<const N: usize>() -> u32 {
        if N == 4 { regions::MAX_PLANES } else { 64 }
    }

    #[inline(always)]
    fn write<const N: usize>(self, planes: &[u64], writer: &mut BitWriter) {
        if N == 4 {
            regions::write(planes, writer);
        } else {
            headers::write::<N>(self.measured, planes, writer);
        }
    }

    #[inline(always)]
    fn read<const N: usize>(
        self,
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
                headers::read::<N>(self.measured, reader, &mut planes[..count]);
            }
        }
    }
}
