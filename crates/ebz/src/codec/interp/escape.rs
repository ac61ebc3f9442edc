//! The side list of this codec: positions, in coding order, and bit patterns of exact values
//! (escapes).
//!
//! A run is a gap, a length, whether its values are excluded from predictions, whether they are
//! identical; then its values. Neighbours of excluded values (NaN, infinities, fill values, spikes)
//! are predicted from the prediction of the value instead.

use super::real::Real;
use crate::bits::{BitReader, BitWriter};
use crate::error::{Error, Result};

/// Collects escapes.
#[derive(Default)]
pub(super) struct Writer {
    bits: BitWriter,
    words: Vec<u8>,
    run: Vec<u64>,
    run_start: u32,
    run_absent: bool,
    end: u32,
}

impl Writer {
    /// Removes all escapes but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bits.clear();
        self.words.clear();
        self.run.clear();
        self.end = 0;
    }

    /// Appends the value at `position`; positions must increase.
    pub(super) fn push<T: Real>(&mut self, position: u32, value: T, absent: bool) {
        let next = self.run_start.wrapping_add(self.run.len() as u32);
        if self.run.is_empty() || next != position || absent != self.run_absent {
            self.flush::<T>();
            self.run_start = position;
            self.run_absent = absent;
        }
        self.run.push(value.to_word());
    }

    fn flush<T: Real>(&mut self) {
        let Some(&first) = self.run.first() else {
            return;
        };
        let same = self.run.iter().all(|&w| w == first);
        self.bits.put_gamma(self.run_start - self.end + 1);
        self.bits.put_gamma(self.run.len() as u32);
        self.bits.put(u32::from(self.run_absent), 1);
        self.bits.put(u32::from(same), 1);
        let kept = if same { 1 } else { self.run.len() };
        for word in &self.run[..kept] {
            self.words.extend_from_slice(&word.to_le_bytes()[..T::SIZE]);
        }
        self.end = self.run_start + self.run.len() as u32;
        self.run.clear();
    }

    /// Finishes and returns both parts of the stream; `end` is the number of values of the chunk.
    pub(super) fn finish<T: Real>(&mut self, end: u32) -> (&[u8], &[u8]) {
        self.flush::<T>();
        if self.end > 0 {
            // A run that starts at the end terminates the list.
            self.bits.put_gamma(end - self.end + 1);
        }
        (self.bits.finish(), &self.words)
    }
}

/// An escaped value.
#[derive(Clone, Copy)]
pub(super) struct Escape<T> {
    pub(super) value: T,
    pub(super) absent: bool,
}

/// Reads escapes in order.
pub(super) struct Reader<'a> {
    bits: BitReader<'a>,
    words: &'a [u8],
    position: u32,
    end: u32,
    absent: bool,
    same: bool,
    last: u32,
}

impl<'a> Reader<'a> {
    /// Reads what [`Writer::finish`] returned.
    pub(super) fn new(bits: &'a [u8], words: &'a [u8], last: u32) -> Result<Self> {
        let mut reader = Self {
            bits: BitReader::new(bits),
            words,
            position: last,
            end: last,
            absent: false,
            same: false,
            last,
        };
        if !bits.is_empty() {
            reader.next_run(0)?;
        }
        Ok(reader)
    }

    fn next_run(&mut self, after: u32) -> Result<()> {
        let gap = self.bits.get_gamma()? - 1;
        let start = after.checked_add(gap).filter(|&s| s <= self.last);
        self.position = start.ok_or_else(|| Error::corrupt("escape outside of the chunk"))?;
        self.end = self.last;
        if self.position < self.last {
            let length = self.bits.get_gamma()?;
            let end = self
                .position
                .checked_add(length)
                .filter(|&e| e <= self.last);
            self.end = end.ok_or_else(|| Error::corrupt("escape outside of the chunk"))?;
            self.absent = self.bits.get(1) == 1;
            self.same = self.bits.get(1) == 1;
        }
        Ok(())
    }

    /// Whether an unread escape lies before `end`.
    #[inline(always)]
    pub(super) fn any_before(&self, end: u32) -> bool {
        self.position < end
    }

    /// The next escape.
    pub(super) fn next<T: Real>(&mut self) -> Result<(u32, Escape<T>)> {
        let (word, rest) = self
            .words
            .split_at_checked(T::SIZE)
            .ok_or_else(|| Error::truncated("escaped values"))?;
        let mut eight = [0; 8];
        eight[..T::SIZE].copy_from_slice(word);
        let escape = Escape {
            value: T::from_word(u64::from_le_bytes(eight)),
            absent: self.absent,
        };
        let position = self.position;
        self.position += 1;
        if self.position == self.end || !self.same {
            self.words = rest;
        }
        if self.position == self.end {
            self.next_run(self.end)?;
        }
        Ok((position, escape))
    }

    /// An error if data is left over.
    pub(super) fn finish(&self) -> Result<()> {
        if self.any_before(self.last) || !self.words.is_empty() {
            return Err(Error::corrupt("unread escapes at the end of a chunk"));
        }
        self.bits.finish()
    }
}
