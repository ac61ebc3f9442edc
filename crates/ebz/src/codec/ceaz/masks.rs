//! The masks of units as bytes: where most of them are zeros, without these.
//!
//! A group with few masks other than 0 is thinned out: first bytes whose bit i says that mask i of
//! eight is not 0, then these masks alone.

use super::books::{Decoder, Encoder};
use super::codebooks::OfMasks;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::stage::nonzero;
use crate::stage::occupancy::{GROUPS, Occupancy};

/// A group that was thinned out.
#[derive(Default)]
pub(super) struct Thin {
    /// Which masks are not 0.
    present: Vec<u8>,
    /// These masks.
    masks: Vec<u8>,
}

/// Appends the masks of each group: a byte that says which groups are thinned out, what is present
/// in these, and the masks.
pub(super) fn write_to(
    groups: [&[u8]; GROUPS],
    coder: &mut Encoder<'_>,
    thin: &mut [Thin; GROUPS],
    out: &mut Vec<u8>,
) {
    let at = out.len();
    out.push(0);
    for (group, (masks, thin)) in groups.into_iter().zip(&mut *thin).enumerate() {
        thin.present.clear();
        let zeros = masks.iter().filter(|m| **m == 0).count();
        if zeros > masks.len() / 2 {
            nonzero::compact(masks, coder.simd, &mut thin.present, &mut thin.masks);
            out[at] |= 1 << group;
        }
    }
    let thinned = out[at];
    coder.encode::<OfMasks, GROUPS>(std::array::from_fn(|i| thin[i].present.as_slice()), out);
    let masks = |i: usize| match thinned >> i & 1 {
        1 => thin[i].masks.as_slice(),
        _ => groups[i],
    };
    coder.encode::<OfMasks, GROUPS>(std::array::from_fn(masks), out);
}

/// Fills the masks of each group from the front of `bytes`.
pub(super) fn read_from<W: Word>(
    bytes: &mut &[u8],
    decoder: &mut Decoder<'_, OfMasks>,
    thin: &mut [Thin; GROUPS],
    residuals: &mut Occupancy<W>,
) -> Result<()> {
    let thinned = *bytes
        .split_off_first()
        .ok_or_else(|| Error::truncated("masks are cut off"))?;
    let is_thin = |group: usize| thinned >> group & 1 == 1;
    if thinned >> GROUPS != 0 {
        return Err(Error::corrupt("unknown form of masks"));
    }
    for group in (0..GROUPS).filter(|&group| is_thin(group)) {
        let present = &mut thin[group].present;
        present.clear();
        present.resize(residuals.set_masks(group).len() / 8, 0);
        decoder.decode(bytes, present)?;
    }
    for (group, thin) in thin.iter_mut().enumerate() {
        if is_thin(group) {
            let count = thin.present.iter().map(|p| p.count_ones() as usize).sum();
            thin.masks.resize(count, 0);
            decoder.decode(bytes, &mut thin.masks)?;
            let masks = residuals.set_masks(group);
            nonzero::expand(&thin.present, &thin.masks, decoder.simd, masks);
        } else {
            decoder.decode(bytes, residuals.set_masks(group))?;
        }
    }
    Ok(())
}
