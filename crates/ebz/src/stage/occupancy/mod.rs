//! Separates zeros from residuals.
//!
//! Units of 256 residuals are classified into groups by the magnitude of their residuals. The output
//! is a label per unit (its group, and whether it has a mask) and, for each group, the masks and the
//! residuals. A mask has 32 bytes; bit i of byte j is set if residual 8 j + i is nonzero. Units with
//! a mask store their nonzero residuals; units with few zeros have no mask and store all of them.
//!
//! An entropy coder then spends less than a bit on a zero (a byte of the mask covers eight
//! residuals) and nothing on units of zeros, sees eight neighbours at once, and gets smooth and rough
//! regions of a field in separate groups.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;

/// Mask bytes per unit.
const MASKS: usize = UNIT / 8;
/// Number of groups of units that are not all zeros. The mean residual grows by a factor of 4 per
/// group; it is below ¼ in the first and above 256 in the last.
pub(crate) const GROUPS: usize = 7;
/// Minimum number of zeros for a mask: with fewer, it costs more than it saves.
const MIN_ZEROS_FOR_MASK: usize = 72;

/// The label of a unit: its group, or [`EMPTY`], and [`FULL`] if it has no mask.
type Label = u8;
/// All residuals are 0.
const EMPTY: Label = 7;
/// All residuals are stored.
const FULL: Label = 8;
/// Upper limit of labels (exclusive).
pub(crate) const LABELS: u8 = 16;

/// Mask and number of the nonzero residuals of a unit.
#[inline(always)]
fn present<W: Word>(unit: &[W; UNIT], simd: Level) -> ([u8; MASKS], usize) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(avx2), Ok(unit)) = (simd.avx2(), bytemuck::try_cast_ref(unit)) {
        return avx2::masks(avx2, unit);
    }
    let _ = simd;
    portable::masks(unit)
}

/// Moves nonzero residuals to the front of `out`.
#[inline(always)]
fn compact<W: Word>(unit: &[W; UNIT], masks: &[u8; MASKS], simd: Level, out: &mut [W; UNIT]) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(avx2), Ok(unit)) = (simd.avx2(), bytemuck::try_cast_ref(unit))
        && let Ok(out) = bytemuck::try_cast_mut(out)
    {
        return avx2::compact(avx2, unit, masks, out);
    }
    let _ = (masks, simd);
    portable::compact(unit, out);
}

/// Inverts [`compact`]: moves residuals from the front of `values` to the positions in the masks.
#[inline(always)]
fn expand<W: Word>(values: &[W; UNIT], masks: &[u8; MASKS], simd: Level, unit: &mut [W; UNIT]) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(avx2), Ok(values)) = (simd.avx2(), bytemuck::try_cast_ref(values))
        && let Ok(unit) = bytemuck::try_cast_mut(unit)
    {
        return avx2::expand(avx2, values, masks, unit);
    }
    let _ = simd;
    portable::expand(values, masks, unit);
}

/// Mask of the nonzero residuals of a unit.
#[inline(always)]
pub(crate) fn masks<W: Word>(unit: &[W; UNIT], simd: Level) -> [u8; MASKS] {
    present(unit, simd).0
}

/// Residuals without their zeros; a scratch buffer.
#[derive(Default)]
pub(crate) struct Occupancy<W> {
    labels: Vec<Label>,
    groups: [Group<W>; GROUPS],
}

/// The units of a group.
#[derive(Default)]
struct Group<W> {
    masks: Vec<u8>,
    /// At least a unit longer than `count`, so that kernels can access whole units.
    values: Vec<W>,
    count: usize,
}

/// Position of [`Occupancy::inverse`].
#[derive(Default)]
pub(crate) struct Cursor {
    unit: usize,
    masks: [usize; GROUPS],
    values: [usize; GROUPS],
}

impl<W: Word> Occupancy<W> {
    /// Removes all units but keeps the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        for group in &mut self.groups {
            group.masks.clear();
            group.count = 0;
        }
    }

    /// The label of each unit.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The masks of a group.
    pub fn masks(&self, group: usize) -> &[u8] {
        &self.groups[group].masks
    }

    /// The residuals of a group.
    pub fn values(&self, group: usize) -> &[W] {
        let group = &self.groups[group];
        &group.values[..group.count]
    }

    /// Appends a unit.
    #[inline(always)]
    pub fn forward(&mut self, unit: &[W; UNIT], simd: Level) {
        let (masks, present) = present(unit, simd);
        if present == 0 {
            self.labels.push(EMPTY);
            return;
        }
        let index = group_of(unit);
        let group = &mut self.groups[index];
        group.reserve(group.count + UNIT);
        let Some(out) = group.values[group.count..].first_chunk_mut() else {
            return;
        };
        if present > UNIT - MIN_ZEROS_FOR_MASK {
            self.labels.push(index as Label | FULL);
            copy(unit, out);
            group.count += UNIT;
        } else {
            self.labels.push(index as Label);
            compact(unit, &masks, simd, out);
            group.masks.extend_from_slice(&masks);
            group.count += present;
        }
    }

    /// Prepares [`Self::inverse`], in this order: returns the labels of all units, to be filled.
    pub fn set_labels(&mut self, units: usize) -> &mut [Label] {
        self.clear();
        self.labels.resize(units, EMPTY);
        &mut self.labels
    }

    /// Returns the masks of a group, to be filled; needs the labels.
    pub fn set_masks(&mut self, group: usize) -> &mut [u8] {
        let units = self.count(group as Label);
        let group = &mut self.groups[group];
        group.masks.resize(units * MASKS, 0);
        &mut group.masks
    }

    /// Computes the number of residuals of a group; needs its masks.
    pub fn count_values(&mut self, group: usize, simd: Level) -> usize {
        let full = self.count(group as Label | FULL);
        let group = &mut self.groups[group];
        let masks = &group.masks;
        group.count = full * UNIT
            + simd.run(
                #[inline(always)]
                || ones(masks),
            );
        group.count
    }

    /// Returns the residuals of a group, to be filled; needs their number.
    pub fn set_values(&mut self, group: usize) -> &mut [W] {
        let group = &mut self.groups[group];
        group.reserve(group.count);
        &mut group.values[..group.count]
    }

    fn count(&self, label: Label) -> usize {
        self.labels.iter().filter(|l| **l == label).count()
    }

    /// Decodes the next unit.
    #[inline(always)]
    pub fn inverse(&self, at: &mut Cursor, unit: &mut [W; UNIT], simd: Level) -> Result<()> {
        let missing = || Error::corrupt("a chunk has fewer units than expected");
        let label = *self.labels.get(at.unit).ok_or_else(missing)?;
        at.unit += 1;
        let index = usize::from(label & !FULL);
        let Some(group) = self.groups.get(index) else {
            unit.fill(W::default());
            return Ok(());
        };
        let values = &group.values[at.values[index]..];
        if label & FULL != 0 {
            copy(&values[..UNIT], unit);
            at.values[index] += UNIT;
        } else {
            let masks = &group.masks[at.masks[index]..];
            let masks = masks.first_chunk().ok_or_else(missing)?;
            let values = values.first_chunk().ok_or_else(missing)?;
            expand(values, masks, simd, unit);
            at.masks[index] += MASKS;
            at.values[index] += ones(masks);
        }
        Ok(())
    }
}

impl<W: Word> Group<W> {
    /// Makes room for `count` residuals, plus a unit that kernels may access at any of them.
    fn reserve(&mut self, count: usize) {
        let needed = count + UNIT;
        if self.values.len() < needed {
            self.values.resize(needed.next_power_of_two(), W::default());
        }
    }
}

/// Copies a unit inline, which is faster than a call of `memcpy`.
#[inline(always)]
fn copy<W: Word>(from: &[W], to: &mut [W]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// The group of a unit that is not all zeros, from the sum of its residuals.
#[inline(always)]
fn group_of<W: Word>(unit: &[W; UNIT]) -> usize {
    // Clamped so that sums fit 32 bits; larger residuals count as large anyway.
    let max = W::truncate(u16::MAX.into());
    let sum: u32 = unit.iter().map(|&r| r.min(max).unsigned() as u32).sum();
    (sum.max(1).ilog2().saturating_sub(4) as usize / 2).min(GROUPS - 1)
}

/// Number of set bits.
#[inline(always)]
fn ones(masks: &[u8]) -> usize {
    let (words, rest) = masks.as_chunks::<8>();
    let mut count = 0;
    for word in words {
        count += u64::from_le_bytes(*word).count_ones() as usize;
    }
    for mask in rest {
        count += mask.count_ones() as usize;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of every kind: empty, sparse, dense, with small and large residuals.
    fn units(kinds: usize) -> Vec<u16> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let densities = [0, 1, 30, 128, 235, 250, 256, 3, 0, 200];
        let mut residuals = Vec::new();
        for unit in 0..kinds {
            let mask = (1 << (1 + unit % 16)) - 1;
            for _ in 0..UNIT {
                let present = next() % 256 < densities[unit % densities.len()];
                residuals.push(if present { (next() & mask) as u16 } else { 0 });
            }
        }
        residuals
    }

    fn split<W: Word>(residuals: &[W], simd: Level) -> Occupancy<W> {
        let (units, _) = residuals.as_chunks();
        let mut split = Occupancy::default();
        units.iter().for_each(|unit| split.forward(unit, simd));
        split
    }

    fn round_trip<W: Word>(residuals: &[W]) {
        let portable = split(residuals, Level::Portable);
        for simd in Level::available() {
            let split = split(residuals, simd);
            assert_eq!(split.labels(), portable.labels());
            let mut joined = Occupancy::default();
            joined
                .set_labels(split.labels().len())
                .copy_from_slice(split.labels());
            for group in 0..GROUPS {
                assert_eq!(split.masks(group), portable.masks(group));
                assert!(split.values(group) == portable.values(group));
                joined.set_masks(group).copy_from_slice(split.masks(group));
                assert_eq!(joined.count_values(group, simd), split.values(group).len());
                joined
                    .set_values(group)
                    .copy_from_slice(split.values(group));
            }
            let mut at = Cursor::default();
            let mut unit = [W::default(); UNIT];
            for expected in residuals.as_chunks::<UNIT>().0 {
                joined.inverse(&mut at, &mut unit, simd).unwrap();
                assert!(unit == *expected);
            }
            assert!(joined.inverse(&mut at, &mut unit, simd).is_err());
        }
    }

    #[test]
    fn residuals_round_trip_at_every_level() {
        for kinds in [0, 1, 2, 3, 11, 100] {
            let residuals = units(kinds);
            round_trip(&residuals);
            round_trip::<u32>(
                &residuals
                    .iter()
                    .map(|&r| u32::from(r) << 13)
                    .collect::<Vec<_>>(),
            );
            round_trip::<u64>(
                &residuals
                    .iter()
                    .map(|&r| u64::from(r) << 40)
                    .collect::<Vec<_>>(),
            );
        }
    }

    #[test]
    fn groups_follow_the_mean() {
        for (residual, group) in [(1, 2), (4, 3), (15, 3), (16, 4), (256, 6), (9999u16, 6)] {
            assert_eq!(group_of(&[residual; UNIT]), group, "{residual}");
        }
        let mut one = [0u64; UNIT];
        one[77] = u64::MAX;
        assert_eq!(group_of(&one), 5);
        one[77] = 1;
        assert_eq!(group_of(&one), 0);
    }
}
