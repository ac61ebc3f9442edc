//! Header of a chunk that is predicted by lags: its plan.

use crate::error::{Error, Result};
use crate::stage::dualquant::Plan;

/// Layout of the first byte: mode, lags from this bit, and whether step and base follow.
const LAGS_AT: u32 = 3;
const HAS_STEP: u8 = 1 << 6;
const HAS_BASE: u8 = 1 << 7;

/// Appends a plan.
pub(super) fn write_to(plan: &Plan, out: &mut Vec<u8>) {
    let at = out.len();
    out.push(plan.mode as u8 | plan.lags.0 << LAGS_AT);
    for (number, flag) in [(plan.step, HAS_STEP), (plan.base, HAS_BASE)] {
        if number.to_bits() != 0 {
            out[at] |= flag;
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Reads a plan and advances `bytes` past it.
pub(super) fn read_from(bytes: &mut &[u8]) -> Result<Plan> {
    let cut_off = || Error::truncated("the plan of a chunk is cut off");
    let first = *bytes.split_off_first().ok_or_else(cut_off)?;
    // The plan in the layout of other codecs.
    let mut stored = [0; Plan::SIZE];
    stored[0] = first & ((1 << LAGS_AT) - 1);
    stored[1] = first >> LAGS_AT & 7;
    let (step, base) = stored[4..].split_at_mut(8);
    for (number, flag) in [(step, HAS_STEP), (base, HAS_BASE)] {
        if first & flag != 0 {
            number.copy_from_slice(bytes.split_off(..8).ok_or_else(cut_off)?);
        }
    }
    Plan::read_from(&stored)
}
