//! The header of a chunk: the plan, with the layout in a reserved byte, and the length of the planes or
//! blocks.

use super::{Layout, too_short};
use crate::error::{Error, Result};
use crate::stage::dualquant::Plan;

/// Size of a header in bytes.
pub(super) const SIZE: usize = Plan::SIZE + 4;

/// Offset of the layout.
const LAYOUT: usize = 2;

/// Writes the header at the start of a chunk.
pub(super) fn write(layout: Layout, plan: &Plan, length: usize, out: &mut [u8]) {
    let mut bytes = plan.to_bytes();
    bytes[LAYOUT] = layout as u8;
    out[..Plan::SIZE].copy_from_slice(&bytes);
    out[Plan::SIZE..SIZE].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Reads layout, plan and length; also returns the bytes after the header.
pub(super) fn read(bytes: &[u8]) -> Result<(Layout, Plan, usize, &[u8])> {
    let (plan, rest) = bytes.split_first_chunk().ok_or_else(too_short)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(too_short)?;
    let mut plan: [u8; Plan::SIZE] = *plan;
    let layout = match std::mem::take(&mut plan[LAYOUT]) {
        0 => Layout::Planes,
        1 => Layout::Flags,
        _ => return Err(Error::corrupt("unknown layout of an fz chunk")),
    };
    let plan = Plan::read_from(&plan)?;
    Ok((layout, plan, u32::from_le_bytes(*length) as usize, rest))
}
