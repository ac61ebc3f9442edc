//! The values that no transform carries, kept bit for bit: NaN, infinities, fill values, and what
//! the bound cannot be kept for.
//!
//! In the stream: the number of runs, then for each run its distance from the end of the last one,
//! twice its length less one, plus one if its value is not that of the run before, and then that
//! value. Numbers are LEB128. A land mask costs a few bytes per coast line crossed.

use crate::bits::varint;
use crate::element::Element;
use crate::error::{Error, Result};

/// Flag of a chunk's first byte: a list of exceptions follows the segments.
pub const EXCEPTIONS: u8 = 4;

/// Marks of the exceptions of a chunk.
#[derive(Debug, Default)]
pub struct Exceptions {
    marks: Vec<u64>,
    any: bool,
}

impl Exceptions {
    /// None of `len` values is marked.
    pub fn reset(&mut self, len: usize) {
        if self.any || self.marks.len() != len.div_ceil(64) {
            self.marks.clear();
            self.marks.resize(len.div_ceil(64), 0);
        }
        self.any = false;
    }

    /// Marks a value.
    pub fn mark(&mut self, index: usize) {
        self.marks[index / 64] |= 1 << (index % 64);
        self.any = true;
    }

    /// Whether there are marks.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Appends the marked values, if there are any.
    pub fn write_to<T: Element>(&self, values: &[T], out: &mut Vec<u8>) {
        if !self.any {
            return;
        }
        let mut runs: u64 = 0;
        let mut list = Vec::new();
        let mut end = 0;
        let mut last = None;
        let mut marked = self.indices().peekable();
        while let Some(start) = marked.next() {
            let word = values[start].to_word();
            let mut length = 1;
            while marked
                .next_if(|&i| i == start + length && values[i].to_word() == word)
                .is_some()
            {
                length += 1;
            }
            let new = last != Some(word);
            varint::write((start - end) as u64, &mut list);
            varint::write(2 * (length as u64 - 1) + u64::from(new), &mut list);
            if new {
                list.extend_from_slice(&word.to_le_bytes()[..T::SIZE]);
            }
            (end, last) = (start + length, Some(word));
            runs += 1;
        }
        varint::write(runs, out);
        out.extend_from_slice(&list);
    }

    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.marks.iter().enumerate().flat_map(|(i, &mark)| {
            std::iter::successors(Some(mark), |m| Some(m & m.wrapping_sub(1)))
                .take_while(|&m| m != 0)
                .map(move |m| 64 * i + m.trailing_zeros() as usize)
        })
    }
}

/// Puts the listed values in their places.
pub fn read_from<T: Element>(mut bytes: &[u8], values: &mut [T]) -> Result<()> {
    let mut rest = values;
    let mut last = None;
    for _ in 0..varint::read(&mut bytes)? {
        let gap = varint::read(&mut bytes)?;
        let shape = varint::read(&mut bytes)?;
        if shape & 1 == 1 {
            let Some((raw, after)) = bytes.split_at_checked(T::SIZE) else {
                return Err(Error::truncated("the list of exact values ends early"));
            };
            let mut word = [0; 8];
            word[..T::SIZE].copy_from_slice(raw);
            last = Some(T::from_word(u64::from_le_bytes(word)));
            bytes = after;
        }
        let value = last.ok_or_else(|| Error::corrupt("a list of exact values without a value"))?;
        let length = shape / 2 + 1;
        let beyond = || Error::corrupt("an exact value beyond the end of the chunk");
        let start = usize::try_from(gap).map_err(|_| beyond())?;
        let length = usize::try_from(length).map_err(|_| beyond())?;
        let (_, at) = rest.split_at_mut_checked(start).ok_or_else(beyond)?;
        let (run, after) = at.split_at_mut_checked(length).ok_or_else(beyond)?;
        run.fill(value);
        rest = after;
    }
    if bytes.is_empty() {
        Ok(())
    } else {
        Err(Error::corrupt("bytes after the list of exact values"))
    }
}
