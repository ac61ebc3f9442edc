//! `de-zfp`: zfp's transform, with planes encoded by the dictionary of DE-ZFP.
//!
//! M. Habboush, A. El-Maleh, M. Elrabaa, S. AlSaleh: DE-ZFP: An FPGA implementation of a modified
//! ZFP compression/decompression algorithm. Section 3.4 and Figure 8 define the code.

mod dictionary;

use super::zfp_family::{LAYOUT_PARAM, Member, PLANES_PARAM, TOLERANCES, ZfpFamily, segment_param};
use super::{Info, Params};
use crate::error::Result;
use dictionary::Dictionary;

/// Dictionary-coded bit planes of zfp's transform.
pub type DeZfp = ZfpFamily<Dictionary>;

impl Member for Dictionary {
    const INFO: Info = Info {
        id: 3,
        name: "de-zfp",
        summary: "zfp's block transform, bit planes in a dictionary code; for smooth and wave-like fields",
        tolerances: TOLERANCES,
        params: &[segment_param("65536"), PLANES_PARAM, LAYOUT_PARAM],
        rewrites_exactly: None,
    };
    const SEGMENT: u32 = 65536;

    fn code(_: &Params) -> Result<u8> {
        Ok(0)
    }
}
