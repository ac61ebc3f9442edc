//! Coding of unit masks, without zero masks if these are the majority.
//!
//! A group with mostly zero masks is stored sparsely: first bytes whose bit i marks mask i of eight
//! as nonzero, then the nonzero masks.

use super::books::{Decoder, Encoder};
use super::codebooks::OfMasks;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::stage::nonzero;
use crate::stage::occupancy::{GROUPS, Occupancy};

/// A sparse group.
#[derive(Default)]
pub(super) struct SparseGroup {
    /// One bit per mask: whether it is nonzero.
    present: Vec<u8>,
    /// The nonzero masks.
    masks: Vec<u8>,
}

/// Appends the masks of each group: a byte that marks sparse groups, which masks of these are
/// nonzero, and the masks.
pub(super) fn write_to(
    groups: [&[u8]; GROUPS],
    coder: &mut Encoder<'_>,
    sparse: &mut [SparseGroup; GROUPS],
    out: &mut Vec<u8>,
) {
    let at = out.len();
    out.push(0);
    for (group, (masks, sparse)) in groups.into_iter().zip(&mut *sparse).enumerate() {
        sparse.present.clear();
        let zeros = masks.iter().filter(|m| **m == 0).count();
        if zeros > masks.len() / 2 {
            nonzero::compact(masks, coder.simd, &mut sparse.present, &mut sparse.masks);
            out[at] |= 1 << group;
        }
    }
    let sparse_groups = out[at];
    coder.encode::<OfMasks, GROUPS>(std::array::from_fn(|i| sparse[i].present.as_slice()), out);
    let masks = |i: usize| match sparse_groups >> i & 1 {
        1 => sparse[i].masks.as_slice(),
        _ => groups[i],
    };
    coder.encode::<OfMasks, GROUPS>(std::array::from_fn(masks), out);
}

/// Reads the masks of each group and advances `bytes` past them.
pub(super) fn read_from<W: Word>(
    bytes: &mut &[u8],
    decoder: &mut Decoder<'_, OfMasks>,
    sparse: &mut [SparseGroup; GROUPS],
    residuals: &mut Occupancy<W>,
) -> Result<()> {
    let sparse_groups = *bytes
        .split_off_first()
        .ok_or_else(|| Error::truncated("masks are cut off"))?;
    let is_sparse = |group: usize| sparse_groups >> group & 1 == 1;
    if sparse_groups >> GROUPS != 0 {
        return Err(Error::corrupt("unknown coding of masks"));
    }
    for group in (0..GROUPS).filter(|&group| is_sparse(group)) {
        let present = &mut sparse[group].present;
        present.clear();
        present.resize(residuals.set_masks(group).len() / 8, 0);
        decoder.decode(bytes, present)?;
    }
    for (group, sparse) in sparse.iter_mut().enumerate() {
        if is_sparse(group) {
            let count = sparse.present.iter().map(|p| p.count_ones() as usize).sum();
            sparse.masks.resize(count, 0);
            decoder.decode(bytes, &mut sparse.masks)?;
            let masks = residuals.set_masks(group);
            nonzero::expand(&sparse.present, &sparse.masks, decoder.simd, masks);
        } else {
            decoder.decode(bytes, residuals.set_masks(group))?;
        }
    }
    Ok(())
}
