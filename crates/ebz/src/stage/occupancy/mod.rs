//! Takes zeros out of residuals, and puts them back.
//!
//! In: units of 256 residuals, most of them small, many of them 0. Out: a class for each unit; for
//! units with some zeros a mask of 32 bytes, whose bit i of byte j says that residual 8 j + i is
//! not 0; and the residuals that are not 0, or all of them where a unit has hardly any zeros.
//!
//! An entropy coder then spends less than a bit on a zero (one symbol of the mask stands for
//! eight residuals), nothing at all on empty units, and sees eight neighbours at once.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod classes;
mod portable;

use classes::Class;

use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::word::Word;
use std::any::Any;

/// Mask bytes per unit.
pub const MASKS: usize = UNIT / 8;
/// A unit with fewer zeros than this keeps them: its mask would cost more than it saves.
const FEW_ZEROS: u32 = 16;

/// The inner loops for residuals of type `V`.
#[derive(Clone, Copy)]
struct Kernels<W> {
    /// Which residuals of a unit are not zero.
    masks: fn(&[W; UNIT]) -> [u8; MASKS],
    /// Moves residuals that are not zero to the front of a buffer of at least `UNIT`.
    compact: fn(&[W; UNIT], &[u8; MASKS], &mut [W]),
    /// Moves residuals from the front of a buffer, which holds at least `UNIT` and as many as the masks have
    /// bits, to where the masks say, and zeros elsewhere.
    expand: fn(&[W], &[u8; MASKS], &mut [W; UNIT]),
}

impl<W: Word> Kernels<W> {
    fn of(simd: Level) -> Self {
        #[cfg(target_arch = "x86_64")]
        if simd == Level::Avx2
            && let Some(kernels) = (&avx2::KERNELS as &dyn Any).downcast_ref::<Self>()
        {
            return *kernels;
        }
        portable::kernels()
    }
}

/// Residuals without their zeros. Its memory is kept from chunk to chunk.
#[derive(Default)]
pub struct Occupancy<W> {
    classes: Vec<Class>,
    masks: Vec<u8>,
    values: Vec<W>,
    count: usize,
}

/// Where [`Occupancy::inverse`] stands.
#[derive(Debug, Default)]
pub struct Cursor {
    unit: usize,
    mask: usize,
    value: usize,
}

impl<W: Word> Occupancy<W> {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.classes.clear();
        self.masks.clear();
        self.count = 0;
    }

    /// The masks of the masked units.
    pub fn masks(&self) -> &[u8] {
        &self.masks
    }

    /// The residuals that are left.
    pub fn values(&self) -> &[W] {
        &self.values[..self.count]
    }

    /// Appends a unit.
    pub fn forward(&mut self, unit: &[W; UNIT], simd: Level) {
        let kernels = Kernels::<W>::of(simd);
        let masks = (kernels.masks)(unit);
        let present = ones(&masks);
        let class = match present {
            0 => Class::Empty,
            n if n > UNIT as u32 - FEW_ZEROS => Class::Full,
            _ => Class::Masked,
        };
        self.classes.push(class);
        self.reserve(self.count + UNIT);
        let out = &mut self.values[self.count..];
        match class {
            Class::Empty => {}
            Class::Masked => {
                (kernels.compact)(unit, &masks, out);
                self.masks.extend_from_slice(&masks);
                self.count += present as usize;
            }
            Class::Full => {
                out[..UNIT].copy_from_slice(unit);
                self.count += UNIT;
            }
        }
    }

    /// Prepares for [`Self::inverse`] from what a stream says: first the classes.
    pub fn set_classes(&mut self, bytes: &mut &[u8], units: usize) -> Result<&mut [u8]> {
        self.clear();
        classes::read_from(bytes, units, &mut self.classes)?;
        let masked = self.classes.iter().filter(|c| **c == Class::Masked);
        self.masks.resize(masked.count() * MASKS, 0);
        Ok(&mut self.masks)
    }

    /// Then, once the caller has filled the masks, room for the residuals that are left.
    pub fn set_masks(&mut self) -> &mut [W] {
        let full = self.classes.iter().filter(|c| **c == Class::Full);
        self.count = full.count() * UNIT + ones(&self.masks) as usize;
        self.reserve(self.count);
        &mut self.values[..self.count]
    }

    /// Appends the classes.
    pub fn write_classes(&self, out: &mut Vec<u8>) {
        classes::write_to(&self.classes, out);
    }

    /// Fills the next unit.
    pub fn inverse(&self, at: &mut Cursor, unit: &mut [W; UNIT], simd: Level) -> Result<()> {
        let kernels = Kernels::<W>::of(simd);
        let missing = || Error::corrupt("units are missing");
        let class = self.classes.get(at.unit).ok_or_else(missing)?;
        at.unit += 1;
        let values = &self.values[at.value..];
        match class {
            Class::Empty => unit.fill(W::default()),
            Class::Masked => {
                let masks = self.masks[at.mask..].first_chunk().ok_or_else(missing)?;
                (kernels.expand)(values, masks, unit);
                at.mask += MASKS;
                at.value += ones(masks) as usize;
            }
            Class::Full => {
                unit.copy_from_slice(&values[..UNIT]);
                at.value += UNIT;
            }
        }
        Ok(())
    }

    /// Room for `count` residuals, and for kernels to touch a unit at any of them.
    fn reserve(&mut self, count: usize) {
        let needed = count + UNIT;
        if self.values.len() < needed {
            self.values.resize(needed.next_power_of_two(), W::default());
        }
    }
}

/// Number of bits set.
fn ones(masks: &[u8]) -> u32 {
    let (words, rest) = masks.as_chunks::<8>();
    let words = words.iter().map(|w| u64::from_le_bytes(*w).count_ones());
    words.sum::<u32>() + rest.iter().map(|m| m.count_ones()).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of every kind: empty, sparse, half, nearly full, full.
    fn units(kinds: usize) -> Vec<u16> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let densities = [0, 1, 30, 128, 235, 245, 250, 256, 3, 0, 200];
        let mut residuals = Vec::new();
        for unit in 0..kinds {
            for _ in 0..UNIT {
                let present = next() % 256 < densities[unit % densities.len()];
                residuals.push(if present { next() as u16 | 1 } else { 0 });
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
            assert_eq!(split.classes, portable.classes);
            assert_eq!(split.masks(), portable.masks());
            assert!(split.values() == portable.values());

            let mut stored = Vec::new();
            split.write_classes(&mut stored);
            let mut joined = Occupancy::default();
            let mut rest = stored.as_slice();
            let masks = joined
                .set_classes(&mut rest, residuals.len() / UNIT)
                .unwrap();
            assert!(rest.is_empty());
            masks.copy_from_slice(split.masks());
            joined.set_masks().copy_from_slice(split.values());
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
            let wide: Vec<u32> = residuals.iter().map(|&r| u32::from(r) << 13).collect();
            round_trip(&wide);
            let wider: Vec<u64> = residuals.iter().map(|&r| u64::from(r) << 40).collect();
            round_trip(&wider);
        }
    }

    #[test]
    fn runs_of_zeros_cost_nothing_each() {
        let split = split(&vec![0u16; 1000 * UNIT], Level::Portable);
        let mut stored = Vec::new();
        split.write_classes(&mut stored);
        assert!(stored.len() < 5 && split.masks().is_empty() && split.values().is_empty());
    }
}
