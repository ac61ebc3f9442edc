//! The classes of units as bytes: runs, or two bits each, whichever is shorter.

use crate::error::{Error, Result};
use crate::stage::varint;

/// What a unit consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Zeros only: nothing else is kept.
    Empty = 0,
    /// A mask, and the residuals that are not zero.
    Masked = 1,
    /// All its residuals.
    Full = 2,
}

impl Class {
    fn from_id(id: u8) -> Result<Self> {
        match id {
            0 => Ok(Self::Empty),
            1 => Ok(Self::Masked),
            2 => Ok(Self::Full),
            _ => Err(Error::corrupt("unknown class of a unit")),
        }
    }
}

/// First byte: how the classes are written.
const RUNS: u8 = 0;
const PACKED: u8 = 1;

/// Appends the classes.
pub(super) fn write_to(classes: &[Class], out: &mut Vec<u8>) {
    let start = out.len();
    let packed = classes.len().div_ceil(4);
    out.push(RUNS);
    for run in classes.chunk_by(|a, b| a == b) {
        varint::write((run.len() as u64) << 2 | run[0] as u64, out);
        if out.len() - start > packed {
            out.truncate(start);
            out.push(PACKED);
            out.extend(classes.chunks(4).map(|four| {
                let digits = four.iter().rev();
                digits.fold(0, |byte, class| byte << 2 | *class as u8)
            }));
            return;
        }
    }
}

/// Takes the classes of `units` units from the front of `bytes`.
pub(super) fn read_from(bytes: &mut &[u8], units: usize, classes: &mut Vec<Class>) -> Result<()> {
    let cut_off = || Error::truncated("classes of units are cut off");
    let (&kind, rest) = bytes.split_first().ok_or_else(cut_off)?;
    *bytes = rest;
    match kind {
        RUNS => {
            while classes.len() < units {
                let run = varint::read_length(bytes)?;
                let class = Class::from_id((run & 3) as u8)?;
                let length = run >> 2;
                if length == 0 || length > units - classes.len() {
                    return Err(Error::corrupt("runs of classes do not fit"));
                }
                classes.resize(classes.len() + length, class);
            }
        }
        PACKED => {
            let (packed, rest) = bytes
                .split_at_checked(units.div_ceil(4))
                .ok_or_else(cut_off)?;
            *bytes = rest;
            for unit in 0..units {
                classes.push(Class::from_id(packed[unit / 4] >> (unit % 4 * 2) & 3)?);
            }
        }
        _ => return Err(Error::corrupt("unknown form of classes")),
    }
    Ok(())
}
