//! The exact side list: values of a chunk that are stored as they are.
//!
//! In: positions and values in order. Out: the number of runs, then for each run of neighbours
//! varints of its distance from the end of the run before and of 4 (length − 1) + kind; then its
//! values as the kind says. Masks of fill values cost two or three bytes per run, scattered values
//! as much and themselves.

use super::UNIT;
use crate::bits::varint;
use crate::element::Element;
use crate::error::{Error, Result};

/// The value of the run before, in all places.
const REPEAT: u64 = 0;
/// One value for all places.
const SAME: u64 = 1;
/// A value for each place.
const EACH: u64 = 2;

/// Equal neighbours from which on a run of their own is not longer than their values.
const MIN_SAME: usize = 3;

/// The list of a chunk while it is encoded.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    list: Vec<u8>,
    runs: u64,
    /// End of the last run in the list, and its last value.
    end: usize,
    last: Option<u64>,
    /// Values from `end + gap` on that are in no run yet: different ones,
    gap: usize,
    each: Vec<u8>,
    each_count: usize,
    /// then one value so many times.
    same: (u64, usize),
}

impl Exceptions {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.each.clear();
        (self.runs, self.end, self.gap, self.each_count) = (0, 0, 0, 0);
        (self.last, self.same) = (None, (0, 0));
    }

    /// Bytes of the list so far, about.
    pub fn bytes(&self) -> usize {
        self.list.len() + self.each.len()
    }

    /// Adds the value at a position, which is beyond those before.
    #[inline]
    pub fn push<T: Element>(&mut self, position: usize, value: T) {
        let word = value.to_word();
        let next = self.end + self.gap + self.each_count + self.same.1;
        if position == next && self.same.0 == word {
            self.same.1 += 1;
            return;
        }
        self.end_same::<T>();
        if position != next {
            self.end_each::<T>();
            self.gap = position - self.end;
        }
        self.same = (word, 1);
    }

    /// Adds the exceptions of a unit: those positions of `values` that `is_exception` names.
    pub fn push_unit<T: Element>(
        &mut self,
        unit: usize,
        values: &[T; UNIT],
        is_exception: &[bool; UNIT],
    ) {
        for i in (0..UNIT).filter(|&i| is_exception[i]) {
            self.push(unit * UNIT + i, values[i]);
        }
    }

    /// Equal values become a run, unless they are so few that they fit better with others.
    fn end_same<T: Element>(&mut self) {
        let (word, count) = self.same;
        self.same.1 = 0;
        let repeats = self.each.is_empty() && self.last == Some(word);
        if count >= MIN_SAME || (count > 0 && repeats) {
            self.end_each::<T>();
            let repeats = self.last == Some(word);
            self.run(if repeats { REPEAT } else { SAME }, count);
            if !repeats {
                self.list.extend_from_slice(&word.to_le_bytes()[..T::SIZE]);
            }
            self.last = Some(word);
        } else {
            for _ in 0..count {
                self.each.extend_from_slice(&word.to_le_bytes()[..T::SIZE]);
            }
            self.each_count += count;
        }
    }

    /// Different values become a run.
    fn end_each<T: Element>(&mut self) {
        if let Some(last) = self.each.rchunks(T::SIZE).next() {
            self.last = Some(word(last));
            self.run(EACH, self.each_count);
            self.list.append(&mut self.each);
            self.each_count = 0;
        }
    }

    fn run(&mut self, kind: u64, length: usize) {
        varint::write(self.gap as u64, &mut self.list);
        varint::write(4 * (length as u64 - 1) + kind, &mut self.list);
        self.runs += 1;
        self.end += self.gap + length;
        self.gap = 0;
    }

    /// Appends the list: nothing at all if it is empty.
    pub fn write_to<T: Element>(&mut self, out: &mut Vec<u8>) {
        self.end_same::<T>();
        self.end_each::<T>();
        if self.runs > 0 {
            varint::write(self.runs, out);
            out.extend_from_slice(&self.list);
        }
    }
}

/// Puts the exceptions of a list into their places.
pub(crate) fn restore<T: Element>(mut list: &[u8], out: &mut [T]) -> Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let mut rest = out;
    let mut last = None;
    for _ in 0..varint::read(&mut list)? {
        let gap = varint::read_length(&mut list)?;
        let shape = varint::read_length(&mut list)?;
        let (kind, length) = (shape as u64 % 4, shape / 4 + 1);
        let (_, places) = rest.split_at_mut_checked(gap).ok_or_else(beyond)?;
        let (places, behind) = places.split_at_mut_checked(length).ok_or_else(beyond)?;
        rest = behind;
        match kind {
            REPEAT | SAME => {
                if kind == SAME {
                    last = Some(take(&mut list)?);
                }
                let missing = || Error::corrupt("a list of exact values without a value");
                places.fill(last.ok_or_else(missing)?);
            }
            EACH => {
                for place in places {
                    *place = take(&mut list)?;
                    last = Some(*place);
                }
            }
            _ => return Err(Error::corrupt("a run of exact values of an unknown kind")),
        }
    }
    if list.is_empty() {
        Ok(())
    } else {
        Err(Error::corrupt("bytes after the list of exact values"))
    }
}

fn take<T: Element>(list: &mut &[u8]) -> Result<T> {
    let bytes = list
        .split_off(..T::SIZE)
        .ok_or_else(|| Error::truncated("the list of exact values ends early"))?;
    Ok(T::from_word(word(bytes)))
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn beyond() -> Error {
    Error::corrupt("an exact value beyond the end of the chunk")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of these values, and how many bytes it takes.
    fn round_trip<T: Element>(length: usize, values: &[(usize, T)]) -> usize {
        let mut exceptions = Exceptions::default();
        let (mut list, mut expected) = (Vec::new(), vec![T::default(); length]);
        for _ in 0..2 {
            list.clear();
            exceptions.clear();
            for &(position, value) in values {
                exceptions.push(position, value);
                expected[position] = value;
            }
            exceptions.write_to::<T>(&mut list);
        }
        let mut back = vec![T::default(); length];
        restore(&list, &mut back).unwrap();
        let bits = |values: &[T]| values.iter().map(|v| v.to_word()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&expected));
        for cut in 1..list.len() {
            assert!(restore(&list[..cut], &mut back).is_err(), "{cut}");
        }
        list.push(0);
        assert!(list.len() == 1 || restore(&list, &mut back).is_err());
        list.len() - 1
    }

    #[test]
    fn values_come_back() {
        assert_eq!(round_trip::<f32>(10, &[]), 0);
        assert_eq!(round_trip(10, &[(9, f32::NAN)]), 1 + 2 + 4);
        // A value repeated, the same value again, different neighbours, and all of it mixed.
        let mut mask: Vec<_> = (5..400).map(|i| (i, 1e20f64)).collect();
        assert_eq!(round_trip(1000, &mask), 1 + 3 + 8);
        mask.extend((450..500).map(|i| (i, 1e20)));
        assert_eq!(round_trip(1000, &mask), 1 + 3 + 8 + 3);
        mask.extend((500..530).map(|i| (i, f64::from(i as u32))));
        assert_eq!(round_trip(1000, &mask), 1 + 3 + 8 + 3 + 2 + 30 * 8);
        mask.extend((530..535).map(|i| (i, -0.0)));
        mask.extend((535..537).map(|i| (i, 1e20)));
        mask.push((540, 1e20));
        mask.push((541, 1e20));
        mask.push((999, f64::INFINITY));
        round_trip(1000, &mask);
    }

    #[test]
    fn lists_of_no_writer_are_refused() {
        let mut out = [0f32; 8];
        for list in [
            &[1u8][..],
            &[1, 0, 0],                     // a repeated value without one
            &[1, 0, 3],                     // an unknown kind
            &[1, 8, 1, 0, 0, 0, 0],         // beyond the end
            &[1, 0, 1 + 4 * 8, 0, 0, 0, 0], // too long
            &[0, 0],                        // bytes behind
        ] {
            assert!(restore(list, &mut out).is_err(), "{list:?}");
        }
        // Lengths and counts that no memory holds.
        let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(restore(&huge, &mut out).is_err());
        assert!(restore(&[&[1, 0][..], &huge].concat(), &mut out).is_err());
    }
}
