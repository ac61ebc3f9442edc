//! The exact side list: values of a chunk that are stored as they are.
//!
//! In: positions and values in order. Out: for every unit with exceptions its distance from the
//! one before, and the positions within it; then the values as runs of equal ones, because fill
//! values come in masses.

use super::UNIT;
use crate::bits::varint;
use crate::element::Element;
use crate::error::{Error, Result};

/// Exceptions of a chunk while it is encoded.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    /// Units and the positions within them.
    places: Vec<u8>,
    /// Runs of equal values.
    values: Vec<u8>,
    next_unit: usize,
    /// Bit pattern and length of the run under way.
    run: (u64, u64),
}

impl Exceptions {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.places.clear();
        self.values.clear();
        (self.next_unit, self.run) = (0, (0, 0));
    }

    /// Bytes of the list so far, about.
    pub fn bytes(&self) -> usize {
        self.places.len() + self.values.len()
    }

    /// Adds the exceptions of a unit: those positions of `values` that `is_exception` names.
    pub fn push_unit<T: Element>(
        &mut self,
        unit: usize,
        values: &[T; UNIT],
        is_exception: &[bool; UNIT],
    ) {
        let marked = || (0..UNIT).filter(|&i| is_exception[i]);
        let count = marked().count();
        varint::write((unit - self.next_unit) as u64, &mut self.places);
        self.next_unit = unit + 1;
        self.places.push((count - 1) as u8);
        if count < UNIT / 8 {
            self.places.extend(marked().map(|i| i as u8));
        } else if count < UNIT {
            let mut mask = [0u8; UNIT / 8];
            marked().for_each(|i| mask[i / 8] |= 1 << (i % 8));
            self.places.extend_from_slice(&mask);
        }
        for value in marked().map(|i| values[i]) {
            if self.run.1 > 0 && self.run.0 == value.to_word() {
                self.run.1 += 1;
            } else {
                self.end_run::<T>();
                self.run = (value.to_word(), 1);
            }
        }
    }

    fn end_run<T: Element>(&mut self) {
        if self.run.1 > 0 {
            varint::write(self.run.1, &mut self.values);
            self.values
                .extend_from_slice(&self.run.0.to_le_bytes()[..T::SIZE]);
        }
    }

    /// Appends the list: nothing at all if it is empty.
    pub fn write_to<T: Element>(&mut self, out: &mut Vec<u8>) {
        self.end_run::<T>();
        self.run = (0, 0);
        if !self.places.is_empty() {
            varint::write_block(&self.places, out);
            out.extend_from_slice(&self.values);
        }
    }
}

/// Puts the exceptions of a list into their places.
pub(crate) fn restore<T: Element>(mut list: &[u8], out: &mut [T]) -> Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let length = varint::read(&mut list)?;
    let mut places = usize::try_from(length)
        .ok()
        .and_then(|length| list.split_off(..length))
        .ok_or_else(corrupt)?;
    let mut run = (0, T::default());
    let mut unit = 0;
    while !places.is_empty() {
        let gap = varint::read(&mut places)?;
        let start = usize::try_from(gap)
            .ok()
            .and_then(|gap| gap.checked_add(unit))
            .filter(|&at| at < out.len().div_ceil(UNIT))
            .ok_or_else(corrupt)?
            * UNIT;
        unit = start / UNIT + 1;
        let count = usize::from(*places.split_off_first().ok_or_else(corrupt)?) + 1;
        let mut put = |i: usize| -> Result<()> {
            if run.0 == 0 {
                run.0 = varint::read(&mut list)?;
                let mut word = [0; 8];
                let bytes = list.split_off(..T::SIZE).ok_or_else(corrupt)?;
                word[..T::SIZE].copy_from_slice(bytes);
                run.1 = T::from_word(u64::from_le_bytes(word));
            }
            run.0 = run.0.checked_sub(1).ok_or_else(corrupt)?;
            *out.get_mut(start + i).ok_or_else(corrupt)? = run.1;
            Ok(())
        };
        if count < UNIT / 8 {
            let positions = places.split_off(..count).ok_or_else(corrupt)?;
            positions.iter().try_for_each(|&i| put(usize::from(i)))?;
        } else if count < UNIT {
            let mask = places.split_off(..UNIT / 8).ok_or_else(corrupt)?;
            (0..UNIT)
                .filter(|i| mask[i / 8] >> (i % 8) & 1 == 1)
                .try_for_each(put)?;
        } else {
            (0..UNIT).try_for_each(put)?;
        }
    }
    if run.0 != 0 || !list.is_empty() {
        return Err(corrupt());
    }
    Ok(())
}

fn corrupt() -> Error {
    Error::corrupt("list of exact values")
}
