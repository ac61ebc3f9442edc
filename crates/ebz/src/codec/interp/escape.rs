//! Values stored exactly (escapes): two side lists, by position in coding order.
//!
//! Neighbours of *excluded* values (NaN, infinities, fill values, spikes) are predicted from the
//! prediction of the value instead.

use super::number::Number;
use crate::bits::varint;
use crate::error::Result;
use crate::stage::exceptions::{Exceptions, Reader};

/// Collects escapes.
#[derive(Default)]
pub(super) struct EscapeWriter {
    used: Exceptions,
    excluded: Exceptions,
}

impl EscapeWriter {
    /// Removes all escapes but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.used.clear();
        self.excluded.clear();
    }

    /// Appends an escape; positions must increase.
    pub(super) fn push<T: Number>(&mut self, position: usize, escape: Escape<T>) {
        let list = match escape.excluded {
            true => &mut self.excluded,
            false => &mut self.used,
        };
        list.push(position, escape.value);
    }

    /// Approximate size so far.
    pub(super) fn bytes(&self) -> usize {
        self.used.bytes() + self.excluded.bytes()
    }

    /// Appends both lists, framed.
    pub(super) fn write_to<T: Number>(&mut self, out: &mut Vec<u8>) {
        self.used.write_block_to::<T>(out);
        self.excluded.write_block_to::<T>(out);
    }
}

/// An escaped value.
#[derive(Clone, Copy)]
pub(super) struct Escape<T> {
    pub(super) value: T,
    /// Excluded from predictions.
    pub(super) excluded: bool,
}

/// Reads escapes in order.
pub(super) struct EscapeReader<'a, T> {
    used: Reader<'a, T>,
    excluded: Reader<'a, T>,
}

impl<'a, T: Number> EscapeReader<'a, T> {
    /// Reads both lists of a chunk of `count` values.
    pub(super) fn new(bytes: &mut &'a [u8], count: usize) -> Result<Self> {
        Ok(Self {
            used: Reader::new(varint::read_block(bytes)?, count)?,
            excluded: Reader::new(varint::read_block(bytes)?, count)?,
        })
    }

    /// The next escape before `end`, if any: first those that predictions use.
    #[inline(always)]
    pub(super) fn next_before(&mut self, end: usize) -> Result<Option<(usize, Escape<T>)>> {
        for (list, excluded) in [(&mut self.used, false), (&mut self.excluded, true)] {
            if list.any_before(end) {
                let (position, value) = list.next()?;
                return Ok(Some((position, Escape { value, excluded })));
            }
        }
        Ok(None)
    }
}
