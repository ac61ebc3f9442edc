//! Takes zeros out of residuals, and puts them back.
//!
//! In: units of 256 residuals, most of them small, many of them 0. Out: for each unit its group,
//! by the size of its residuals, and whether it has a mask; in each group the masks of 32 bytes,
//! whose bit i of byte j says that residual 8 j + i is not 0, and the residuals that are not 0, or
//! all of them for units with so few zeros that they have no mask.
//!
//! An entropy coder then spends less than a bit on a zero (one symbol of the mask stands for
//! eight residuals), nothing at all on units of zeros, sees eight neighbours at once, and calm
//! and busy places of a field apart from each other.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;

/// Mask bytes per unit.
const MASKS: usize = UNIT / 8;
/// Groups of units that are not all zeros: the mean residual grows by a factor of 4 from one to
/// the next. It is below ¼ in the first, and above 256 in the last.
pub(crate) const GROUPS: usize = 7;
/// Units with fewer zeros get no mask: it would cost more than it saves.
const MIN_ZEROS_FOR_MASK: usize = 72;

/// The label of a unit: its group, or [`EMPTY`], and [`FULL`] if it has no mask.
type Label = u8;
/// All residuals are 0.
const EMPTY: Label = 7;
/// All residuals are kept.
const FULL: Label = 8;
/// Labels are below this.
pub(crate) const LABELS: u8 = 16;

/// Which residuals of a unit are not zero, eight to a byte, and how many.
#[inline(always)]
fn present<W: Word>(unit: &[W; UNIT], simd: Level) -> ([u8; MASKS], usize) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(avx2), Ok(unit)) = (simd.avx2(), bytemuck::try_cast_ref(unit)) {
        return avx2::masks(avx2, unit);
    }
    let _ = simd;
    portable::masks(unit)
}

/// Moves residuals that are not zero to the front of `out`.
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

/// Moves residuals from the front of `values` to where the masks say, and zeros elsewhere.
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

/// Which residuals of a unit are not zero, eight to a byte.
#[inline(always)]
pub(crate) fn masks<W: Word>(unit: &[W; UNIT], simd: Level) -> [u8; MASKS] {
    present(unit, simd).0
}

/// Residuals without their zeros. Its memory is kept from chunk to chunk.
#[derive(Default)]
pub(crate) struct Occupancy<W> {
    labels: Vec<Label>,
    groups: [Group<W>; GROUPS],
}

/// The units of a group.
#[derive(Default)]
struct Group<W> {
    masks: Vec<u8>,
    /// Longer than `count` by a unit at least, so that kernels can work on whole units.
    values: Vec<W>,
    count: usize,
}

/// Where [`Occupancy::inverse`] stands.
#[derive(Default)]
pub(crate) struct Cursor {
    unit: usize,
    masks: [usize; GROUPS],
    values: [usize; GROUPS],
}

impl<W: Word> Occupancy<W> {
    /// Forgets everything but the memory.
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
        let number = size_of_residuals(unit);
        let group = &mut self.groups[number];
        group.reserve(group.count + UNIT);
        let Some(out) = group.values[group.count..].first_chunk_mut() else {
            return;
        };
        if present > UNIT - MIN_ZEROS_FOR_MASK {
            self.labels.push(number as Label | FULL);
            copy(unit, out);
            group.count += UNIT;
        } else {
            self.labels.push(number as Label);
            compact(unit, &masks, simd, out);
            group.masks.extend_from_slice(&masks);
            group.count += present;
        }
    }

    /// Prepares for [`Self::inverse`] from a stream: first room for the labels of the units.
    pub fn set_labels(&mut self, units: usize) -> &mut [Label] {
        self.clear();
        self.labels.resize(units, EMPTY);
        &mut self.labels
    }

    /// Then, once these are filled, room for the masks of each group.
    pub fn set_masks(&mut self, group: usize) -> &mut [u8] {
        let units = self.count(group as Label);
        let group = &mut self.groups[group];
        group.masks.resize(units * MASKS, 0);
        &mut group.masks
    }

    /// Then, once these are filled, the number of residuals of each group,
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

    /// and room for them.
    pub fn set_values(&mut self, group: usize) -> &mut [W] {
        let group = &mut self.groups[group];
        group.reserve(group.count);
        &mut group.values[..group.count]
    }

    fn count(&self, label: Label) -> usize {
        self.labels.iter().filter(|l| **l == label).count()
    }

    /// Fills the next unit.
    #[inline(always)]
    pub fn inverse(&self, at: &mut Cursor, unit: &mut [W; UNIT], simd: Level) -> Result<()> {
        let missing = || Error::corrupt("units are missing");
        let label = *self.labels.get(at.unit).ok_or_else(missing)?;
        at.unit += 1;
        let number = usize::from(label & !FULL);
        let Some(group) = self.groups.get(number) else {
            unit.fill(W::default());
            return Ok(());
        };
        let values = &group.values[at.values[number]..];
        if label & FULL != 0 {
            copy(&values[..UNIT], unit);
            at.values[number] += UNIT;
        } else {
            let masks = &group.masks[at.masks[number]..];
            let masks = masks.first_chunk().ok_or_else(missing)?;
            let values = values.first_chunk().ok_or_else(missing)?;
            expand(values, masks, simd, unit);
            at.masks[number] += MASKS;
            at.values[number] += ones(masks);
        }
        Ok(())
    }
}

impl<W: Word> Group<W> {
    /// Room for `count` residuals, and for kernels to touch a unit at any of them.
    fn reserve(&mut self, count: usize) {
        let needed = count + UNIT;
        if self.values.len() < needed {
            self.values.resize(needed.next_power_of_two(), W::default());
        }
    }
}

/// Copies a unit in the caller's vectors: faster than a call for so little.
#[inline(always)]
fn copy<W: Word>(from: &[W], to: &mut [W]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// The group of a unit that is not all zeros, by the sum of its residuals.
#[inline(always)]
fn size_of_residuals<W: Word>(unit: &[W; UNIT]) -> usize {
    // Larger residuals do not change the group, and sums stay within 32 bits.
    let most = W::truncate(u16::MAX.into());
    let sum: u32 = unit.iter().map(|&r| r.min(most).unsigned() as u32).sum();
    (sum.max(1).ilog2().saturating_sub(4) as usize / 2).min(GROUPS - 1)
}

/// Number of bits set.
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
    fn residuals_come_back_on_every_instruction_set() {
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
            assert_eq!(size_of_residuals(&[residual; UNIT]), group, "{residual}");
        }
        let mut one = [0u64; UNIT];
        one[77] = u64::MAX;
        assert_eq!(size_of_residuals(&one), 5);
        one[77] = 1;
        assert_eq!(size_of_residuals(&one), 0);
    }
}
