//! The exact side list: the values of a chunk that are stored exactly.
//!
//! The list is the number of runs, followed by the runs. A run of adjacent positions is the varint of
//! its distance from the end of the previous run, the varint of 4 (length − 1) + kind, and its
//! values as given by the kind. Masks of fill values cost two or three bytes per run, scattered
//! values the same plus the value.

use super::{UNIT, runs};
use crate::bits::varint;
use crate::element::Element;
use crate::error::{Error, Result};
use std::ops::Range;

/// All positions have the last value of the previous run.
const REPEAT: u64 = 0;
/// One value for all positions.
const SAME: u64 = 1;
/// One value per position.
const EACH: u64 = 2;

/// Minimum number of equal values for a run of their own; shorter runs would be longer than the
/// values.
const MIN_SAME_VALUES: usize = 3;

/// Encoder for the list of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    list: Vec<u8>,
    runs: u64,
    /// End of the last run in the list, and its last value.
    end: usize,
    last: Option<u64>,
    /// Pending values start at `end + gap`: first distinct ones,
    gap: usize,
    each: Vec<u8>,
    each_count: usize,
    /// then equal ones (value, count).
    same: (u64, usize),
}

impl Exceptions {
    /// Removes all values but keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.each.clear();
        (self.runs, self.end, self.gap, self.each_count) = (0, 0, 0, 0);
        (self.last, self.same) = (None, (0, 0));
    }

    /// Approximate size of the list so far.
    pub fn bytes(&self) -> usize {
        self.list.len() + self.each.len()
    }

    /// Adds a value; positions must increase.
    #[inline]
    pub fn push<T: Element>(&mut self, position: usize, value: T) {
        self.push_run(position, value, 1);
    }

    /// Adds equal values at successive positions.
    #[inline]
    fn push_run<T: Element>(&mut self, position: usize, value: T, count: usize) {
        let word = value.to_word();
        let next = self.end + self.gap + self.each_count + self.same.1;
        if position == next && self.same.0 == word {
            self.same.1 += count;
            return;
        }
        self.end_same::<T>();
        if position != next {
            self.end_each::<T>();
            self.gap = position - self.end;
        }
        self.same = (word, count);
    }

    /// Adds the values of a unit that `is_exception` marks, each as `stored` returns it.
    pub fn push_unit<T: Element>(
        &mut self,
        unit: usize,
        values: &[T; UNIT],
        is_exception: &[bool; UNIT],
        stored: impl Fn(T) -> T,
    ) {
        for Range { mut start, end } in runs(is_exception) {
            // Equal values, such as fill values, come in runs.
            while start < end {
                let run = &values[start..end];
                let word = run[0].to_word();
                let is_same = |value: &T| value.to_word() == word;
                let all_same = run.iter().fold(true, |all, value| all & is_same(value));
                let count = match all_same {
                    true => run.len(),
                    false => run.iter().take_while(|value| is_same(value)).count(),
                };
                self.push_run(unit * UNIT + start, stored(run[0]), count);
                start += count;
            }
        }
    }

    /// Writes pending equal values as a run, or appends them to the distinct ones if they are few.
    fn end_same<T: Element>(&mut self) {
        let (word, count) = self.same;
        self.same.1 = 0;
        let repeats = self.each.is_empty() && self.last == Some(word);
        if count >= MIN_SAME_VALUES || (count > 0 && repeats) {
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

    /// Writes pending distinct values as a run.
    fn end_each<T: Element>(&mut self) {
        if let Some(last) = self.each.rchunks(T::SIZE).next() {
            self.last = Some(word(last));
            self.run(EACH, self.each_count);
            self.list.append(&mut self.each);
            self.each_count = 0;
        }
    }

    /// Writes the header of a run.
    fn run(&mut self, kind: u64, length: usize) {
        varint::write(self.gap as u64, &mut self.list);
        varint::write(4 * (length as u64 - 1) + kind, &mut self.list);
        self.runs += 1;
        self.end += self.gap + length;
        self.gap = 0;
    }

    /// Appends the length of the list and the list.
    pub fn write_block_to<T: Element>(&mut self, out: &mut Vec<u8>) {
        self.end_same::<T>();
        self.end_each::<T>();
        let length = match self.runs {
            0 => 0,
            runs => varint::length(runs) + self.list.len(),
        };
        varint::write(length as u64, out);
        self.write_to::<T>(out);
    }

    /// Appends the list, or nothing if it is empty.
    pub fn write_to<T: Element>(&mut self, out: &mut Vec<u8>) {
        self.end_same::<T>();
        self.end_each::<T>();
        if self.runs > 0 {
            varint::write(self.runs, out);
            out.extend_from_slice(&self.list);
        }
    }
}

/// Writes the values of a list to their positions in `out`.
pub(crate) fn restore<T: Element>(list: &[u8], out: &mut [T]) -> Result<()> {
    let mut reader = Reader::new(list, out.len())?;
    while reader.left > 0 {
        let run = &mut out[reader.position..reader.position + reader.left];
        if reader.kind == EACH {
            for value in run {
                *value = take(&mut reader.list)?;
                reader.last = Some(*value);
            }
        } else {
            run.fill(reader.repeated()?);
        }
        reader.position += reader.left;
        reader.next_run()?;
    }
    Ok(())
}

/// Reads the values of a list one by one.
pub(crate) struct Reader<'a, T> {
    list: &'a [u8],
    /// Runs not yet begun.
    runs: u64,
    /// Number of values of the chunk.
    length: usize,
    /// Position of the next value; `length` if there is none.
    position: usize,
    /// Values left in the run.
    left: usize,
    kind: u64,
    last: Option<T>,
}

impl<'a, T: Element> Reader<'a, T> {
    /// A reader of the list of a chunk of `length` values.
    pub fn new(mut list: &'a [u8], length: usize) -> Result<Self> {
        let runs = match list {
            [] => 0,
            _ => varint::read(&mut list)?,
        };
        let mut reader = Self {
            list,
            runs,
            length,
            position: 0,
            left: 0,
            kind: EACH,
            last: None,
        };
        reader.next_run()?;
        Ok(reader)
    }

    fn next_run(&mut self) -> Result<()> {
        let Some(runs) = self.runs.checked_sub(1) else {
            (self.position, self.left) = (self.length, 0);
            return match self.list {
                [] => Ok(()),
                _ => Err(Error::corrupt("trailing bytes after the side list")),
            };
        };
        self.runs = runs;
        let gap = varint::read_length(&mut self.list)?;
        let shape = varint::read_length(&mut self.list)?;
        (self.kind, self.left) = (shape as u64 % 4, shape / 4 + 1);
        let after_gap = (self.length - self.position).checked_sub(gap);
        if after_gap.is_none_or(|room| room < self.left) {
            return Err(Error::corrupt("the side list exceeds its chunk"));
        }
        self.position += gap;
        match self.kind {
            SAME => self.last = Some(take(&mut self.list)?),
            REPEAT | EACH => {}
            _ => return Err(Error::corrupt("a run of an unknown kind in the side list")),
        }
        Ok(())
    }

    /// The value of a run of equal values.
    fn repeated(&self) -> Result<T> {
        self.last
            .ok_or_else(|| Error::corrupt("the side list repeats a value before the first one"))
    }

    /// Whether an unread value lies before `end`.
    #[inline(always)]
    pub fn any_before(&self, end: usize) -> bool {
        self.position < end
    }

    /// The next value, which must exist, and its position.
    pub fn next(&mut self) -> Result<(usize, T)> {
        let value = match self.kind {
            EACH => take(&mut self.list)?,
            _ => self.repeated()?,
        };
        let position = self.position;
        self.last = Some(value);
        self.position += 1;
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.next_run()?;
        }
        Ok((position, value))
    }
}

fn take<T: Element>(list: &mut &[u8]) -> Result<T> {
    let bytes = list
        .split_off(..T::SIZE)
        .ok_or_else(|| Error::truncated("the side list is cut off"))?;
    Ok(T::from_word(word(bytes)))
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes and decodes a list; returns its size.
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
        let mut reader = Reader::<T>::new(&list, length).unwrap();
        for &(position, value) in values {
            assert!(reader.any_before(position + 1) && !reader.any_before(position));
            let next = reader.next().unwrap();
            assert_eq!((next.0, next.1.to_word()), (position, value.to_word()));
        }
        assert!(!reader.any_before(length));
        for cut in 1..list.len() {
            assert!(restore(&list[..cut], &mut back).is_err(), "{cut}");
        }
        let mut block = Vec::new();
        exceptions.write_block_to::<T>(&mut block);
        assert_eq!(varint::read_block(&mut &block[..]).unwrap(), list);
        list.push(0);
        assert!(list.len() == 1 || restore(&list, &mut back).is_err());
        list.len() - 1
    }

    #[test]
    fn lists_round_trip() {
        assert_eq!(round_trip::<f32>(10, &[]), 0);
        assert_eq!(round_trip(10, &[(9, f32::NAN)]), 1 + 2 + 4);
        // A run of one value, another run of it, distinct values, and a mix of them.
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
    fn invalid_lists_are_rejected() {
        let mut out = [0f32; 8];
        for list in [
            &[1u8][..],
            &[1, 0, 0],                     // a repeat without a value
            &[1, 0, 3],                     // an unknown kind
            &[1, 8, 1, 0, 0, 0, 0],         // beyond the end
            &[1, 0, 1 + 4 * 8, 0, 0, 0, 0], // too long
            &[0, 0],                        // trailing bytes
        ] {
            assert!(restore(list, &mut out).is_err(), "{list:?}");
        }
        // Huge lengths and counts.
        let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(restore(&huge, &mut out).is_err());
        assert!(restore(&[&[1, 0][..], &huge].concat(), &mut out).is_err());
    }
}
